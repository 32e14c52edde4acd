"""Triangular solves and incomplete factors for JAX; import it as ``sptrsv.jax``.

The functions work under ``jit`` and ``vmap``, and the solves can be differentiated, forward and backward, to any order.
The matrix is a `Pattern`, which is no array: ``jit`` takes it as a static argument. A pattern is analysed on each
device in the first call that needs it there, and the analysis is kept for later ones; `clear_cache` frees all.

XLA calls the library by the plug-in ``libsptrsv_jax.so`` (``plugins/jax``), on the host or on its stream of a GPU:
nothing is copied, and Python is not called. Errors that are found there are ``jax.errors.JaxRuntimeError``.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ._arrays import SparseMatrix, sparse_arrays
from ._incomplete import ic, ilu
from ._jax_plugin import plugin
from ._library import policy_names
from ._solver import analyze
from ._system import OPERATIONS, Operation

Kind = Literal["lu", "cholesky"]
_TOGETHER = 16  # right-hand sides that are solved at a time
_KEPT = 64  # patterns that are known to be right


def clear_cache() -> None:
    """Free the analyses that are kept; a later call analyses again."""
    plugin.sptrsv_jax_clear()


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
        index_type = np.int32 if max(*self.shape, self.nnz) <= np.iinfo(np.int32).max else np.int64
        self._operands = stored.offsets.astype(index_type), stored.indices.astype(index_type)  # of XLA's calls

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"<sptrsv.jax.Pattern of {self.shape[0]} rows, {self.nnz} entries>"

    @property
    def _of_ones(self) -> Any:
        """A matrix of ones with this pattern."""
        return self._matrix._replace(values=np.ones(self.nnz))

    def _attributes(self, **given: Any) -> dict[str, Any]:
        """Return the attributes of a call: all that an analysis depends on."""
        others = {"policy": "", "part": 0, "diagonal": 0, "operation": 0, "max_rhs": 1, "method": -1}
        by_columns, shape, content = self._key
        pattern = f"{content.hex()} {shape[0]} x {shape[1]}"
        return {"pattern": pattern, "storage": int(by_columns), **others, **given}


class _Form(NamedTuple):
    """A triangle and an operation, as `sptrsv.analyze` takes them."""

    lower: bool
    unit_diagonal: bool
    transpose: Operation


@functools.lru_cache(_KEPT)
def _check(pattern: Pattern, form: _Form, policy: str | None) -> None:
    """Refuse what the library refuses, by an analysis on the host; options of a policy of the GPU are not seen here."""
    name = (policy or "").partition(" ")[0]
    is_for_gpu = name in policy_names() and not name.startswith("host_")
    analyze(pattern._of_ones, *form, policy="host_serial" if is_for_gpu else policy or "host_serial")


@functools.lru_cache(_KEPT)
def _check_factorization(pattern: Pattern, kind: Kind) -> None:
    (ilu if kind == "lu" else ic)(pattern._of_ones, policy="host_serial")


def _systems(pattern: Pattern, form: _Form, policy: str | None) -> Callable[[Any, Any], Any]:
    """Return the solve for `values` of shape (systems, entries) and `b` of shape (together, systems or 1, n, k): what
    `vmap` adds to `b` are right-hand sides that are solved together, what it adds to `values` are systems."""

    @jax.custom_batching.custom_vmap
    def solve(values: Any, b: Any) -> Any:
        together, _, size, columns = b.shape
        call = jax.ffi.ffi_call("sptrsv_solve", jax.ShapeDtypeStruct((together, len(values), size, columns), b.dtype))
        attributes = pattern._attributes(
            policy=policy or "",
            part=1 - form.lower,
            diagonal=int(form.unit_diagonal),
            operation=OPERATIONS[form.transpose],
            max_rhs=1 if together * columns == 1 else _TOGETHER,
        )
        return call(*pattern._operands, values, b, **attributes)

    @solve.def_vmap
    def mapped(count: int, is_mapped: tuple[bool, bool], values: Any, b: Any) -> tuple[Any, bool]:
        of_values, of_b = is_mapped
        together, b_systems, *shape = b.shape[1:] if of_b else b.shape
        if not of_values:
            x = solve(values, b.reshape(count * together, b_systems, *shape))
            return x.reshape(count, together, len(values), *shape), True
        systems = values.shape[1]
        if of_b or b_systems > 1:
            b = jnp.broadcast_to(b if of_b else b[None], (count, together, systems, *shape)).swapaxes(0, 1)
            b = b.reshape(together, count * systems, *shape)
        x = solve(values.reshape(count * systems, pattern.nnz), b)
        return x.reshape(together, count, systems, *shape).swapaxes(0, 1), True

    return solve


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
        columns = right if right.ndim == 2 else right[:, None]
        x = _systems(pattern, form._replace(transpose=operation), policy)(values[None], columns[None, None])
        return x.reshape(right.shape)

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
    jax.errors.JaxRuntimeError
        If it refuses something where the function runs, such as an option of a policy of the GPU.

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
    _check(pattern, form, policy)
    return _solved(pattern, form, policy, values, b)


def _factorized(pattern: Pattern, kind: Kind, values: Any) -> jax.Array:
    values = jnp.asarray(values, jnp.result_type(values, jnp.float32))
    if values.shape != (pattern.nnz,):
        raise ValueError(f"the values have the shape {values.shape}, those of the pattern ({pattern.nnz},)")
    _check_factorization(pattern, kind)
    call = jax.ffi.ffi_call(
        "sptrsv_factorize", jax.ShapeDtypeStruct(values.shape, values.dtype), vmap_method="expand_dims"
    )
    return call(*pattern._operands, values, **pattern._attributes(method=int(kind == "cholesky")))


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
