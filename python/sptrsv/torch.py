"""Differentiable triangular solves for PyTorch 2.5 and newer; import it as ``sptrsv.torch``."""

from __future__ import annotations

import ctypes
import functools
import inspect
import itertools
import threading
import weakref
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.nn import Parameter

from . import _library
from ._arrays import SparseMatrix, conjugated, sparse_arrays, tensor_stream
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
        self._dtype = getattr(torch, self._solvers[0].dtype.name)
        self._on_device = self._solvers[0]._on_device
        self._size, self._max_rhs = self._solvers[0].shape[0], max_rhs
        self._shape_of_values = (len(stored.indices),)
        offsets, indices = stored.offsets.long(), stored.indices.long()
        lines = torch.arange(len(offsets) - 1, device=offsets.device).repeat_interleave(offsets.diff())
        rows, columns = (indices, lines) if stored.by_columns else (lines, indices)
        strict = rows > columns if lower else rows < columns
        used = strict if unit_diagonal else strict | (rows == columns)
        of_operation = (rows, columns) if transpose == "N" else (columns, rows)
        self._places = torch.stack((*of_operation, used.long()))
        # The same where no graph of PyTorch is made: rows, columns, and which entries are not used, if some are not.
        self._entries = (*self._places[:2], None if bool(used.all()) else ~used)
        self._zero = torch.zeros((), dtype=self._dtype, device=offsets.device)
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
        return _applied(self, b, values, self._places, False)

    def _solved(self, b: Tensor, values: Tensor, adjoint: bool) -> Tensor:
        """Solve without gradients; `values` and `b` are those of one system, or have a first dimension of systems."""
        if not (adjoint and self._conjugates) and self._needs_no_copies(b, values):
            return self._solve_without_copies(b, values, adjoint)
        conjugates = adjoint and self._conjugates
        right = conjugated(b.detach()) if conjugates else b.detach()
        x = torch.empty(b.shape, dtype=self._dtype, device=b.device)
        with self._lock:
            if values.dim() == 1:
                self._solve_one(right, values.detach(), adjoint, x)
            else:
                self._solve_batch(right, values.detach().to(self._dtype), adjoint, x)
        return conjugated(x) if conjugates else x

    def _needs_no_copies(self, b: Tensor, values: Tensor) -> bool:
        """Return whether these are values and right-hand sides of one system as the C interface takes them."""
        dtype, on_device = self._dtype, self._on_device
        return (
            b.dtype is dtype
            and values.dtype is dtype
            and b.is_cuda is on_device
            and values.is_cuda is on_device
            and values.shape == self._shape_of_values
            and values.is_contiguous()
            and (b.dim() == 1 or (b.dim() == 2 and b.shape[1] <= self._max_rhs))
            and b.shape[0] == self._size
            and not (b.is_neg() or values.is_neg())
            and not (dtype.is_complex and (b.is_conj() or values.is_conj()))
        )

    def _solve_without_copies(self, b: Tensor, values: Tensor, adjoint: bool) -> Tensor:
        """Return the solutions of one system: calls of two C functions, and as little else as possible."""
        x = torch.empty_like(b)
        solver, library = self._solvers[adjoint], _library.library
        handle = solver._handle
        stream = (tensor_stream(b) or None) if self._on_device else None
        with solver._lock:
            code = library.sptrsv_update_values(handle, values.data_ptr(), self._shape_of_values[0], stream)
            if code == 0:
                if b.dim() == 1 and b.stride() == (1,):
                    code = library.sptrsv_solve(handle, b.data_ptr(), x.data_ptr(), stream)
                else:
                    of_b, of_x = ctypes.byref(_vectors(b)), ctypes.byref(_vectors(x))
                    code = library.sptrsv_solve_many(handle, None, of_b, of_x, None, stream)
            _library.check(code)
        return x

    def _solve_one(self, b: Tensor, values: Tensor, adjoint: bool, x: Tensor) -> None:
        """Write the solutions of one system to `x`."""
        solver = self._solvers[adjoint]
        with solver._lock:  # `_solve_without_copies` brings values of its own
            solver.update_values(values)
            if b.dim() != 2 or b.shape[1] <= solver.max_rhs:
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


def _vectors(tensor: Tensor) -> _library.Vectors:
    """Return vectors for the C interface."""
    if tensor.dim() == 1:
        return _library.Vectors(tensor.data_ptr(), 1, tensor.stride(0), 0)
    return _library.Vectors(tensor.data_ptr(), tensor.shape[1], *tensor.stride())


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
    """Solve for one more dimension of `b` or of `values`, or of both. `apply`: takes the arguments of the operator."""
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
    b, values, places, key, adjoint = inputs
    _keep_for_backward(ctx, b, values, places, output, _named(key), adjoint)
    ctx.save_for_forward(values, places, output)


def _keep_for_backward(
    ctx: Any, b: Tensor, values: Tensor, places: Tensor, x: Tensor, solve: TriangularSolve, adjoint: bool
) -> None:
    ctx.solve, ctx.adjoint = solve, adjoint
    ctx.are_real = not b.is_complex(), not values.is_complex()
    ctx.save_for_backward(values, places, x)


