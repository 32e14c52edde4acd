"""The exceptions of the package."""

from __future__ import annotations


class Error(Exception):
    """An error of the library.

    Attributes
    ----------
    code : str
        Name of the code, as in ``sptrsv::errc``.
    row : int or None
        The first offending row of the matrix (column, if it is stored by columns), counted from 0.
    """

    def __init__(self, message: str, code: str, row: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.row = row


class InputError(Error, ValueError):
    """A matrix, a vector or an option that the library refuses."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory left on the device or on the host."""


class CudaError(Error, RuntimeError):
    """A call of the CUDA runtime failed."""
