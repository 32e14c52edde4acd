"""``factors`` and the solver that it returns: systems whose factors are known."""

from __future__ import annotations

import ctypes
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from . import _library
from ._arrays import Array, ArrayLike, MatrixLike, describe
from ._system import (
    Info,
    Matrix,
    Operation,
    Operator,
    System,
    as_contiguous,
    locked,
    of_type,
    operation,
    policy_text,
    stream_of,
    vectors,
)

Kind = Literal["lu", "cholesky", "ldl"]
Part = Literal["first", "diagonal", "second"]
_PARTS: tuple[Part, ...] = get_args(Part)


class FactorsStatus(NamedTuple):
    """What the last application met.

    Attributes
    ----------
    kind : str
        ``"ok"``, ``"zero_pivot"``, ``"non_finite"`` or ``"growth"``.
    part : str or None
        The factor that met it: ``"first"``, ``"diagonal"`` or ``"second"``.
    row : int or None
        The first such row of this factor, in the order of substitution.
    """

    kind: _library.SolveKind
    part: Part | None
    row: int | None

    @property
    def ok(self) -> bool:
        """Whether every component of the solution is finite and accurate."""
        return self.kind == "ok"


class Triangle(NamedTuple):
    """One factor: an operation on a triangle of a stored matrix."""

    lower: bool
    unit_diagonal: bool = False
    transpose: Operation = "N"

    def described(self) -> _library.Factor:
        """Return the factor for the C interface."""
        return _library.Factor(int(not self.lower), int(self.unit_diagonal), operation(self.transpose, "transpose"))


KINDS: dict[Kind, tuple[Triangle, Triangle, bool]] = {
    "lu": (Triangle(True, True), Triangle(False), False),
    "cholesky": (Triangle(True), Triangle(True, False, "H"), False),
    "ldl": (Triangle(True, True), Triangle(True, True, "H"), True),
}


