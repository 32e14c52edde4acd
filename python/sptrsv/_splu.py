"""Solves with the factors of SuperLU, as SciPy and CuPy have them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ._arrays import ArrayLike, MatrixLike, arange_like
from ._factors import Factors, FactorsStatus, Triangle
from ._system import Info, Operation, Operator


class SuperLU(Protocol):
    """The factors ``Pr A Pc = L U`` of SciPy or of CuPy."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def L(self) -> MatrixLike: ...
    @property
    def U(self) -> MatrixLike: ...
    @property
    def perm_r(self) -> Any: ...
    @property
    def perm_c(self) -> Any: ...


class LUSolver(Operator):
    """The system ``A x = b`` by the factors ``Pr A Pc = L U``; made by `from_splu`."""

    def __init__(self, lu: SuperLU, max_rhs: int, policy: str | None) -> None:
        if not all(hasattr(lu, name) for name in ("L", "U", "perm_r", "perm_c")):
            raise TypeError(f"the object that splu or spilu returns is needed, not {type(lu).__name__}")
        self.shape: tuple[int, int] = lu.shape
        self.max_rhs = max_rhs
        self._policy = policy
        self._lower = lu.L
        self._upper = lu.U
        self._row_order = _inverse(lu.perm_r)
        self._column_order = _inverse(lu.perm_c)
        self._factors: dict[Operation, Factors] = {"N": self._analyze("N")}
        self.dtype: np.dtype = self._factors["N"].dtype
        self._on_device = self._factors["N"]._on_device
        self._last: Operation = "N"

    def _analyze(self, trans: Operation) -> Factors:
        """Return L U, or the factors op(U) op(L) of op(A), whose rows are the columns of A."""
        lower, upper = Triangle(True, True, trans), Triangle(False, False, trans)
        in_order = [(self._lower, lower, self._row_order), (self._upper, upper, self._column_order)]
        if trans != "N":
            in_order.reverse()
        (first, first_part, row_order), (second, second_part, column_order) = in_order
        return Factors(
            first,
            second,
            triangles=(first_part, second_part),
            has_diagonal=False,
            transposed="N",
            max_rhs=self.max_rhs,
            orders=(row_order, column_order),
            scales=(None, None),
            policy=self._policy,
        )

    def solve(self, rhs: ArrayLike, trans: Operation = "N", out: Any = None) -> Any:
        """Solve ``op(A) x = rhs``, as ``scipy.sparse.linalg.SuperLU.solve``.

        Parameters
        ----------
        rhs : array of shape (n,) or (n, k)
            The right-hand sides, at most `max_rhs`, in the memory of the factors.
        trans : {"N", "T", "H"}, optional
            Solve with `A`, its transpose, or its conjugate transpose; the analysis of a transposed system is made
            in the first call that needs it.
        out : array, optional
            The solution, of the type of the factors and of the shape of `rhs`; it may be `rhs`.

        Returns
        -------
        array
            `out`, or a new array of the kind of `rhs`.
        """
        if trans not in self._factors:
            self._factors[trans] = self._analyze(trans)
        self._last = trans
        return self._factors[trans].solve(rhs, out)

    def _solve_adjoint(self, b: ArrayLike) -> Any:
        return self.solve(b, "H")

    def status(self, stream: int = 0) -> FactorsStatus:
        """Return what the last solve met. Synchronises `stream`, the address of its stream."""
        return self._factors[self._last].status(stream)

    @property
    def info(self) -> tuple[Info, Info]:
        """What the analysis of ``A`` decided for L and for U."""
        return self._factors["N"].info


def _inverse(order: Any) -> Any:
    """Return the inverse of a permutation."""
    inverse = arange_like(order)
    inverse[order] = arange_like(order)
    return inverse


def from_splu(lu: SuperLU, max_rhs: int = 1, policy: str | None = None) -> LUSolver:
    """Return a solver by the factors and both permutations of a SuperLU object.

    Parameters
    ----------
    lu : scipy.sparse.linalg.SuperLU or cupyx.scipy.sparse.linalg.SuperLU
        The result of ``splu`` or ``spilu``. The solves are in host memory with SciPy's object and in device memory
        with CuPy's.
    max_rhs : int, optional
        Largest number of right-hand sides of one solve.
    policy : str, optional
        Name and options of the policy of both triangles. For complete factors in device memory,
        ``"supernodal"`` is usually the fastest.

    Returns
    -------
    LUSolver
    """
    return LUSolver(lu, max_rhs, policy)
