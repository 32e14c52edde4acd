"""Triangular solves and incomplete factors for JAX; import it as ``sptrsv.jax``.

The functions work under ``jit`` and ``vmap``, and the solves can be differentiated, forward and backward, to any order.
The matrix is a `Pattern`, which is no array: ``jit`` takes it as a static argument. A pattern is analysed in the first
call that needs it, and the analysis is kept for later ones.

The work is done on the host, by ``jax.pure_callback``: arrays on a GPU are copied to the host and back.
"""

from __future__ import annotations

import functools
import hashlib
import math
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import SparseMatrix, sparse_arrays
from ._batch import BatchSolver, analyze_batch
from ._incomplete import IncompleteFactors, ic, ilu
from ._solver import Solver, analyze
from ._system import Operation

Kind = Literal["lu", "cholesky"]
_TOGETHER = 16  # right-hand sides that are solved at a time
_KEPT = 64  # analyses of each kind


class Pattern:
    """Where the entries of a square sparse matrix are. Patterns with the same entries are equal.

    Parameters
    ----------
    A : sparse matrix
        A matrix of SciPy (CSR or CSC), or a ``BCSR`` of JAX; its values are not used.

    Attributes
    ----------
    shape : tuple of int
        The shape of the matrix.
    nnz : int
        The number of stored entries: the functions take their values in the order of `A`.
    """

    def __init__(self, A: Any) -> None:
        if hasattr(A, "indptr") and not hasattr(A, "format"):
            if A.n_batch or A.n_dense:
                raise TypeError("a BCSR matrix without batch and dense dimensions is needed")
            offsets, indices = np.asarray(A.indptr), np.asarray(A.indices)
            stored = SparseMatrix(False, tuple(A.shape), offsets, indices, np.ones(indices.shape))
        else:
            stored = sparse_arrays(A)
            if stored.order is not None or not isinstance(stored.values, np.ndarray):
                raise TypeError("a CSR or CSC matrix of SciPy or a BCSR matrix of JAX is needed")
            stored = stored._replace(offsets=stored.offsets.copy(), indices=stored.indices.copy())
        self._matrix: Any = stored
        self.shape = stored.shape
        self.nnz = len(stored.indices)
        content = hashlib.blake2b(np.ascontiguousarray(stored.offsets, np.int64), digest_size=16)
        content.update(np.ascontiguousarray(stored.indices, np.int64))
        self._key = (stored.by_columns, stored.shape, content.digest())
        lines = np.repeat(np.arange(len(stored.offsets) - 1), np.diff(stored.offsets))
        self._rows: np.ndarray = stored.indices if stored.by_columns else lines
        self._columns: np.ndarray = lines if stored.by_columns else stored.indices

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<sptrsv.jax.Pattern of {self.shape[0]} rows, {self.nnz} entries>"

    def _with(self, dtype: np.dtype) -> Any:
        """Return a matrix of ones with this pattern."""
        return self._matrix._replace(values=np.ones(self.nnz, dtype))


class _Form(NamedTuple):
    """A triangle and an operation, as `sptrsv.analyze` takes them."""

    lower: bool
    unit_diagonal: bool
    transpose: Operation


@functools.lru_cache(_KEPT)
def _solver(pattern: Pattern, form: _Form, policy: str | None, several: bool, dtype: np.dtype) -> Solver:
    return analyze(pattern._with(dtype), *form, max_rhs=_TOGETHER if several else 1, policy=policy)


@functools.lru_cache(_KEPT)
def _batch(pattern: Pattern, form: _Form, count: int, dtype: np.dtype) -> BatchSolver:
    return analyze_batch(pattern._with(dtype), np.ones((count, pattern.nnz), dtype), *form, max_rhs=_TOGETHER)


@functools.lru_cache(_KEPT)
def _factorization(pattern: Pattern, kind: Kind, dtype: np.dtype) -> IncompleteFactors:
    return (ilu if kind == "lu" else ic)(pattern._with(dtype))


