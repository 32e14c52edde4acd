"""Differentiable triangular solves for PyTorch 2.5 and newer; import it as ``sptrsv.torch``."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from typing import Any

import torch
from torch import Tensor

from ._arrays import SparseMatrix, conjugated, sparse_arrays
from ._batch import BatchSolver, analyze_batch
from ._errors import InputError
from ._solver import ADJOINT, analyze
from ._system import Operation


class TriangularSolve:
    """The solve ``op(T) x = b``, whose gradients by the right-hand sides and by the values of the matrix are known.

    It works under `torch.compile`, and `torch.vmap` maps it over right-hand sides, values, or both: the right-hand
    sides of one matrix are solved together, and systems with different values by `sptrsv.analyze_batch`. Derivatives
    of any order are known. An object can be copied and saved, alone or in a module: a copy is analysed again.

    Parameters
    ----------
    A : Tensor
        A sparse matrix (CSR or CSC; others are converted to CSR), on the GPU or on the host.
    lower, unit_diagonal, transpose, policy
        As for `sptrsv.analyze`.
    max_rhs : int, optional
        How many right-hand sides are solved at a time.

    Examples
    --------
    >>> solve = sptrsv.torch.TriangularSolve(A)  # A: torch.sparse_csr_tensor(...)
    >>> x = solve(b, values)  # tensors that may need gradients
    >>> x.square().sum().backward()
    """

    __name__ = "TriangularSolve"  # torch.vmap asks for it, and torch.compile cannot trace __repr__

    def __init__(
        self,
        A: Tensor,
        lower: bool = True,
        unit_diagonal: bool = False,
        transpose: Operation = "N",
        max_rhs: int = 1,
        policy: str | None = None,
    ) -> None:
        if not isinstance(A, Tensor):
            raise TypeError(f"a sparse tensor is needed, not {type(A).__name__}")
        A = A.detach()
        values = A._values() if A.layout == torch.sparse_coo else A.values()
        self._analyze(sparse_arrays(A), values, lower, unit_diagonal, transpose, max_rhs, policy)

    def _analyze(
        self,
        stored: SparseMatrix,
        values: Tensor,
        lower: bool,
        unit_diagonal: bool,
        transpose: Operation,
        max_rhs: int,
        policy: str | None,
    ) -> None:
        """Analyse the triangle and its adjoint. `values`: in the order of the user's format."""
        self._arguments = (stored, values, lower, unit_diagonal, transpose, max_rhs, policy)
        self.values = values
        self._order = stored.order
        pattern: Any = stored._replace(order=None)
        self._pattern = pattern
        self._form: dict[str, Any] = {"lower": lower, "unit_diagonal": unit_diagonal, "max_rhs": max_rhs}
        # The adjoint of the transpose is the conjugate, and conj(T) y = g is T conj(y) = conj(g).
        self._operations: tuple[Operation, Operation] = (transpose, ADJOINT[transpose])
        self._conjugates = transpose == "T"
        self._is_conjugated = transpose == "H"
        self._solvers = [analyze(self._pattern, transpose=op, policy=policy, **self._form) for op in self._operations]
        self._batches: list[BatchSolver | None] = [None, None]
        self._lock = threading.RLock()
        offsets, indices = stored.offsets.long(), stored.indices.long()
        lines = torch.arange(len(offsets) - 1, device=offsets.device).repeat_interleave(offsets.diff())
        rows, columns = (indices, lines) if stored.by_columns else (lines, indices)
        strict = rows > columns if lower else rows < columns
        used = strict if unit_diagonal else strict | (rows == columns)
        of_operation = (rows, columns) if transpose == "N" else (columns, rows)
        self._places = torch.stack((*of_operation, used.long()))
        self._dtype = getattr(torch, self._solvers[0].dtype.name)
        self._key = str(next(_numbers))
        _solves[self._key] = self

    def __repr__(self) -> str:
        return f"<sptrsv.torch.TriangularSolve of {len(self._pattern.offsets) - 1} rows, {self._solvers[0].dtype}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _analyzed, self._arguments

    def __call__(self, b: Tensor, values: Tensor | None = None) -> Tensor:
        """Solve for the right-hand sides `b`.

        Parameters
        ----------
        b : Tensor of shape (n,) or (n, k)
            The right-hand sides.
        values : Tensor of shape (entries,), optional
            The values of all stored entries, in the order of `A`; by default those of `A`.
        """
        if values is None:
            values = self.values
        if self._order is not None:
            values = self._order.apply(values)
        return _applied(b, values, self._places, self._key, False)

    def _solved(self, b: Tensor, values: Tensor, adjoint: bool) -> Tensor:
        """Solve without gradients; `values` and `b` are those of one system, or have a first dimension of systems."""
        conjugates = adjoint and self._conjugates
        right = conjugated(b.detach()) if conjugates else b.detach()
        x = torch.empty(b.shape, dtype=self._dtype, device=b.device)
        with self._lock:
            if values.dim() == 1:
                self._solve_one(right, values.detach(), adjoint, x)
            else:
                self._solve_batch(right, values.detach().to(self._dtype), adjoint, x)
        return conjugated(x) if conjugates else x

    def _solve_one(self, b: Tensor, values: Tensor, adjoint: bool, x: Tensor) -> None:
        """Write the solutions of one system to `x`."""
        solver = self._solvers[adjoint]
        solver.update_values(values)
        if b.dim() != 2:
            solver.solve(b, out=x)
            return
        for part, of_x in zip(b.split(solver.max_rhs, 1), x.split(solver.max_rhs, 1), strict=True):
            solver.solve(part, out=of_x)

    def _solve_batch(self, b: Tensor, values: Tensor, adjoint: bool, x: Tensor) -> None:
        """Write the solutions of systems with different values to `x`."""
        batch = self._batches[adjoint]
        if batch is not None and batch.batch == len(values):
            batch.update_values(values)
        else:
            try:
                batch = analyze_batch(self._pattern, values, transpose=self._operations[adjoint], **self._form)
            except InputError as error:
                if error.code != "unsupported":
                    raise
                for system in range(len(values)):  # each is too large for a thread block of the GPU
                    self._solve_one(b[system], values[system], adjoint, x[system])
                return
            self._batches[adjoint] = batch
        if b.dim() != 3:
            batch.solve(b, out=x)
            return
        for part, of_x in zip(b.split(batch.max_rhs, 2), x.split(batch.max_rhs, 2), strict=True):
            batch.solve(part, out=of_x)


