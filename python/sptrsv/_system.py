"""What solvers of one triangle and of factors share: descriptions of matrices, vectors and options."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import weakref
from collections.abc import Callable
from numbers import Integral, Number
from typing import Any, Literal, NamedTuple, TypeVar, cast, get_args

import numpy as np

from . import _library
from ._arrays import (
    VALUE_TYPES,
    Array,
    ArrayLike,
    BlockOrder,
    MatrixLike,
    Order,
    contiguous,
    convert,
    copied,
    current_stream,
    describe,
    empty_like,
    sparse_arrays,
)

Operation = Literal["N", "T", "H"]
OPERATIONS: dict[str, int] = {name: number for number, name in enumerate(get_args(Operation))}
BSR = 2  # sptrsv_storage
INDEX_TYPES = {np.dtype(np.int32): 0, np.dtype(np.int64): 1}


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

    @classmethod
    def of(cls, found: _library.InfoStruct) -> Info:
        """Return the description of a solver that the C interface wrote."""
        fields = {name: getattr(found, name) for name, _ in found._fields_[1:]}
        texts = {name: value.decode() for name, value in fields.items() if isinstance(value, bytes)}
        return cls(**(fields | texts | {"bit_reproducible": bool(found.bit_reproducible)}))


class Matrix:
    """A sparse matrix as ``sptrsv_matrix``; keeps its arrays alive.

    `index_type`: the type that offsets and indices are converted to; by default only if it is none of the library's.
    """

    def __init__(
        self,
        a: MatrixLike,
        index_type: np.dtype | None = None,
        by_columns: bool | None = None,
        takes_blocks: bool = False,
    ) -> None:
        matrix = sparse_arrays(a, by_columns, takes_blocks)
        self.stored: Any = matrix
        self.by_columns, self.order = matrix.by_columns, matrix.order
        offsets, indices, values = (describe(array) for array in matrix[2:5])
        if values.on_device and not _library.HAS_CUDA:
            raise ValueError(
                "the matrix is in device memory, and this build of the library has no CUDA: copy the matrix to host "
                "memory, or install the package where nvcc is"
            )
        lines, name = (matrix.shape[1], "columns") if matrix.by_columns else (matrix.shape[0], "rows")
        self.block_size = matrix.block_size
        if matrix.block_size:
            lines, name = lines // matrix.block_size, "block rows"
        elif offsets.shape != (lines + 1,) or len(values.shape) != 1 or indices.shape != values.shape:
            raise ValueError(
                f"the offsets, indices and values of the matrix have the shapes {offsets.shape}, {indices.shape} and "
                f"{values.shape}: {lines} {name} need ({lines + 1},), (k,) and (k,)"
            )
        if index_type is None:
            same = offsets.dtype == indices.dtype and offsets.dtype in INDEX_TYPES
            index_type = offsets.dtype if same else np.dtype(np.int64)
        offsets, indices = (as_contiguous(of_type(array, index_type)) for array in (offsets, indices))
        if values.dtype not in VALUE_TYPES:
            native = values.dtype.newbyteorder("=")
            values = of_type(values, native if native in VALUE_TYPES else np.dtype(np.float64), "the matrix")
        values = as_contiguous(values)
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype = values.dtype
        self.index_type = index_type
        self.entries = values.shape[0]
        self.on_device = values.on_device
        self.stream = stream_of(values)
        self._arrays = (offsets, indices, values)
        self.described = _library.Matrix(
            BSR if matrix.block_size else int(matrix.by_columns),
            VALUE_TYPES[values.dtype],
            INDEX_TYPES[index_type],
            *matrix.shape,
            self.entries,
            offsets.address,
            indices.address,
            values.address,
        )


Method = TypeVar("Method", bound=Callable[..., Any])


def locked(method: Method) -> Method:
    """Let one thread at a time call the methods of an object: they share its memory."""

    @functools.wraps(method)
    def call(self: Any, *arguments: Any, **by_name: Any) -> Any:
        with self._lock:
            return method(self, *arguments, **by_name)

    return cast(Method, call)


class Operator:
    """The inverse of a matrix, as `LinearOperator` is one: it serves as the preconditioner `M` of ``cg`` and others.

    Vectors of any type are taken, as by SciPy's operators: they are solved in the type of the matrix, which may lose
    precision, and the result has the type that both have together.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    max_rhs: int
    _on_device: bool

    def solve(self, b: ArrayLike, out: Any = None) -> Any:
        """Solve the system for right-hand sides `b`."""
        raise NotImplementedError

    def _solve_adjoint(self, b: ArrayLike) -> Any:
        """Solve with the conjugate transpose, where it is known."""
        raise TypeError(f"{type(self).__name__} does not solve with the transpose: ask for it by transposed='H'")

    def matvec(self, b: ArrayLike) -> Any:
        """Return the solutions for any number of right-hand sides of any type."""
        return self._in_type(self.solve, b)

    def rmatvec(self, b: ArrayLike) -> Any:
        """Return the solutions with the conjugate transpose."""
        return self._in_type(self._solve_adjoint, b)

    def __matmul__(self, b: ArrayLike) -> Any:
        return self.matvec(b)

    def __repr__(self) -> str:
        return f"<sptrsv.{type(self).__name__} of {self.shape[0]} rows, {self.dtype}>"

    def as_linear_operator(self) -> Any:
        """Return a ``LinearOperator`` of SciPy, or of CuPy if the matrix is in device memory."""
        if self._on_device:
            from cupyx.scipy.sparse.linalg import LinearOperator
        else:
            from scipy.sparse.linalg import LinearOperator
        return LinearOperator(
            self.shape, self.matvec, rmatvec=self.rmatvec, matmat=self.matvec, rmatmat=self.rmatvec, dtype=self.dtype
        )

    def _in_type(self, solve: Callable[[Any], Any], b: Any) -> Any:
        found = describe(b)
        given, b = found.dtype, found.owner
        if len(found.shape) not in (1, 2):
            raise ValueError("b must have one or two dimensions")
        if given.kind == "c" and self.dtype.kind != "c":
            return self._in_type(solve, b.real) + 1j * self._in_type(solve, b.imag)
        b = convert(b, self.dtype)
        if len(found.shape) == 1:
            x = solve(b)
        else:
            x = empty_like(b)
            for first in range(0, found.shape[1], self.max_rhs):
                part = slice(first, first + self.max_rhs)
                x[:, part] = solve(b[:, part])
        together = np.result_type(given, self.dtype)
        return x if together == self.dtype else convert(x, together)