class _Solve(NamedTuple):
    """The solves on the host. JAX calls it, and compiles nothing anew for an equal one."""

    pattern: Pattern
    form: _Form
    policy: str | None
    has_columns: bool  # whether `b` is of shape (n, k)

    def __call__(self, values: Any, b: Any) -> np.ndarray:
        """Solve for `values` of shape (..., entries) and `b` of shape (..., n) or (..., n, k); the dimensions before
        these, which `vmap` adds, are those of systems, or 1."""
        values, b = np.asarray(values), np.asarray(b)
        b = b if self.has_columns else b[..., None]
        x = self._one(values.reshape(-1), b) if values.size == self.pattern.nnz else self._many(values, b)
        return x if self.has_columns else x[..., 0]

    def _one(self, values: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Solve with one matrix for all right-hand sides."""
        right = np.moveaxis(b, -2, 0)  # (n, ..., k)
        columns = right.reshape(len(right), math.prod(right.shape[1:]))
        x = np.empty_like(columns)
        solver = _solver(self.pattern, self.form, self.policy, columns.shape[1] > 1, b.dtype)
        with solver._lock:
            solver.update_values(values)
            for first in range(0, columns.shape[1], solver.max_rhs):
                part = slice(first, first + solver.max_rhs)
                solver.solve(columns[:, part], out=x[:, part])
        return np.moveaxis(x.reshape(right.shape), 0, -2)

    def _many(self, values: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Solve systems with different values."""
        systems = np.broadcast_shapes(values.shape[:-1], b.shape[:-2])
        count = math.prod(systems)
        right = np.broadcast_to(b, (*systems, *b.shape[-2:])).reshape(count, *b.shape[-2:])
        x = np.empty_like(right)
        batch = _batch(self.pattern, self.form, count, b.dtype)
        with batch._lock:
            batch.update_values(np.broadcast_to(values, (*systems, self.pattern.nnz)).reshape(count, self.pattern.nnz))
            for first in range(0, x.shape[2], batch.max_rhs):
                part = slice(first, first + batch.max_rhs)
                batch.solve(right[:, :, part], out=x[:, :, part])
        return x.reshape(*systems, *b.shape[-2:])


def _product(pattern: Pattern, form: _Form, values: Any, x: Any) -> Any:
    """Return ``op(T) x``."""
    strict = pattern._rows > pattern._columns if form.lower else pattern._rows < pattern._columns
    used = np.flatnonzero(strict if form.unit_diagonal else strict | (pattern._rows == pattern._columns))
    rows, columns = pattern._rows[used], pattern._columns[used]
    to, of = (rows, columns) if form.transpose == "N" else (columns, rows)
    factors = values[used].conj() if form.transpose == "H" else values[used]
    start = x if form.unit_diagonal else jnp.zeros_like(x)
    return start.at[to].add(factors.reshape(-1, *[1] * (x.ndim - 1)) * x[of])


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _solved(pattern: Pattern, form: _Form, policy: str | None, values: jax.Array, b: jax.Array) -> jax.Array:
    def solve(operation: Operation, right: Any) -> Any:
        call = _Solve(pattern, form._replace(transpose=operation), policy, right.ndim == 2)
        shape = jax.ShapeDtypeStruct(right.shape, right.dtype)
        return jax.pure_callback(call, shape, values, right, vmap_method="expand_dims")

    def solve_transposed(_: Any, right: Any) -> Any:
        if form.transpose == "H":  # the transpose of T^H is the conjugate of T
            return solve("N", right.conj()).conj()
        return solve("T" if form.transpose == "N" else "N", right)

    product = functools.partial(_product, pattern, form, values)
    return jax.lax.custom_linear_solve(product, b, lambda _, right: solve(form.transpose, right), solve_transposed)


def spsolve_triangular(
    pattern: Pattern,
    values: jax.typing.ArrayLike,
    b: jax.typing.ArrayLike,
    lower: bool = True,
    unit_diagonal: bool = False,
    transpose: Operation = "N",
    policy: str | None = None,
) -> jax.Array:
    """Solve ``op(T) x = b`` with one triangle T of a matrix.

    ``vmap`` over `b` solves for all right-hand sides together, over `values` as `sptrsv.analyze_batch`, which has no
    policy. For a zero pivot the solution is not finite.

    Parameters
    ----------
    pattern : Pattern
        The pattern of the matrix; entries outside the triangle are ignored.
    values : array of shape (entries,)
        The values of all stored entries.
    b : array of shape (n,) or (n, k)
        The right-hand sides.
    lower, unit_diagonal, transpose, policy
        As for `sptrsv.analyze`.

    Returns
    -------
    jax.Array
        The solutions, of the shape of `b`.

    Raises
    ------
    InputError
        If the library refuses the pattern or an option, in the first call.

    Examples
    --------
    >>> pattern = sptrsv.jax.Pattern(A)  # A: scipy.sparse.csr_array
    >>> solve = jax.jit(functools.partial(sptrsv.jax.spsolve_triangular, pattern))
    >>> x = solve(A.data, b)
    """
    dtype = jnp.result_type(values, b, jnp.float32)
    values, b = jnp.asarray(values, dtype), jnp.asarray(b, dtype)
    if values.shape != (pattern.nnz,):
        raise ValueError(f"the values have the shape {values.shape}, those of the pattern ({pattern.nnz},)")
    if b.ndim not in (1, 2) or b.shape[0] != pattern.shape[0]:
        raise ValueError(f"b is of shape {b.shape}, not of ({pattern.shape[0]},) or ({pattern.shape[0]}, k)")
    form = _Form(lower, unit_diagonal, transpose)
    _solver(pattern, form, policy, b.ndim == 2, np.dtype(dtype))  # refuses bad input, as `analyze` does
    return _solved(pattern, form, policy, values, b)


class _Factorize(NamedTuple):
    """The factorisations on the host, of the systems of all dimensions of `values` but the last one."""

    pattern: Pattern
    kind: Kind

    def __call__(self, values: Any) -> np.ndarray:
        values = np.asarray(values)
        factors = np.empty_like(values)
        factorization = _factorization(self.pattern, self.kind, values.dtype)
        with factorization._lock:
            for number in np.ndindex(values.shape[:-1]):
                factorization.update_values(values[number])
                factors[number] = factorization._factor_values()
        return factors


def _factorized(pattern: Pattern, kind: Kind, values: Any) -> jax.Array:
    values = jnp.asarray(values, jnp.result_type(values, jnp.float32))
    if values.shape != (pattern.nnz,):
        raise ValueError(f"the values have the shape {values.shape}, those of the pattern ({pattern.nnz},)")
    _factorization(pattern, kind, np.dtype(values.dtype))  # refuses bad input
    shape = jax.ShapeDtypeStruct(values.shape, values.dtype)
    return jax.pure_callback(_Factorize(pattern, kind), shape, values, vmap_method="expand_dims")


def ilu0(pattern: Pattern, values: jax.typing.ArrayLike) -> jax.Array:
    """Return the values of L and U of the factorisation ILU(0), in the pattern of the matrix; for `apply`.

    Factors have no derivative: ``jax.lax.stop_gradient`` of the values excludes them where one is taken.
    """
    return _factorized(pattern, "lu", values)


def ic0(pattern: Pattern, values: jax.typing.ArrayLike) -> jax.Array:
    """Return the values of L of the factorisation IC(0), in the pattern of the matrix; otherwise as `ilu0`.

    Entries above the diagonal are not used.
    """
    return _factorized(pattern, "cholesky", values)


def apply(pattern: Pattern, factors: jax.typing.ArrayLike, b: jax.typing.ArrayLike, kind: Kind = "lu") -> jax.Array:
    """Solve ``L U x = b`` with the values of `ilu0`, or, with kind ``"cholesky"``, ``L L^H x = b`` with those of `ic0`.

    It can be differentiated by `factors` and by `b`.
    """
    if kind not in ("lu", "cholesky"):
        raise ValueError(f"kind is one of 'lu', 'cholesky', not {kind!r}")
    if kind == "lu":
        y = spsolve_triangular(pattern, factors, b, unit_diagonal=True)
        return spsolve_triangular(pattern, factors, y, lower=False)
    y = spsolve_triangular(pattern, factors, b)
    return spsolve_triangular(pattern, factors, y, transpose="H")