def _pulled_back(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
    """Return the gradients by `b` and by `values`: y for `b` is the solution with the adjoint, and -y x^H for the
    matrix."""
    values, places, x = ctx.saved_tensors
    solve, adjoint = ctx.solve, ctx.adjoint
    of_b = _applied(solve, gradient, values, places, not adjoint)
    of_values = None
    if ctx.needs_input_grad[1]:
        is_plain = _is_plain(of_b, x)
        rows, columns, unused = solve._entries if is_plain else (*places[:2], places[2] == 0)
        left, right = (x, of_b) if adjoint else (of_b, x)
        dim = values.dim() - 1  # the dimension of the rows
        left, right = left.index_select(dim, rows), right.index_select(dim, columns).conj()
        of_values = torch.addcmul(solve._zero if is_plain else left.new_zeros(()), left, right, value=-1)
        if of_values.dim() > values.dim():
            of_values = of_values.sum(dim=-1)
        if unused is not None:
            of_values = of_values.masked_fill(unused, 0)
        if solve._is_conjugated:
            of_values = of_values.conj()
        if ctx.are_real[1]:
            of_values = of_values.real
    return of_b.real if ctx.are_real[0] else of_b, of_values, None, None, None


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
    return _applied(ctx.solve, right, at, places, ctx.adjoint)


# Functions of PyTorch without a public name. A version that lacks one takes the operator.
_has_storage = getattr(torch._C, "_has_storage", lambda _: False)
_are_transforms_active = getattr(torch._C, "_are_functorch_transforms_active", lambda: True)
_count_modes = getattr(torch._C, "_len_torch_dispatch_stack", lambda: 1)
_is_included = getattr(torch._C, "_dispatch_tls_is_dispatch_key_included", lambda _: True)
_PRE_DISPATCH = getattr(torch._C.DispatchKey, "PreDispatch", None)
_is_tracing = getattr(torch._C, "_is_tracing", lambda: True)


def _is_plain(b: Tensor, values: Tensor) -> bool:
    """Return whether these are tensors with memory, and nobody but autograd looks at the call: no graph is made, and
    no transform of `torch.func`, derivative forward or mode is active."""
    return (
        not torch.compiler.is_compiling()
        and type(b) in (Tensor, Parameter)
        and type(values) in (Tensor, Parameter)
        and not _are_transforms_active()
        and _count_modes() == 0
        and not _is_included(_PRE_DISPATCH)
        and getattr(forward_ad, "_current_level", 0) < 0
        and not _is_tracing()
        and _has_storage(b)  # batches of gradients have none
        and _has_storage(values)
        and b.data_ptr() != 0  # 0: on the device "meta", zeros that PyTorch does not store, and without elements
        and values.data_ptr() != 0
    )


def _applied(solve: TriangularSolve, b: Tensor, values: Tensor, places: Tensor, adjoint: bool) -> Tensor:
    """Solve with derivatives.

    `torch.compile` takes those of the operator, `torch.func` those of `_Solve`. Both take PyTorch many times as long
    as a small solve, so that other calls do without.
    """
    if not _is_plain(b, values):
        apply = _triangular_solve if torch.compiler.is_compiling() else _Solve.apply
        return apply(b, values, places, solve._key, adjoint)
    if torch.is_grad_enabled() and (b.requires_grad or values.requires_grad):
        return _PlainSolve.apply(b, values, places, solve, adjoint)
    return solve._solved(b, values, adjoint)


class _PlainSolve(torch.autograd.Function):
    """The solve with derivatives backward. PyTorch has no transforms of a function with this form of `forward`."""

    @staticmethod
    def forward(ctx: Any, b: Tensor, values: Tensor, places: Tensor, solve: TriangularSolve, adjoint: bool) -> Tensor:
        x = solve._solved(b, values, adjoint)
        _keep_for_backward(ctx, b, values, places, x, solve, adjoint)
        return x

    backward = staticmethod(_pulled_back)


class _Solve(torch.autograd.Function):
    """The operator as a function with derivatives forward and backward."""

    @staticmethod
    def forward(b: Tensor, values: Tensor, places: Tensor, key: str, adjoint: bool) -> Tensor:
        solve = _solve if _is_plain(b, values) else _triangular_solve
        return solve(b, values, places, key, adjoint)

    setup_context = staticmethod(_keep)
    backward = staticmethod(_pulled_back)
    jvp = staticmethod(_pushed_forward)

    @staticmethod
    def vmap(*arguments: Any) -> tuple[Tensor, int]:
        return _mapped(_apply_named, *arguments)


def _apply_named(b: Tensor, values: Tensor, places: Tensor, key: str, adjoint: bool) -> Tensor:
    return _applied(_named(key), b, values, places, adjoint)


_Solve.forward.__signature__ = inspect.signature(_Solve.forward)  # PyTorch asks for it in each call
_triangular_solve.register_autograd(_pulled_back, setup_context=_keep)
_triangular_solve.register_vmap(functools.partial(_mapped, _triangular_solve))