class Factors(System, Operator):
    """A system ``A x = b`` whose factors are known; made by `factors`.

    Several threads may use an object; their calls follow each other.
    Work for arrays in device memory is enqueued on the current stream of the
    library that the arrays belong to.
    """

    def __init__(
        self,
        first: MatrixLike,
        second: MatrixLike | None,
        *,
        triangles: tuple[Triangle, Triangle],
        has_diagonal: bool,
        transposed: Operation,
        max_rhs: int,
        orders: tuple[ArrayLike | None, ArrayLike | None],
        scales: tuple[ArrayLike | None, ArrayLike | None],
        policy: str | None,
    ) -> None:
        matrix = Matrix(first)
        other = None
        if second is not None:
            other = Matrix(second, None, matrix.by_columns)
            if matrix.index_type != other.index_type:
                matrix, other = (
                    Matrix(matrix.stored, np.dtype(np.int64)),
                    Matrix(other.stored, np.dtype(np.int64)),
                )
        super().__init__(matrix, max_rhs)
        self._arguments = (matrix.stored, other.stored if other is not None else None)
        self._take_adjoint(triangles, has_diagonal or any(given is not None for given in orders + scales), transposed)
        self._in_one_matrix = other is None
        self._second_order = other.order if other is not None else None
        rows = self.shape[0]
        row_order, column_order = (_per_row(order, "order", matrix.index_type, rows) for order in orders)
        row_scale, column_scale = (_per_row(scale, "scale", matrix.dtype, rows) for scale in scales)
        options = _library.FactorsOptions(
            triangles[0].described(),
            triangles[1].described(),
            int(has_diagonal),
            operation(transposed, "transposed"),
            max_rhs,
            *(array.address if array is not None else None for array in (row_order, column_order)),
            *(array.address if array is not None else None for array in (row_scale, column_scale)),
            policy_text(policy),
        )
        self._analyze(matrix.described, other.described if other is not None else None, options, matrix.stream)

    def _take_adjoint(self, triangles: tuple[Triangle, Triangle], has_more: bool, transposed: Operation) -> None:
        """Keep how to solve with the conjugate transpose. L L^H is its own, without `has_more`: D, orders, scalings."""
        self.transposed = transposed
        self._is_hermitian = triangles[1].transpose == "H" and not has_more

    def _solve_adjoint(self, b: ArrayLike) -> Any:
        if self._is_hermitian:
            return self.solve(b)
        if self.transposed == "N":
            return super()._solve_adjoint(b)
        if self.transposed == "T" and self.dtype.kind == "c":
            right: Any = b
            return self.solve_transposed(right.conj()).conj()
        return self.solve_transposed(b)

    def _analyze(
        self,
        first: _library.Matrix,
        second: _library.Matrix | None,
        options: _library.FactorsOptions,
        stream: int | None,
    ) -> None:
        self._handle = ctypes.c_void_p()
        _library.check(
            _library.library.sptrsv_analyze_factors(
                ctypes.byref(first),
                ctypes.byref(second) if second is not None else None,
                ctypes.byref(options),
                stream,
                ctypes.byref(self._handle),
            )
        )

    def __del__(self) -> None:
        handle = getattr(self, "_handle", None)
        if handle:
            _library.library.sptrsv_destroy_factors(handle)

    @locked
    def solve(self, b: ArrayLike, out: Any = None) -> Any:
        """Solve ``A x = b``.

        Parameters
        ----------
        b : array of shape (n,) or (n, k)
            The right-hand sides, at most `max_rhs`, in the memory of the factors, with any strides. An array of
            another type is converted to the type of the factors if no precision is lost.
        out : array, optional
            The solution, of the type of the factors and of the shape of `b`; it may be `b`.

        Returns
        -------
        array
            `out`, or a new array of the kind of `b`.
        """
        return self._apply(_library.library.sptrsv_apply, b, out)

    @locked
    def solve_transposed(self, b: ArrayLike, out: Any = None) -> Any:
        """Solve ``op(A) x = b`` with the operation `transposed` of `factors`; otherwise as `solve`."""
        return self._apply(_library.library.sptrsv_apply_transpose, b, out)

    @locked
    def update_values(self, first: ArrayLike, second: ArrayLike | None = None) -> None:
        """Replace the values of both factors; the patterns stay the same.

        Parameters
        ----------
        first : array of shape (entries,)
            The values of all entries of the first matrix, in its order. In device memory they must not be changed
            before the work that is enqueued is complete.
        second : array of shape (entries,), optional
            The values of the second matrix, if there is one.
        """
        if second is not None and self._in_one_matrix:
            raise ValueError("the factors are stored in one matrix: update_values takes its values alone")
        of_first = self._values(first, "first", self._order)
        of_second = self._values(second, "second", self._second_order) if second is not None else None
        _library.check(
            _library.library.sptrsv_update_factors(
                self._handle,
                of_first.address or None,
                of_first.shape[0],
                of_second.address if of_second is not None else None,
                of_second.shape[0] if of_second is not None else 0,
                stream_of(of_first),
            )
        )
        self._keep_values(of_first, of_second)

    @locked
    def status(self, stream: int = 0) -> FactorsStatus:
        """Return what the last application met. Synchronises `stream`, the address of its stream."""
        kind, part, row = ctypes.c_int(), ctypes.c_int(), ctypes.c_int64()
        _library.check(
            _library.library.sptrsv_get_factors_status(
                self._handle, None, stream or None, ctypes.byref(kind), ctypes.byref(part), ctypes.byref(row)
            )
        )
        name = _library.STATUS_NAMES[kind.value]
        return FactorsStatus(name, _PARTS[part.value] if name != "ok" else None, row.value if row.value >= 0 else None)

    @property
    @locked
    def info(self) -> tuple[Info, Info]:
        """What the analysis decided for the first and for the second factor."""
        found = _library.InfoStruct()
        described = []
        for number in range(2):
            _library.check(_library.library.sptrsv_get_factors_info(self._handle, number, ctypes.byref(found)))
            described.append(Info.of(found))
        return described[0], described[1]

    def _apply(self, function: Any, b: ArrayLike, out: Any) -> Any:
        right, solution, result = self._operands(b, out)
        _library.check(
            function(
                self._handle, ctypes.byref(vectors(right)), ctypes.byref(vectors(solution)), None, stream_of(right)
            )
        )
        return result