Kind = TypeVar("Kind", bound="System")
_systems: weakref.WeakSet[System] = weakref.WeakSet()
_waiting_for_fork: list[System] = []
_forking = threading.RLock()


def _before_fork() -> None:
    """Wait for the calls of other threads: in the child nobody would end them, nor give their locks back."""
    _forking.acquire()
    _waiting_for_fork.extend(_systems)
    for system in _waiting_for_fork:
        system._lock.acquire()


def _after_fork() -> None:
    for system in _waiting_for_fork:
        system._lock.release()
    _waiting_for_fork.clear()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


class System:
    """A system of linear equations that is analysed: its shape and types, and the arrays that it takes.

    It refers to the arrays of its matrices. A copy, and what `pickle` loads, is analysed again: the constructor takes
    `_arguments` and the options, which are its arguments by name.
    """

    _options: dict[str, Any]
    _arguments: tuple[Any, ...]

    def __new__(cls: type[Kind], *_: Any, **options: Any) -> Kind:
        system = super().__new__(cls)
        system._options = options
        return system

    def __init__(self, matrix: Matrix, max_rhs: int) -> None:
        self._arguments = (matrix.stored,)
        self.shape: tuple[int, int] = matrix.shape
        self.dtype: np.dtype = matrix.dtype
        self.max_rhs = max_rhs
        self._on_device = matrix.on_device
        self._order = matrix.order
        self._lock = threading.RLock()
        with _forking:
            _systems.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        with self._lock:
            return _analyzed, (type(self), self._arguments, self._options)

    def _keep_values(self, *values: Array | None) -> None:
        """Keep the values of the matrices for copies."""
        pairs = zip(self._arguments, values, strict=True)
        self._arguments = tuple(a if array is None else a._replace(values=array.owner) for a, array in pairs)

    def _convert(self, array: Any, name: str) -> Array:
        """Return the array with the type of the matrix."""
        return as_matrix_has_it(array, name, self.dtype, self._on_device)

    def _values(self, data: Any, name: str, order: Order | BlockOrder | None) -> Array:
        """Return the values of a matrix as a contiguous array, in the order of the matrix that was analysed."""
        values = self._convert(data, name)
        if order is not None:
            return describe(order.apply(values.owner))
        if len(values.shape) != 1:
            raise ValueError(f"{name} must have one dimension")
        return as_contiguous(values)

    def _operands(self, b: Any, out: Any) -> tuple[Array, Array, Any]:
        """Return the right-hand sides, the solutions, and the array of the solutions, which is `out` or new."""
        right = self._convert(b, "b")
        if len(right.shape) not in (1, 2):
            raise ValueError("b must have one or two dimensions")
        if right.shape[0] != self.shape[0]:
            raise ValueError(f"b has {right.shape[0]} rows, the system has {self.shape[0]}")
        return self._solution(right, out)

    def _solution(self, right: Array, out: Any) -> tuple[Array, Array, Any]:
        """Return the right-hand sides, copied if `out` overlaps them in part, the solutions, and their array, which is
        `out` or new."""
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
        if overlap_in_part(right, solution):
            right = describe(copied(right.owner))
        return right, solution, result


