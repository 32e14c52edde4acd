"""``analyze_batch`` and the solver that it returns: many small systems with one pattern."""

from __future__ import annotations

import ctypes
from typing import Any, Literal, NamedTuple

from . import _library
from ._arrays import VALUE_TYPES, Array, ArrayLike, MatrixLike, contiguous, describe
from ._system import Info, Matrix, Operation, Operator, System, flag, locked, operation, scalar, stream_of

Lanes = Literal[0, 4, 8, 16, 32]


class BatchStatus(NamedTuple):
    """What the last solve met.

    Attributes
    ----------
    kind : str
        ``"ok"``, ``"zero_pivot"``, ``"non_finite"`` or ``"growth"``.
    system : int or None
        The first such system.
    row : int or None
        The first such row of this system, in the order of substitution.
    """

    kind: _library.SolveKind
    system: int | None
    row: int | None

    @property
    def ok(self) -> bool:
        """Whether every component of every solution is finite and accurate."""
        return self.kind == "ok"


class BatchSolver(System):
    """Triangular systems ``op(T_s) x_s = alpha b_s`` with one pattern; made by `analyze_batch`.

    Several threads may use an object; their calls follow each other.
    Work for arrays in device memory is enqueued on the current stream of the
    library that the arrays belong to.

    Attributes
    ----------
    batch : int
        The number of systems.
    shape : tuple of int
        The shape of one system.
    """

    def __init__(
        self,
        a: MatrixLike,
        values: ArrayLike,
        *,
        lower: bool,
        unit_diagonal: bool,
        transpose: Operation,
        max_rhs: int,
        lanes: Lanes,
    ) -> None:
        self._handle = ctypes.c_void_p()
        options = _library.Options(
            1 - flag(lower, "lower"),
            flag(unit_diagonal, "unit_diagonal"),
            operation(transpose, "transpose"),
            max_rhs,
            None,
        )
        matrix = Matrix(a)
        super().__init__(matrix, max_rhs)
        self._arguments = (matrix.stored, values)
        given = describe(values)
        if given.dtype in VALUE_TYPES:
            self.dtype = given.dtype
        self.batch: int = given.shape[0] if given.shape else 0
        stored = self._stored(values)
        if stored.shape[1] != matrix.entries:
            raise ValueError(f"values has {stored.shape[1]} values of each system, the matrix {matrix.entries}")
        described = matrix.described
        described.value_type = VALUE_TYPES[self.dtype]
        described.values = stored.address or None
        _library.check(
            _library.library.sptrsv_analyze_batch(
                ctypes.byref(described),
                ctypes.byref(_library.BatchOptions(self.batch, 0, lanes)),
                ctypes.byref(options),
                stream_of(stored),
                ctypes.byref(self._handle),
            )
        )

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            _library.library.sptrsv_destroy_batch(handle)

    def __repr__(self) -> str:
        return f"<sptrsv.BatchSolver of {self.batch} systems of {self.shape[0]} rows, {self.dtype}>"

    @locked
    def solve(self, b: ArrayLike, out: Any = None, alpha: complex = 1) -> Any:
        """Solve all systems.

        Parameters
        ----------
        b : array of shape (batch, n) or (batch, n, k)
            The right-hand sides of each system, at most `max_rhs`, in the memory of the matrix, with any strides.
            An array of another type is converted to the type of the values if no precision is lost.
        out : array, optional
            The solutions, of the type of the values and of the shape of `b`; it may be `b`.
        alpha : number, optional
            Factor of `b`.

        Returns
        -------
        array
            `out`, or a new array of the kind of `b`.
        """
        right = self._convert(b, "b")
        if len(right.shape) not in (2, 3) or right.shape[:2] != (self.batch, self.shape[0]):
            raise ValueError(
                f"b is of shape {right.shape}, not of ({self.batch}, {self.shape[0]}) or ({self.batch}, "
                f"{self.shape[0]}, k)"
            )
        right, solution, result = self._solution(right, out)
        _library.check(
            _library.library.sptrsv_solve_batch(
                self._handle,
                scalar(alpha, self.dtype),
                ctypes.byref(_vectors(right)),
                ctypes.byref(_vectors(solution)),
                stream_of(right),
            )
        )
        return result

    @locked
    def update_values(self, values: ArrayLike) -> None:
        """Replace the values of all systems; the pattern stays the same.

        Parameters
        ----------
        values : array of shape (batch, entries)
            The values of all stored entries, in the order of the matrix. In device memory it must not be changed
            before the work that is enqueued is complete.
        """
        stored = self._stored(values)
        _library.check(
            _library.library.sptrsv_update_batch(
                self._handle, stored.address or None, stored.shape[0] * stored.shape[1], stream_of(stored)
            )
        )
        self._arguments = (self._arguments[0], values)

    @locked
    def status(self, stream: int = 0) -> BatchStatus:
        """Return what the last solve met. Synchronises `stream`, the address of the stream of that solve."""
        kind, system, row = ctypes.c_int(), ctypes.c_int64(), ctypes.c_int64()
        _library.check(
            _library.library.sptrsv_get_batch_status(
                self._handle, stream or None, ctypes.byref(kind), ctypes.byref(system), ctypes.byref(row)
            )
        )
        found = (system.value if system.value >= 0 else None, row.value if row.value >= 0 else None)
        return BatchStatus(_library.STATUS_NAMES[kind.value], *found)

    def as_linear_operator(self) -> Any:
        """Return the ``LinearOperator`` of SciPy or CuPy that solves all systems: its vectors have ``batch * n`` rows,
        those of one system after those of the other."""
        return _BlockDiagonal(self).as_linear_operator()

    @property
    @locked
    def info(self) -> Info:
        """What the analysis decided, and how much memory the solver holds; sizes are those of one system."""
        found = _library.InfoStruct()
        _library.check(_library.library.sptrsv_get_batch_info(self._handle, ctypes.byref(found)))
        return Info.of(found)

    def _stored(self, values: ArrayLike) -> Array:
        """Return the values of all systems, one system after the other."""
        stored = self._convert(values, "values")
        if self._order is not None:
            stored = describe(self._order.apply(stored.owner))
        if len(stored.shape) != 2:
            raise ValueError("values must have two dimensions: the systems, and the entries of the matrix")
        if stored.shape[0] != self.batch:
            raise ValueError(f"values must have the shape ({self.batch}, entries of the matrix)")
        follow = stored.strides == (stored.shape[1], 1) or 0 in stored.shape
        return stored if follow else describe(contiguous(stored.owner))