def _analyzed(*arguments: Any) -> TriangularSolve:
    """Return an object that is copied or loaded."""
    solve = TriangularSolve.__new__(TriangularSolve)
    solve._analyze(*arguments)
    return solve


_numbers = itertools.count()
_solves: weakref.WeakValueDictionary[str, TriangularSolve] = weakref.WeakValueDictionary()


def _named(key: str) -> TriangularSolve:
    """Return the object that an operator names: operators take tensors and texts."""
    solve = _solves.get(key)
    if solve is None:
        raise RuntimeError("the TriangularSolve of this graph is no longer there: keep it as long as the graph")
    return solve


def _solve(b: Tensor, values: Tensor, places: Tensor, key: str, adjoint: bool) -> Tensor:
    return _named(key)._solved(b, values, adjoint)


# `places`: the row and the column of each entry in op(T), and whether the solve uses it; shape (3, entries).
# Derivatives need them: an argument, because a graph of PyTorch refuses tensors that are none of its inputs.
_triangular_solve = torch.library.custom_op(
    "sptrsv::triangular_solve",
    _solve,
    mutates_args=(),
    schema="(Tensor b, Tensor values, Tensor places, str key, bool adjoint) -> Tensor",
)


@_triangular_solve.register_fake
def _empty(b: Tensor, values: Tensor, places: Tensor, key: str, adjoint: bool) -> Tensor:
    return torch.empty(b.shape, dtype=_named(key)._dtype, device=b.device)