def factors(
    first: MatrixLike,
    second: MatrixLike | None = None,
    kind: Kind = "lu",
    transposed: Operation = "N",
    max_rhs: int = 1,
    row_order: ArrayLike | None = None,
    column_order: ArrayLike | None = None,
    row_scale: ArrayLike | None = None,
    column_scale: ArrayLike | None = None,
    policy: str | None = None,
) -> Factors:
    """Analyse both factors of a matrix ``A`` for many solves ``A x = b``.

    The product of the factors is ``R A C`` with its rows and columns in another order: its entry (k, l) is
    ``row_scale[i] * A[i, j] * column_scale[j]`` with ``i = row_order[k]`` and ``j = column_order[l]``.

    Parameters
    ----------
    first : sparse matrix
        The matrix of the first factor, or of both; of SciPy, CuPy or PyTorch, in host or device memory.
    second : sparse matrix, optional
        The matrix of the second factor, of the same size, type and memory.
    kind : {"lu", "cholesky", "ldl"}, optional
        ``"lu"``: L is unit lower, U is upper. ``"cholesky"``: L L^H. ``"ldl"``: L D L^H, L is unit lower, and D is
        stored on the diagonal of `first`. The factors of the last two are those of one matrix: `second` is None.
    transposed : {"N", "T", "H"}, optional
        What `Factors.solve_transposed` solves with: the transpose or the conjugate transpose of `A`; by default it
        is not available.
    max_rhs : int, optional
        Largest number of right-hand sides of one solve.
    row_order, column_order : array of shape (n,), optional
        Orders of the rows and of the columns, in the memory of the factors.
    row_scale, column_scale : array of shape (n,), optional
        Scalings by row and by column of `A`, in the memory of the factors.
    policy : str, optional
        Name and options of the policy of both triangles; see `policy_names`. By default complete factors in device
        memory with wide supernodes take ``"supernodal"``; see `from_splu`.

    Returns
    -------
    Factors

    Raises
    ------
    InputError
        If the library refuses a matrix or an option; its attribute `row` names the row.

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp, sptrsv
    >>> f = sptrsv.factors(sp.csr_matrix([[3.0, 1.0], [2.0, 4.0]]))  # A = [[3, 1], [6, 6]]
    >>> f.solve(np.array([4.0, 12.0]))
    array([1., 1.])
    """
    if kind not in get_args(Kind):
        raise ValueError(f"kind is one of 'lu', 'cholesky', 'ldl', not {kind!r}")
    if second is not None and kind != "lu":
        raise ValueError(f"the factors of kind {kind!r} are stored in one matrix")
    lower, upper, has_diagonal = KINDS[kind]
    return Factors(
        first,
        second,
        triangles=(lower, upper),
        has_diagonal=has_diagonal,
        transposed=transposed,
        max_rhs=max_rhs,
        orders=(row_order, column_order),
        scales=(row_scale, column_scale),
        policy=policy,
    )


def _per_row(array: Any, name: str, dtype: np.dtype, rows: int) -> Array | None:
    """Return an order or a scaling as a contiguous array; None stands for the identity."""
    if array is None:
        return None
    if dtype.kind == "i" and describe(array).dtype.kind not in "iu" and len(array):
        raise TypeError(f"the {name} is of {describe(array).dtype}, not of integers")
    found = as_contiguous(of_type(describe(array), dtype, f"the {name}"))
    if found.shape != (rows,):
        raise ValueError(f"the {name} has the shape {found.shape}, not ({rows},)")
    return found