class _BlockDiagonal(Operator):
    """The systems of a batch as one system."""

    def __init__(self, batch: BatchSolver) -> None:
        self._batch = batch
        self.shape = (batch.batch * batch.shape[0], batch.batch * batch.shape[0])
        self.dtype, self.max_rhs, self._on_device = batch.dtype, batch.max_rhs, batch._on_device

    def solve(self, b: Any, out: Any = None) -> Any:
        by_system = b.reshape(self._batch.batch, self._batch.shape[0], *b.shape[1:])
        return self._batch.solve(by_system).reshape(b.shape)


def _vectors(array: Array) -> _library.BatchVectors:
    """Return the vectors of a batch for the C interface."""
    system_stride, row_stride, *rest = array.strides
    columns = array.shape[2] if len(array.shape) == 3 else 1
    return _library.BatchVectors(array.address or None, columns, row_stride, rest[0] if rest else 0, system_stride)


def analyze_batch(
    A: MatrixLike,
    values: ArrayLike,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose: Operation = "N",
    max_rhs: int = 1,
    lanes: Lanes = 0,
) -> BatchSolver:
    """Analyse the pattern of a sparse triangle once for many systems that differ in their values.

    On the GPU one kernel solves all systems, each in the shared memory of a thread block. On the host one system is
    solved after the other.

    Parameters
    ----------
    A : sparse matrix
        A matrix of SciPy, of CuPy or of PyTorch whose pattern all systems have; its values are not used. See
        `analyze`.
    values : array of shape (batch, entries)
        The values of all stored entries of each system, in the order of `A`, in the memory that `A` is in: an array
        of NumPy, CuPy or PyTorch. Its type is that of the systems.
    lower, unit_diagonal, transpose, max_rhs
        As for `analyze`.
    lanes : {0, 4, 8, 16, 32}, optional
        Threads of the GPU that share a system; 0: chosen by the pattern and the number of systems.

    Returns
    -------
    BatchSolver

    Raises
    ------
    InputError
        If the library refuses the matrix or an option, or if a system does not fit the shared memory of the GPU.

    Examples
    --------
    >>> f = sptrsv.analyze_batch(A, values)  # values: (batch, A.nnz)
    >>> x = f.solve(b)  # b: (batch, n)
    """
    return BatchSolver(
        A,
        values,
        lower=lower,
        unit_diagonal=unit_diagonal,
        transpose=transpose,
        max_rhs=max_rhs,
        lanes=lanes,
    )