def as_matrix_has_it(array: Any, name: str, dtype: np.dtype, on_device: bool) -> Array:
    """Return the array with the type of a matrix, in whose memory it must be."""
    found = describe(array)
    if found.on_device != on_device:
        raise ValueError(f"{name} must be in {'device' if on_device else 'host'} memory, where the matrix is")
    if found.dtype != dtype:
        if not np.can_cast(found.dtype, dtype, "safe"):
            raise TypeError(f"{name} is of {found.dtype}, which {dtype} cannot hold")
        found = of_type(found, dtype)
    return found


def _analyzed(kind: type[System], arguments: tuple[Any, ...], options: dict[str, Any]) -> System:
    """Return an object that is copied or loaded."""
    return kind(*arguments, **options)


def overlap_in_part(a: Array, b: Array) -> bool:
    """Return whether the ranges of two arrays meet, unless both are the same array."""
    if (a.address, a.strides) == (b.address, b.strides) or 0 in a.shape:
        return False
    ranges = []
    for array in (a, b):
        steps = [
            (count - 1) * stride * array.dtype.itemsize
            for count, stride in zip(array.shape, array.strides, strict=True)
        ]
        ranges.append((array.address + sum(s for s in steps if s < 0), array.address + sum(s for s in steps if s > 0)))
    size = a.dtype.itemsize
    return ranges[0][0] < ranges[1][1] + size and ranges[1][0] < ranges[0][1] + size


def scalar(number: complex, dtype: np.dtype) -> Any:
    """Return the address of a number as the type of the matrix, or None for 1. A fraction is rounded."""
    if not isinstance(number, Number) and getattr(number, "shape", None) != ():
        raise TypeError(f"alpha is a number, not {type(number).__name__}")
    if number == 1:
        return None
    if np.imag(number) != 0 and dtype.kind != "c":
        raise TypeError("alpha is complex, and the matrix is real")
    with np.errstate(over="ignore"):
        value = np.array(number if dtype.kind == "c" else np.real(number)).astype(dtype)
    is_lost = int(value.real) != number if isinstance(number, Integral) else np.isinf(value) != np.isinf(number)
    if is_lost:
        raise ValueError(f"alpha = {number} is a number that {dtype} cannot hold")
    return ctypes.byref(ctypes.create_string_buffer(value.tobytes(), dtype.itemsize))


def operation(name: Operation, parameter: str) -> int:
    """Return the number of an operation: "N", "T" or "H"."""
    if name not in get_args(Operation):
        raise ValueError(f"{parameter} is one of 'N', 'T', 'H', not {name!r}")
    return OPERATIONS[name]


def flag(value: bool, name: str) -> int:
    """Return a truth value as a number: a text such as "upper" would count as true."""
    if not isinstance(value, (bool, np.bool_, int)) or value not in (0, 1):
        raise TypeError(f"{name} is True or False, not {value!r}")
    return int(value)


def policy_text(policy: str | None) -> bytes | None:
    """Return the text of a policy for the C interface."""
    if policy is None:
        return None
    if not isinstance(policy, str) or "\0" in policy:
        raise TypeError(f"policy is a text such as 'host_parallel workers=2', not {policy!r}")
    return policy.encode()


def of_type(array: Array, dtype: np.dtype, name: str = "an array") -> Array:
    """Return the array, converted if it has another type that `dtype` can hold: integers are compared."""
    if array.dtype == dtype:
        return array
    is_integer = array.dtype.kind in "iu" and dtype.kind in "ifc"
    if not is_integer and 0 not in array.shape and not np.can_cast(array.dtype, dtype, "safe"):
        raise TypeError(f"{name} is of {array.dtype}, which {dtype} cannot hold")
    converted = convert(array.owner, dtype)
    if is_integer and not _same_integers(array, converted):
        raise ValueError(f"{name} has a number that {dtype} cannot hold")
    return describe(converted)


def _same_integers(array: Array, converted: Any) -> bool:
    """Return whether the conversion of an array of integers has kept all of them."""
    number = converted.real
    with np.errstate(invalid="ignore"):
        back = convert(number, array.dtype)
    is_below = number < 2.0 ** (8 * array.dtype.itemsize - (array.dtype.kind == "i"))
    return bool((is_below & (back == array.owner) & ((number < 0) == (array.owner < 0))).all())


def as_contiguous(array: Array) -> Array:
    """Return the array, copied if its elements are not contiguous."""
    if array.strides in ((1,), ()) or array.shape[0] < 2:
        return array
    return describe(contiguous(array.owner))


def stream_of(array: Array) -> int | None:
    """Return the stream that work for the array is enqueued on."""
    return current_stream(array.owner) or None if array.on_device else None


def vectors(array: Array) -> _library.Vectors:
    """Return vectors for the C interface."""
    columns = array.shape[1] if len(array.shape) == 2 else 1
    column_stride = array.strides[1] if len(array.strides) == 2 else 0
    return _library.Vectors(array.address or None, columns, array.strides[0], column_stride)
