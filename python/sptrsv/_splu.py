"""Solves with the factors of SciPy's SuperLU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._solver import Solver, analyze


class LUSolver:
    """The system ``A x = b`` by the factors ``Pr A Pc = L U``; made by `from_splu`."""

    def __init__(self, lu: Any, max_rhs: int, policy: str | None) -> None:
        self.shape: tuple[int, int] = lu.shape
        self.max_rhs = max_rhs
        self._policy = policy
        self._lower = lu.L
        self._upper = lu.U
        self._row_order = np.asarray(lu.perm_r)
        self._column_order = np.asarray(lu.perm_c)
        self._solvers: dict[str, tuple[Solver, Solver]] = {"N": self._analyze("N")}
        self.dtype: np.dtype = self._solvers["N"][0].dtype

    def _analyze(self, trans: str) -> tuple[Solver, Solver]:
        common = {"transpose": trans, "max_rhs": self.max_rhs, "policy": self._policy}
        return (
            analyze(self._lower, lower=True, unit_diagonal=True, **common),
            analyze(self._upper, lower=False, **common),
        )

    def solve(self, rhs: Any, trans: str = "N") -> np.ndarray:
        """Solve ``op(A) x = rhs``, as ``scipy.sparse.linalg.SuperLU.solve``.

        Parameters
        ----------
        rhs : array of shape (n,) or (n, k)
            The right-hand sides, at most `max_rhs`.
        trans : {"N", "T", "H"}, optional
            Solve with `A`, its transpose, or its conjugate transpose; the analysis of a transposed system is made
            in the first call that needs it.

        Returns
        -------
        numpy.ndarray
        """
        if trans not in self._solvers:
            self._solvers[trans] = self._analyze(trans)
        lower, upper = self._solvers[trans]
        rhs = np.asarray(rhs)
        if rhs.ndim not in (1, 2) or rhs.shape[0] != self.shape[0]:
            raise ValueError(f"rhs has the shape {rhs.shape}, the system has {self.shape[0]} rows")
        x = np.empty(rhs.shape, self.dtype)
        if trans == "N":
            x[self._row_order] = rhs
            upper.solve(lower.solve(x, out=x), out=x)
            return x[self._column_order]
        x[self._column_order] = rhs
        lower.solve(upper.solve(x, out=x), out=x)
        return x[self._row_order]


def from_splu(lu: Any, max_rhs: int = 1, policy: str | None = None) -> LUSolver:
    """Return a solver by the factors and both permutations of a SuperLU object.

    Parameters
    ----------
    lu : scipy.sparse.linalg.SuperLU
        The result of ``scipy.sparse.linalg.splu`` or ``spilu``.
    max_rhs : int, optional
        Largest number of right-hand sides of one solve.
    policy : str, optional
        Name and options of the policy of both triangles.

    Returns
    -------
    LUSolver
    """
    return LUSolver(lu, max_rhs, policy)
