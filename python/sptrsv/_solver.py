"""``analyze`` and the solver that it returns."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np

from . import _library
from ._arrays import VALUE_TYPES, Array, contiguous, convert, current_stream, describe, empty_like, sparse_arrays

_OPERATIONS = {"N": 0, "T": 1, "H": 2}
_INDEX_TYPES = {np.dtype(np.int32): 0, np.dtype(np.int64): 1}
_SCALARS = {0: ctypes.c_float * 1, 1: ctypes.c_double * 1, 2: ctypes.c_float * 2, 3: ctypes.c_double * 2}


class Status(NamedTuple):
    """What the last solve met.

    Attributes
    ----------
    kind : str
        ``"ok"``, ``"zero_pivot"``, ``"non_finite"`` or ``"growth"``.
    row : int or None
        The first such row, in the order of substitution.
    """

    kind: str
    row: int | None

    @property
    def ok(self) -> bool:
        """Whether every component of the solution is finite and accurate."""
        return self.kind == "ok"


class Info(NamedTuple):
    """What the analysis decided, as ``sptrsv::solver_info``."""

    policy: str
    device: str
    chosen: str
    path: str
    plan: str
    bit_reproducible: bool
    rows: int
    entries: int
    ignored_entries: int
    levels: int
    solver_bytes: int
    workspace_bytes: int
    analysis_peak_bytes: int


class Solver:
    """A triangular system ``op(T) x = alpha b`` that is analysed; made by `analyze`.

    One thread may use a solver at a time. Work for arrays in device memory is enqueued on the current stream of the
    library that the arrays belong to.
    """

    def __init__(
        self,
        a: Any,
        *,
        lower: bool,
        unit_diagonal: bool,
        transpose: str,
        max_rhs: int,
        policy: str | None,
    ) -> None:
        self._handle = ctypes.c_void_p()
        if transpose not in _OPERATIONS:
            raise ValueError(f"transpose is one of 'N', 'T', 'H', not {transpose!r}")
        matrix = sparse_arrays(a)
        offsets, indices, values = (describe(array) for array in matrix[2:])
        if offsets.dtype != indices.dtype or offsets.dtype not in _INDEX_TYPES:
            offsets, indices = (describe(convert(array.owner, np.dtype(np.int64))) for array in (offsets, indices))
        if values.dtype not in VALUE_TYPES:
            values = describe(convert(values.owner, np.dtype(np.float64)))
        offsets, indices, values = (_contiguous(array) for array in (offsets, indices, values))
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype = values.dtype
        self.max_rhs = max_rhs
        self._entries = values.shape[0]
        self._value_type = VALUE_TYPES[values.dtype]
        self._on_device = values.on_device
        described = _library.Matrix(
            int(matrix.by_columns),
            self._value_type,
            _INDEX_TYPES[offsets.dtype],
            *matrix.shape,
            self._entries,
            offsets.address,
            indices.address,
            values.address,
        )
        options = _library.Options(
            int(not lower),
            int(unit_diagonal),
            _OPERATIONS[transpose],
            max_rhs,
            policy.encode() if policy is not None else None,
        )
        _library.check(
            _library.library.sptrsv_analyze(
                ctypes.byref(described), ctypes.byref(options), _stream(values), ctypes.byref(self._handle)
            )
        )

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            _library.library.sptrsv_destroy(handle)

    def solve(self, b: Any, out: Any = None, alpha: complex = 1) -> Any:
        """Solve ``op(T) x = alpha b``.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
            The right-hand sides, at most `max_rhs`, in the memory of the matrix, with any strides. An array of
            another type is converted to the type of the matrix if no precision is lost.
        out : array, optional
            The solution, of the type of the matrix and of the shape of `b`; it may be `b`.
        alpha : number, optional
            Factor of `b`.

        Returns
        -------
        array
            `out`, or a new array of the kind of `b`.
        """
        right = self._operand(b, "b")
        result = empty_like(right.owner) if out is None else out
        solution = describe(result)
        if solution.owner is not result or not solution.writable:
            raise TypeError("out must be an array that can be written")
        if solution.dtype != self.dtype or solution.shape != right.shape:
            raise ValueError(
                f"out must be of {self.dtype} and of shape {right.shape}, not of {solution.dtype} and {solution.shape}"
            )
        if solution.on_device != right.on_device:
            raise ValueError("b and out are in different memories")
        if alpha == 1 and right.strides == solution.strides == (1,):
            _library.check(_library.library.sptrsv_solve(self._handle, right.address, solution.address, _stream(right)))
            return result
        factor = None
        if alpha != 1:
            number = complex(alpha)
            if number.imag != 0 and self._value_type < 2:
                raise TypeError("alpha is complex, and the matrix is real")
            parts = (number.real,) if self._value_type < 2 else (number.real, number.imag)
            factor = _SCALARS[self._value_type](*parts)
        _library.check(
            _library.library.sptrsv_solve_many(
                self._handle,
                ctypes.byref(factor) if factor is not None else None,
                ctypes.byref(_vectors(right)),
                ctypes.byref(_vectors(solution)),
                None,
                _stream(right),
            )
        )
        return result

    def update_values(self, data: Any) -> None:
        """Replace the values of the matrix; the pattern stays the same.

        Parameters
        ----------
        data : array of shape (entries,)
            The values of all stored entries, in the order of the matrix. In device memory it must not be changed
            before the work that is enqueued is complete.
        """
        values = self._convert(data, "data")
        if len(values.shape) != 1:
            raise ValueError("data must have one dimension")
        values = _contiguous(values)
        _library.check(
            _library.library.sptrsv_update_values(
                self._handle, values.address or None, values.shape[0], _stream(values)
            )
        )

    def status(self, stream: int = 0) -> Status:
        """Return what the last solve met. Synchronises `stream`, the address of the stream of that solve."""
        kind = ctypes.c_int()
        row = ctypes.c_int64()
        _library.check(
            _library.library.sptrsv_get_status(
                self._handle, None, stream or None, ctypes.byref(kind), ctypes.byref(row)
            )
        )
        return Status(_library.STATUS_NAMES[kind.value], row.value if row.value >= 0 else None)

    @property
    def info(self) -> Info:
        """What the analysis decided, and how much memory the solver holds."""
        found = _library.InfoStruct()
        _library.check(_library.library.sptrsv_get_info(self._handle, ctypes.byref(found)))
        fields = {name: getattr(found, name) for name, _ in found._fields_}
        texts = {name: value.decode() for name, value in fields.items() if isinstance(value, bytes)}
        return Info(**(fields | texts | {"bit_reproducible": bool(found.bit_reproducible)}))

    def as_linear_operator(self) -> Any:
        """Return the solve as a ``scipy.sparse.linalg.LinearOperator``, for example the preconditioner `M` of ``cg``.

        More right-hand sides than `max_rhs` are solved in several calls.
        """
        from scipy.sparse.linalg import LinearOperator

        def solve_all(b: np.ndarray) -> np.ndarray:
            x = np.empty(b.shape, self.dtype)
            for first in range(0, b.shape[1], self.max_rhs):
                part = slice(first, first + self.max_rhs)
                self.solve(b[:, part], out=x[:, part])
            return x

        return LinearOperator(self.shape, matvec=lambda b: self.solve(b), matmat=solve_all, dtype=self.dtype)

    def _convert(self, array: Any, name: str) -> Array:
        """Return the array with the type of the matrix."""
        found = describe(array)
        if found.on_device != self._on_device:
            where = "device" if self._on_device else "host"
            raise ValueError(f"{name} must be in {where} memory, where the matrix is")
        if found.dtype != self.dtype:
            if not np.can_cast(found.dtype, self.dtype, "safe"):
                raise TypeError(f"{name} is of {found.dtype}, which {self.dtype} cannot hold")
            found = describe(convert(found.owner, self.dtype))
        return found

    def _operand(self, array: Any, name: str) -> Array:
        found = self._convert(array, name)
        if len(found.shape) not in (1, 2):
            raise ValueError(f"{name} must have one or two dimensions")
        if found.shape[0] != self.shape[0]:
            raise ValueError(f"{name} has {found.shape[0]} rows, the system has {self.shape[0]}")
        return found


def analyze(
    A: Any,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose: str = "N",
    max_rhs: int = 1,
    policy: str | None = None,
) -> Solver:
    """Analyse one triangle of a sparse matrix for many solves.

    Parameters
    ----------
    A : sparse matrix
        A matrix of SciPy, of CuPy or of PyTorch (CSR or CSC; others are converted), in host or device memory.
        Entries outside the triangle are ignored.
    lower : bool, optional
        Whether the triangle is the lower one of `A` as it is stored.
    unit_diagonal : bool, optional
        Whether the diagonal is ones; stored diagonal entries are ignored then.
    transpose : {"N", "T", "H"}, optional
        Solve with the triangle, its transpose, or its conjugate transpose.
    max_rhs : int, optional
        Largest number of right-hand sides of one solve.
    policy : str, optional
        Name and options of the policy, for example ``"dataflow path=partitioned"``; see `policy_names`. By default
        it is chosen by the memory of `A`.

    Returns
    -------
    Solver

    Raises
    ------
    InputError
        If the library refuses the matrix or an option; its attribute `row` names the row.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, sptrsv
    >>> f = sptrsv.analyze(sp.csr_matrix([[2.0, 0.0], [1.0, 4.0]]))
    >>> f.solve(np.array([2.0, 9.0]))
    array([1., 2.])
    """
    return Solver(
        A,
        lower=lower,
        unit_diagonal=unit_diagonal,
        transpose=transpose,
        max_rhs=max_rhs,
        policy=policy,
    )


def _contiguous(array: Array) -> Array:
    if array.strides in ((1,), ()) or array.shape[0] < 2:
        return array
    return describe(contiguous(array.owner))


def _stream(array: Array) -> int | None:
    return current_stream(array.owner) or None if array.on_device else None


def _vectors(array: Array) -> _library.Vectors:
    columns = array.shape[1] if len(array.shape) == 2 else 1
    column_stride = array.strides[1] if len(array.strides) == 2 else 0
    return _library.Vectors(array.address or None, columns, array.strides[0], column_stride)