def _mapped(
    apply: Any, info: Any, in_dims: Any, b: Tensor, values: Tensor, places: Tensor, key: str, adjoint: bool
) -> tuple[Tensor, int]:
    """Solve for one more dimension of `b` or of `values`, or of both. `apply`: the operator, or `_Solve.apply`."""
    b_dim, values_dim = in_dims[:2]
    if values_dim is None and values.dim() == 1:  # one system with more right-hand sides
        columns = b.movedim(b_dim, -1)
        x = apply(columns.flatten(1), values, places, key, adjoint)
        return x.reshape(columns.shape), columns.dim() - 1
    b = b.expand(info.batch_size, *b.shape) if b_dim is None else b.movedim(b_dim, 0)
    values = values.expand(info.batch_size, *values.shape) if values_dim is None else values.movedim(values_dim, 0)
    if values.dim() == 2:
        return apply(b, values, places, key, adjoint), 0
    x = apply(b.flatten(0, 1), values.flatten(0, 1), places, key, adjoint)  # a batch of batches
    return x.reshape(b.shape), 0


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    b, values, places, ctx.key, ctx.adjoint = inputs
    ctx.solve = _named(ctx.key)
    ctx.are_real = not b.is_complex(), not values.is_complex()
    ctx.save_for_backward(values, places, output)
    ctx.save_for_forward(values, places, output)


def _pulled_back(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    """Return the gradients by `b` and by `values`: y for `b` is the solution with the adjoint, and -y x^H for the
    matrix."""
    values, places, x = ctx.saved_tensors
    of_b = _applied(gradient, values, places, ctx.key, not ctx.adjoint)
    left, right = (x, of_b) if ctx.adjoint else (of_b, x)
    rows = values.dim() - 1  # the dimension of the rows
    products = left.index_select(rows, places[0]) * right.index_select(rows, places[1]).conj()
    if products.dim() > values.dim():
        products = products.sum(dim=-1)
    of_values = torch.where(places[2] != 0, -products, torch.zeros_like(products))
    gradients = (of_b, of_values.conj() if ctx.solve._is_conjugated else of_values)
    return *(g.real if is_real else g for g, is_real in zip(gradients, ctx.are_real, strict=True)), None, None, None


def _pushed_forward(ctx: Any, b: Tensor | None, values: Tensor | None, *_: None) -> Tensor:
    """Return the derivative in the direction of `b` and `values`: the solution for b - op(T) x, of these."""
    at, places, x = ctx.saved_tensors
    right = torch.zeros_like(x) if b is None else b.to(x.dtype)
    if values is not None:
        rows = at.dim() - 1
        factors = torch.where(places[2] != 0, values, torch.zeros_like(values))
        factors = factors.conj() if ctx.solve._is_conjugated != ctx.adjoint else factors
        factors = factors.unsqueeze(-1) if x.dim() > at.dim() else factors
        to, of = (1, 0) if ctx.adjoint else (0, 1)
        product = torch.zeros_like(x).index_add(rows, places[to], factors * x.index_select(rows, places[of]))
        right = right - product
    return _applied(right, at, places, ctx.key, ctx.adjoint)


def _applied(b: Tensor, values: Tensor, places: Tensor, key: str, adjoint: bool) -> Tensor:
    """Solve with derivatives: `torch.compile` takes those of the operator, `torch.func` those of `_Solve`."""
    apply = _triangular_solve if torch.compiler.is_compiling() else _Solve.apply
    return apply(b, values, places, key, adjoint)


class _Solve(torch.autograd.Function):
    """The operator as a function with derivatives forward and backward."""

    forward = staticmethod(_triangular_solve)
    setup_context = staticmethod(_keep)
    backward = staticmethod(_pulled_back)
    jvp = staticmethod(_pushed_forward)

    @staticmethod
    def vmap(*arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_Solve.apply, *arguments)


_triangular_solve.register_autograd(_pulled_back, setup_context=_keep)
_triangular_solve.register_vmap(functools.partial(_mapped, _triangular_solve))
