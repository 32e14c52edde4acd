"""``spsolve_triangular`` with SciPy's signature, and its cache of solvers by pattern."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np

from ._arrays import VALUE_TYPES
from ._solver import Solver, analyze


class CacheInfo(NamedTuple):
    """The state of the cache: calls that found a solver, calls that analysed, the limit, and solvers held."""

    hits: int
    misses: int
    limit: int
    size: int


class _Entry:
    def __init__(self, solver: Solver) -> None:
        self.solver = solver
        self.lock = threading.Lock()


class _Cache:
    """The least recently used solver leaves first."""

    def __init__(self, limit: int) -> None:
        self._lock = threading.Lock()
        self._entries: OrderedDict[Any, _Entry] = OrderedDict()
        self._limit = limit
        self._hits = 0
        self._misses = 0

    def find(self, key: Any) -> _Entry | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                self._misses += 1
            else:
                self._hits += 1
                self._entries.move_to_end(key)
            return entry

    def insert(self, key: Any, entry: _Entry) -> None:
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
    A: Any,
    b: Any,
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
    if not hasattr(A, "format"):
        from scipy.sparse import csr_matrix

        A = csr_matrix(A)
    elif A.format not in ("csr", "csc"):
        A = A.tocsr()
    if not A.has_canonical_format:
        A = A if overwrite_A else A.copy()
        A.sum_duplicates()
    if not unit_diagonal and A.shape[0] == A.shape[1]:
        pivots = A.diagonal()
        if not pivots.all():
            raise np.linalg.LinAlgError(f"A is singular: the diagonal entry of row {np.argmin(pivots != 0)} is zero")
    b = np.asarray(b)
    if b.ndim not in (1, 2):
        raise ValueError("b must have one or two dimensions")
    dtype = np.result_type(A.dtype, b.dtype, np.float32)
    columns = b.shape[1] if b.ndim == 2 else 1
    if dtype not in VALUE_TYPES:
        raise TypeError(f"A and b are of {A.dtype} and {b.dtype}, which float64 and complex128 cannot hold")
    values = A.data.astype(dtype, copy=False)

    pattern = hashlib.blake2b(digest_size=16)
    pattern.update(np.ascontiguousarray(A.indptr))
    pattern.update(np.ascontiguousarray(A.indices))
    key = (pattern.digest(), A.format, A.shape, A.indices.dtype, dtype, lower, unit_diagonal, columns)
    entry = _cache.find(key)
    is_new = entry is None
    if entry is None:
        matrix = type(A)((values, A.indices, A.indptr), shape=A.shape)
        entry = _Entry(analyze(matrix, lower, unit_diagonal, max_rhs=max(columns, 1)))

    with entry.lock:
        if is_new:
            _cache.insert(key, entry)  # other threads wait for the lock: the solver has the values of this call
        else:
            entry.solver.update_values(values)
        out = b if overwrite_b and b.dtype == dtype and b.flags.writeable else np.empty(b.shape, dtype)
        entry.solver.solve(b, out=out)
    return out
