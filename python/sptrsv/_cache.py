"""``spsolve_triangular`` with SciPy's signature, and its cache of solvers by pattern."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._arrays import VALUE_TYPES, ArrayLike, HasFormat
from ._solver import Solver, analyze


class CacheInfo(NamedTuple):
    """The state of the cache: calls that found a solver, calls that analysed, the limit, and solvers held."""

    hits: int
    misses: int
    limit: int
    size: int


class _Cache:
    """The least recently used solver leaves first."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Any, Solver] = OrderedDict()
        self._limit = limit
        self._hits = 0
        self._misses = 0

    def find(self, key: Any) -> Solver | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self._misses += 1
            else:
                self._hits += 1
                self._entries.move_to_end(key)
            return entry

    def insert(self, key: Any, entry: Solver) -> None:
        with self._lock:
            self._entries[key] = entry
            self._shrink()

    def set_limit(self, limit: int) -> None:
        if limit < 0:
            raise ValueError("the limit must not be negative")
        with self._lock:
            self._limit = limit
            self._shrink()

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._hits = self._misses = 0

    def info(self) -> CacheInfo:
        with self._lock:
            return CacheInfo(self._hits, self._misses, self._limit, len(self._entries))

    def _shrink(self) -> None:
        while len(self._entries) > self._limit:
            self._entries.popitem(last=False)


_cache = _Cache(limit=8)


def cache_info() -> CacheInfo:
    """Return the state of the cache of `spsolve_triangular`."""
    return _cache.info()


def set_cache_limit(limit: int) -> None:
    """Set the largest number of solvers that `spsolve_triangular` keeps; 0 keeps none. The default is 8."""
    _cache.set_limit(limit)


def clear_cache() -> None:
    """Free all solvers that `spsolve_triangular` keeps."""
    _cache.clear()


def spsolve_triangular(
    A: HasFormat | npt.ArrayLike,
    b: ArrayLike,
    lower: bool = True,
    overwrite_A: bool = False,
    overwrite_b: bool = False,
    unit_diagonal: bool = False,
) -> np.ndarray:
    """Solve ``A x = b`` for a triangular matrix, as ``scipy.sparse.linalg.spsolve_triangular``.

    The solver is kept: a later call with a matrix of the same pattern needs no analysis. For many solves with one
    matrix, `analyze` is faster, because it need not compare patterns. Arrays are in host memory.

    Parameters
    ----------
    A : sparse matrix of SciPy, or array of shape (n, n)
        The matrix; entries outside the triangle are ignored.
    b : array of shape (n,) or (n, k)
        The right-hand sides.
    lower : bool, optional
        Whether `A` is lower triangular.
    overwrite_A : bool, optional
        Whether `A` may be changed: duplicate entries are summed.
    overwrite_b : bool, optional
        Whether the solution may be written to `b`, if the type is the same.
    unit_diagonal : bool, optional
        Whether the diagonal is ones.

    Returns
    -------
    numpy.ndarray
        The solution, of the shape of `b`.

    Raises
    ------
    numpy.linalg.LinAlgError
        If a diagonal entry is zero or missing.
    InputError
        If the matrix is not square.
    TypeError
        If `A` or `b` is of a type that double precision cannot hold.
    """
    a = _compressed(A, overwrite_A)
    if not unit_diagonal and a.shape[0] == a.shape[1]:
        pivots = a.diagonal()
        if not pivots.all():
            raise np.linalg.LinAlgError(f"A is singular: the diagonal entry of row {np.argmin(pivots != 0)} is zero")
    right: Any = np.asanyarray(b)  # masked arrays stay what they are, and are refused
    if right.ndim not in (1, 2):
        raise ValueError("b must have one or two dimensions")
    dtype = np.result_type(a.dtype, right.dtype, np.float32)
    columns = right.shape[1] if right.ndim == 2 else 1
    if dtype not in VALUE_TYPES:
        raise TypeError(f"A and b are of {a.dtype} and {right.dtype}, which float64 and complex128 cannot hold")
    values = a.data.astype(dtype, copy=False)

    pattern = hashlib.blake2b(digest_size=16)
    pattern.update(np.ascontiguousarray(a.indptr))
    pattern.update(np.ascontiguousarray(a.indices))
    key = (pattern.digest(), a.format, a.shape, a.indices.dtype, dtype, lower, unit_diagonal, columns)
    solver = _cache.find(key)
    is_new = solver is None
    if solver is None:
        matrix = type(a)((values, a.indices, a.indptr), shape=a.shape)
        solver = analyze(matrix, lower, unit_diagonal, max_rhs=max(columns, 1))

    with solver._lock:
        if is_new:
            _cache.insert(key, solver)  # other threads wait for the lock: the solver has the values of this call
        else:
            solver.update_values(values)
        out = right if overwrite_b and right.dtype == dtype and right.flags.writeable else np.empty(right.shape, dtype)
        solver.solve(right, out=out)
    return out


def _compressed(given: Any, may_change: bool) -> Any:
    """Return a matrix of SciPy or a dense one as CSR or CSC without duplicate entries."""
    if not hasattr(given, "format"):
        from scipy.sparse import csr_matrix

        given = csr_matrix(given)
    elif given.format not in ("csr", "csc"):
        given = given.tocsr()
    if not given.has_canonical_format:
        given = given if may_change else given.copy()
        given.sum_duplicates()
    return given
