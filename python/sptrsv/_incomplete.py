"""``ilu`` and ``ic``: incomplete factorisations, and the solves with their factors."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from . import _library
from ._arrays import ArrayLike, MatrixLike
from ._factors import KINDS, Factors, Kind
from ._system import Matrix, Operation, System, locked, operation, policy_text, stream_of


class FactorizationStatus(NamedTuple):
    """What the last factorisation met.

    Attributes
    ----------
    kind : str
        ``"ok"``, ``"zero_pivot"`` or ``"non_finite"``.
    row : int or None
        The first such row of the matrix.
    boosted_pivots : int
        The number of pivots that were replaced.
    """

    kind: _library.SolveKind
    row: int | None
    boosted_pivots: int

    @property
    def ok(self) -> bool:
        """Whether the factors can be used in solves."""
        return self.kind == "ok"


class IncompleteFactors(Factors):
    """The system ``M x = b``, where M is the product of incomplete factors of A; made by `ilu` or `ic`.

    Several threads may use an object; their calls follow each other.
    Work for arrays in device memory is enqueued on the current stream of the
    library that the arrays belong to.
    """

    def __init__(
        self,
        a: MatrixLike,
        *,
        kind: Kind,
        fill_level: int,
        diagonal_shift: float,
        boost_below: float,
        boost_to: float,
        transposed: Operation,
        max_rhs: int,
        policy: str | None,
    ) -> None:
        first, second, has_diagonal = KINDS[kind]
        options = _library.FactorsOptions(
            first=first.described(),
            second=second.described(),
            has_diagonal=int(has_diagonal),
            transposed=operation(transposed, "transposed"),
            max_rhs=max_rhs,
            policy=policy_text(policy),
        )
        matrix = Matrix(a)
        System.__init__(self, matrix, max_rhs)
        self._take_adjoint((first, second), has_diagonal, transposed)
        self._matrix = matrix  # the factors without fill-in have its pattern
        self._incomplete = ctypes.c_void_p()
        how = _library.IncompleteOptions(int(kind == "cholesky"), fill_level, diagonal_shift, boost_below, boost_to)
        _library.check(
            _library.library.sptrsv_analyze_incomplete(
                ctypes.byref(matrix.described), ctypes.byref(how), matrix.stream, ctypes.byref(self._incomplete)
            )
        )
        self._product = _library.Matrix()
        _library.check(
            _library.library.sptrsv_get_incomplete_factors(
                self._incomplete, ctypes.byref(matrix.described), ctypes.byref(self._product)
            )
        )
        self._analyze(self._product, None, options, matrix.stream)

    def __del__(self) -> None:
        super().__del__()  # the factors have been copied, but their analysis may still be running
        handle = getattr(self, "_incomplete", None)
        if handle:
            _library.library.sptrsv_destroy_incomplete(handle)

    @property
    def entries(self) -> int:
        """The number of entries of both factors, stored in one matrix."""
        return int(self._product.entries)

    def _factor_values(self) -> np.ndarray:
        """Return the values of both factors in host memory."""
        size = self.entries * self.dtype.itemsize
        return np.frombuffer(ctypes.string_at(self._product.values, size) if size else b"", self.dtype)

    @locked
    def update_values(self, data: ArrayLike) -> None:
        """Factorise for new values of the matrix; the pattern stays the same.

        Parameters
        ----------
        data : array of shape (entries,)
            The values of all stored entries of the matrix, in its order. In device memory it must not be changed
            before the work that is enqueued is complete.
        """
        values = self._values(data, "data", self._order)
        stream = stream_of(values)
        _library.check(
            _library.library.sptrsv_factorize(self._incomplete, values.address or None, values.shape[0], stream)
        )
        _library.check(
            _library.library.sptrsv_update_factors(
                self._handle, self._product.values, self._product.entries, None, 0, stream
            )
        )
        self._keep_values(values)

    @locked
    def factorization_status(self, stream: int = 0) -> FactorizationStatus:
        """Return what the last factorisation met. Synchronises `stream`, the address of its stream."""
        kind, row, boosted = ctypes.c_int(), ctypes.c_int64(), ctypes.c_int64()
        _library.check(
            _library.library.sptrsv_get_incomplete_status(
                self._incomplete, stream or None, ctypes.byref(kind), ctypes.byref(row), ctypes.byref(boosted)
            )
        )
        return FactorizationStatus(
            _library.STATUS_NAMES[kind.value], row.value if row.value >= 0 else None, boosted.value
        )


def ilu(
    A: MatrixLike,
    fill_level: int = 0,
    diagonal_shift: float = 0,
    boost_below: float = 0,
    boost_to: float = 0,
    transposed: Operation = "N",
    max_rhs: int = 1,
    policy: str | None = None,
) -> IncompleteFactors:
    """Return the incomplete LU factorisation ILU(k) of a sparse matrix, ready for solves.

    Parameters
    ----------
    A : sparse matrix
        A square matrix of SciPy, CuPy or PyTorch with a complete diagonal, in host or device memory, where it is
        factorised.
    fill_level : int, optional
        k: the largest level of fill of an entry of the factors; 0 keeps the pattern of `A`.
    diagonal_shift : float, optional
        The diagonal is multiplied by ``1 + diagonal_shift`` before the factorisation.
    boost_below, boost_to : float, optional
        Pivots of at most the magnitude `boost_below` are replaced by `boost_to`, if that is not 0.
    transposed : {"N", "T", "H"}, optional
        What `Factors.solve_transposed` solves with; by default it is not available.
    max_rhs : int, optional
        Largest number of right-hand sides of one solve.
    policy : str, optional
        Name and options of the policy of both triangles; see `policy_names`.

    Returns
    -------
    IncompleteFactors

    Raises
    ------
    InputError
        If the library refuses the matrix or an option; its attribute `row` names the row.

    Examples
    --------
    >>> M = sptrsv.ilu(A, fill_level=1).as_linear_operator()
    >>> x, code = scipy.sparse.linalg.gmres(A, b, M=M)
    """
    return IncompleteFactors(
        A,
        kind="lu",
        fill_level=fill_level,
        diagonal_shift=diagonal_shift,
        boost_below=boost_below,
        boost_to=boost_to,
        transposed=transposed,
        max_rhs=max_rhs,
        policy=policy,
    )


def ic(
    A: MatrixLike,
    fill_level: int = 0,
    diagonal_shift: float = 0,
    boost_below: float = 0,
    boost_to: float = 0,
    max_rhs: int = 1,
    policy: str | None = None,
) -> IncompleteFactors:
    """Return the incomplete Cholesky factorisation IC(k) of a Hermitian matrix, ready for solves.

    Entries of `A` above the diagonal are not used. All pivots up to `boost_below`, negative ones too, are replaced by
    `boost_to`. The parameters are those of `ilu`.
    """
    return IncompleteFactors(
        A,
        kind="cholesky",
        fill_level=fill_level,
        diagonal_shift=diagonal_shift,
        boost_below=boost_below,
        boost_to=boost_to,
        transposed="N",
        max_rhs=max_rhs,
        policy=policy,
    )
