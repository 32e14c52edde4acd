"""Solves with the factors of SuperLU, as SciPy and CuPy have them."""

from __future__ import annotations

import importlib
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from ._arrays import ArrayLike, HasFormat, MatrixLike, arange_like, describe
from ._factors import Factors, FactorsStatus, Triangle
from ._system import Info, Operation, Operator

Ordering = Literal["NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD"]


class SuperLU(Protocol):
    """The factors ``Pr A Pc = L U`` of SciPy or of CuPy."""

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nnz(self) -> int: ...
    @property
    def L(self) -> MatrixLike: ...
    @property
    def U(self) -> MatrixLike: ...
    @property
    def perm_r(self) -> Any: ...
    @property
    def perm_c(self) -> Any: ...


class _Parts(NamedTuple):
    """What `LUSolver` takes of a SuperLU object, which cannot be pickled."""

    shape: tuple[int, int]
    nnz: int
    L: Any
    U: Any
    perm_r: Any
    perm_c: Any


class LUSolver(Operator):
    """The system ``A x = b`` by the factors ``Pr A Pc = L U``; made by `splu` and `from_splu`.

    It has the methods and attributes of the SuperLU objects of SciPy and CuPy, and takes their place.

    Attributes
    ----------
    shape : tuple of int
        The shape of `A`.
    nnz : int
        The number of nonzero entries of L and U, as SuperLU counts them.
    L, U : sparse matrix
        The factors; the diagonal of L is ones.
    perm_r, perm_c : array of shape (n,)
        Row i of `A` is row ``perm_r[i]`` of L U, and column i of `A` is column ``perm_c[i]`` of L U.
    """

    def __init__(self, lu: SuperLU, max_rhs: int, policy: str | None) -> None:
        if not all(hasattr(lu, name) for name in _Parts._fields):
            raise TypeError(f"the object that splu or spilu returns is needed, not {type(lu).__name__}")
        self._parts = _Parts(*(getattr(lu, name) for name in _Parts._fields))
        self.shape: tuple[int, int] = lu.shape
        self.max_rhs = max_rhs
        self._policy = policy
        self._row_order = _inverse(lu.perm_r)
        self._column_order = _inverse(lu.perm_c)
        self._factors: dict[Operation, Factors] = {"N": self._analyze("N")}
        self.dtype: np.dtype = self._factors["N"].dtype
        self._on_device = self._factors["N"]._on_device
        self._last: Operation = "N"

    def __reduce__(self) -> tuple[Any, ...]:
        return LUSolver, (self._parts, self.max_rhs, self._policy)

    @property
    def nnz(self) -> int:
        return self._parts.nnz

    @property
    def L(self) -> Any:
        return self._parts.L

    @property
    def U(self) -> Any:
        return self._parts.U

    @property
    def perm_r(self) -> Any:
        return self._parts.perm_r

    @property
    def perm_c(self) -> Any:
        return self._parts.perm_c

    def _analyze(self, trans: Operation) -> Factors:
        """Return L U, or the factors op(U) op(L) of op(A), whose rows are the columns of A."""
        lower, upper = Triangle(True, True, trans), Triangle(False, False, trans)
        in_order = [(self.L, lower, self._row_order), (self.U, upper, self._column_order)]
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
            The right-hand sides, in the memory of the factors; `max_rhs` of them are solved at a time.
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
        factors = self._factors[trans]
        given = describe(rhs)
        if len(given.shape) != 2 or given.shape[1] <= self.max_rhs:
            return factors.solve(rhs, out)
        right, _, result = factors._operands(rhs, out)
        for first in range(0, given.shape[1], self.max_rhs):
            part = slice(first, first + self.max_rhs)
            factors.solve(right.owner[:, part], result[:, part])
        return result

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
        Name and options of the policy of both triangles. By default a sample of factors in device memory decides:
        ``"supernodal"``, with the backward error of direct solvers, where they have wide supernodes, and otherwise
        ``"automatic"``.

    Returns
    -------
    LUSolver
    """
    return LUSolver(lu, max_rhs, policy)


def splu(
    A: HasFormat,
    permc_spec: Ordering | None = None,
    diag_pivot_thresh: float | None = None,
    relax: int | None = None,
    panel_size: int | None = None,
    options: dict[str, Any] | None = None,
    *,
    max_rhs: int = 1,
    policy: str | None = None,
) -> LUSolver:
    """Return the LU factorisation of a sparse matrix, as ``scipy.sparse.linalg.splu``.

    SciPy, or CuPy, factorises; the solves are those of this package.

    Parameters
    ----------
    A : sparse matrix of SciPy or of CuPy
        The matrix. The factors and the right-hand sides are in the memory that it is in.
    permc_spec, diag_pivot_thresh, relax, panel_size, options
        As for SciPy's function.
    max_rhs : int, optional
        How many right-hand sides are solved at a time.
    policy : str, optional
        As for `from_splu`.

    Returns
    -------
    LUSolver

    Examples
    --------
    >>> lu = sptrsv.splu(A)
    >>> x = lu.solve(b)
    """
    module = type(A).__module__.partition(".")[0]
    if not hasattr(A, "format") or module == "torch":
        raise TypeError(f"a sparse matrix of SciPy or CuPy is needed, not {type(A).__name__}")
    linalg = importlib.import_module("cupyx.scipy.sparse.linalg" if "cupy" in module else "scipy.sparse.linalg")
    given = {
        "permc_spec": permc_spec,
        "diag_pivot_thresh": diag_pivot_thresh,
        "relax": relax,
        "panel_size": panel_size,
        "options": options,
    }
    matrix: Any = A if A.format == "csc" else A.tocsc()  # type: ignore[attr-defined]
    return LUSolver(linalg.splu(matrix, **{k: v for k, v in given.items() if v is not None}), max_rhs, policy)
