"""Differentiable triangular solves for PyTorch; import it as ``sptrsv.torch``."""

from __future__ import annotations

from typing import Any

import torch

from ._arrays import sparse_arrays
from ._solver import analyze
from ._system import Operation

_ADJOINT: dict[Operation, Operation] = {"N": "H", "T": "N", "H": "N"}


class TriangularSolve:
    """The solve ``op(T) x = b``, whose gradients by the right-hand sides and by the values of the matrix are known.

    Parameters
    ----------
    A : torch.Tensor
        A sparse matrix (CSR or CSC; others are converted to CSR), on the GPU or on the host.
    lower, unit_diagonal, transpose, max_rhs, policy
        As for `sptrsv.analyze`.

    Examples
    --------
    >>> solve = sptrsv.torch.TriangularSolve(A)  # A: torch.sparse_csr_tensor(...)
    >>> x = solve(b, values)  # tensors that may need gradients
    >>> x.square().sum().backward()
    """

    def __init__(
        self,
        A: torch.Tensor,
        lower: bool = True,
        unit_diagonal: bool = False,
        transpose: Operation = "N",
        max_rhs: int = 1,
        policy: str | None = None,
    ) -> None:
        if not isinstance(A, torch.Tensor):
            raise TypeError(f"a sparse tensor is needed, not {type(A).__name__}")
        A = A.detach()
        stored = sparse_arrays(A)
        self.values = A._values() if A.layout == torch.sparse_coo else A.values()
        self._order = stored.order
        if stored.order is not None:
            A = torch.sparse_csr_tensor(stored.offsets, stored.indices, stored.values, size=stored.shape)
        common: dict[str, Any] = {"max_rhs": max_rhs, "policy": policy}
        self._solver = analyze(A, lower, unit_diagonal, transpose, **common)
        self._is_transposed = transpose != "N"
        self._is_conjugated = transpose == "H"
        # The adjoint of the transpose is the conjugate, and conj(T) y = g is T conj(y) = conj(g).
        self._conjugates = transpose == "T"
        self._adjoint = analyze(A, lower, unit_diagonal, _ADJOINT[transpose], **common)
        offsets, indices = stored.offsets.long(), stored.indices.long()
        lines = torch.arange(len(offsets) - 1, device=A.device).repeat_interleave(offsets.diff())
        self._rows, self._columns = (indices, lines) if stored.by_columns else (lines, indices)
        strict = self._rows > self._columns if lower else self._rows < self._columns
        self._used = strict if unit_diagonal else strict | (self._rows == self._columns)

    def __call__(self, b: torch.Tensor, values: torch.Tensor | None = None) -> torch.Tensor:
        """Solve for the right-hand sides `b` with these values of all stored entries; by default those of the last
        call that had any."""
        if values is None:
            values = self.values
        else:
            self.values = values.detach()
        return _Solve.apply(self, False, b, values if self._order is None else self._order.apply(values))

    def solve(self, b: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Solve without gradients."""
        with self._solver._lock:
            self._solver.update_values(values)
            return self._solver.solve(b)

    def solve_adjoint(self, g: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Solve with the conjugate transpose of op(T), without gradients."""
        with self._adjoint._lock:
            self._adjoint.update_values(values)
            if self._conjugates:
                return self._adjoint.solve(g.conj().resolve_conj()).conj().resolve_conj()
            return self._adjoint.solve(g)

    def gradient_of_values(self, g: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        """Return the gradient by the values for the gradient `g` by the right-hand sides and the solutions `x`."""
        left, right = (self._columns, self._rows) if self._is_transposed else (self._rows, self._columns)
        products = g[left] * x[right].conj()
        if products.dim() == 2:
            products = products.sum(dim=1)
        gradient = torch.where(self._used, -products, torch.zeros_like(products))
        return gradient.conj() if self._is_conjugated else gradient


class _Solve(torch.autograd.Function):
    """The solve with op(T), or with its conjugate transpose; each is the gradient of the other by `b`."""

    @staticmethod
    def forward(ctx: Any, solve: TriangularSolve, adjoint: bool, b: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        x = (solve.solve_adjoint if adjoint else solve.solve)(b.detach(), values.detach())
        ctx.solve, ctx.adjoint = solve, adjoint
        ctx.are_real = not b.is_complex(), not values.is_complex()
        ctx.save_for_backward(values, x)
        return x

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[None, None, torch.Tensor, torch.Tensor | None]:
        values, x = ctx.saved_tensors
        of_b = _Solve.apply(ctx.solve, not ctx.adjoint, gradient.contiguous(), values)
        left, right = (x, of_b) if ctx.adjoint else (of_b, x)
        of_values = ctx.solve.gradient_of_values(left, right) if ctx.needs_input_grad[3] else None
        gradients = zip((of_b, of_values), ctx.are_real, strict=True)
        return None, None, *(g.real if is_real and g is not None else g for g, is_real in gradients)
