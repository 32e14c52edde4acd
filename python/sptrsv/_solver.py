"""``analyze`` and the solver that it returns."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

from . import _library
from ._arrays import ArrayLike, MatrixLike, Vector, conjugated, current_stream, empty_like, vector_address
from ._system import (
    Info,
    Matrix,
    Operation,
    Operator,
    System,
    flag,
    locked,
    operation,
    policy_text,
    scalar,
    stream_of,
    vectors,
)


class Status(NamedTuple):
    """What the last solve met.

    Attributes
    ----------
    kind : str
        ``"ok"``, ``"zero_pivot"``, ``"non_finite"`` or ``"growth"``.
    row : int or None
        The first such row, in the order of substitution.
    """

    kind: _library.SolveKind
    row: int | None

    @property
    def ok(self) -> bool:
        """Whether every component of the solution is finite and accurate."""
        return self.kind == "ok"


ADJOINT: dict[Operation, Operation] = {"N": "H", "T": "N", "H": "N"}


class Solver(System, Operator):
    """A triangular system ``op(T) x = alpha b`` that is analysed; made by `analyze`.

    Several threads may use an object; their calls follow each other.
    Work for arrays in device memory is enqueued on the current stream of the
    library that the arrays belong to.
    """

    def __init__(
        self,
        a: MatrixLike,
        *,
        lower: bool,
        unit_diagonal: bool,
        transpose: Operation,
        max_rhs: int,
        policy: str | None,
        adjoint: bool = False,
    ) -> None:
        self._handle = ctypes.c_void_p()
        matrix = Matrix(a, takes_blocks=True)
        options = _library.Options(
            1 - flag(lower, "lower"),
            flag(unit_diagonal, "unit_diagonal"),
            operation(transpose, "transpose"),
            max_rhs,
            policy_text(policy),
            matrix.block_size,
        )
        super().__init__(matrix, max_rhs)
        self._vector = Vector(matrix.dtype, (matrix.shape[0],), (matrix.dtype.itemsize,))
        _library.check(
            _library.library.sptrsv_analyze(
                ctypes.byref(matrix.described), ctypes.byref(options), matrix.stream, ctypes.byref(self._handle)
            )
        )
        self._adjoint: Solver | None = None
        if flag(adjoint, "adjoint"):
            others: dict[str, Any] = {"lower": lower, "unit_diagonal": unit_diagonal, "max_rhs": max_rhs}
            self._adjoint = Solver(matrix.stored, transpose=ADJOINT[transpose], policy=policy, **others)
        # The adjoint of the transpose is the conjugate, and conj(T) y = g is T conj(y) = conj(g).
        self._conjugates = transpose == "T" and self.dtype.kind == "c"

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            _library.library.sptrsv_destroy(handle)

    @locked
    def solve(self, b: ArrayLike, out: Any = None, alpha: complex = 1) -> Any:
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
        if alpha == 1 and (right_address := vector_address(b, self._vector, self._on_device)) is not None:
            result = empty_like(b) if out is None else out
            address = vector_address(result, self._vector, self._on_device)
            apart = (
                address is not None and abs(address - right_address) >= self._vector.shape[0] * self._vector.strides[0]
            )
            if apart or address == right_address:
                stream = (current_stream(b) or None) if self._on_device else None
                _library.check(_library.library.sptrsv_solve(self._handle, right_address, address, stream))
                return result
        right, solution, result = self._operands(b, out)
        stream = stream_of(right)
        if alpha == 1 and right.strides == solution.strides == (1,):
            _library.check(_library.library.sptrsv_solve(self._handle, right.address, solution.address, stream))
            return result
        _library.check(
            _library.library.sptrsv_solve_many(
                self._handle,
                scalar(alpha, self.dtype),
                ctypes.byref(vectors(right)),
                ctypes.byref(vectors(solution)),
                None,
                stream,
            )
        )
        return result

    @locked
    def _solve_adjoint(self, b: ArrayLike) -> Any:
        if self._adjoint is None:
            raise TypeError("this Solver does not solve with the adjoint: ask for it by adjoint=True")
        if not self._conjugates:
            return self._adjoint.solve(b)
        return conjugated(self._adjoint.solve(conjugated(b)))

    @locked
    def update_values(self, data: ArrayLike) -> None:
        """Replace the values of the matrix; the pattern stays the same.

        Parameters
        ----------
        data : array of shape (entries,)
            The values of all stored entries, in the order of the matrix. In device memory it must not be changed
            before the work that is enqueued is complete.
        """
        values = self._values(data, "data", self._order)
        _library.check(
            _library.library.sptrsv_update_values(
                self._handle, values.address or None, values.shape[0], stream_of(values)
            )
        )
        self._keep_values(values)
        if self._adjoint is not None:
            self._adjoint.update_values(data)

    @locked
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
    @locked
    def info(self) -> Info:
        """What the analysis decided, and how much memory the solver holds."""
        found = _library.InfoStruct()
        _library.check(_library.library.sptrsv_get_info(self._handle, ctypes.byref(found)))
        return Info.of(found)


def analyze(
    A: MatrixLike,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose: Operation = "N",
    max_rhs: int = 1,
    policy: str | None = None,
    adjoint: bool = False,
) -> Solver:
    """Analyse one triangle of a sparse matrix for many solves.

    Parameters
    ----------
    A : sparse matrix
        A matrix of SciPy, of CuPy or of PyTorch (CSR, CSC or BSR; others are converted), in host or device memory.
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
    adjoint : bool, optional
        Whether `Solver.rmatvec` solves with the conjugate transpose of ``op(T)``, which takes an analysis of its own.

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
        adjoint=adjoint,
    )
