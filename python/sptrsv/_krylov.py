"""``cg``, ``bicgstab`` and ``gmres``: systems that are solved by a Krylov method, in one call of the library."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Any

from . import _library
from ._arrays import ArrayLike, MatrixLike, copied, empty_like
from ._factors import Factors
from ._solver import Solver
from ._splu import LUSolver
from ._system import Matrix, as_contiguous, as_matrix_has_it, flag, stream_of

Preconditioner = Solver | Factors | LUSolver
_MOST_ITERATIONS = 2**31 - 1


class KrylovInfo(int):
    """What a Krylov method has reached.

    It is the integer that SciPy's functions return, so that programs for these need no change: 0 if the method has
    converged, the number of iterations if it has not (at least 1), and a negative number if it broke down
    (``"breakdown"``, ``"not_finite"``, ``"not_symmetric"``, ``"not_positive_definite"``). Unlike SciPy's integer, it
    counts the iterations of GMRES, not its cycles, and it has these attributes:

    Attributes
    ----------
    reason : str
        What ended the method: ``"converged"``, ``"iteration_limit"``, ``"stagnation"`` (rounding errors keep the
        residual above the tolerances), ``"breakdown"`` (a divisor is 0), ``"not_finite"``, and for `cg`
        ``"not_symmetric"`` and ``"not_positive_definite"``.
    iterations : int
        The iterations that were completed.
    residual : float
        The norm of ``b - A x``, computed from the solution at the end, relative to that of ``b``.
    """

    reason: _library.KrylovReason
    iterations: int
    residual: float

    def __new__(cls, reason: _library.KrylovReason, iterations: int, residual: float) -> KrylovInfo:
        place = _library.KRYLOV_REASONS.index(reason)
        info = super().__new__(cls, 0 if place == 0 else max(iterations, 1) if place < 3 else 2 - place)
        info.reason, info.iterations, info.residual = reason, iterations, residual
        return info

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.reason, self.iterations, self.residual

    @property
    def converged(self) -> bool:
        """Whether the residual is small enough."""
        return self.reason == "converged"

    def __repr__(self) -> str:
        return f"KrylovInfo({self.reason!r}, iterations={self.iterations}, residual={self.residual:.3g})"


def cg(
    A: MatrixLike,
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
    check_symmetry: bool = True,
) -> tuple[Any, KrylovInfo]:
    """Solve ``A x = b`` by the conjugate gradient method, as ``scipy.sparse.linalg.cg``.

    The whole iteration is one call, which other threads of Python do not wait for. On a GPU nothing is launched from
    Python. No convergence is no error.

    Parameters
    ----------
    A : sparse matrix
        A Hermitian and positive definite matrix of SciPy, CuPy or PyTorch (CSR; others are converted), in host or
        device memory, where it is solved.
    b : array of shape (n,) or (n, 1)
        The right-hand side, in the memory of `A`, of a type that the type of `A` can hold.
    x0 : array of shape (n,) or (n, 1), optional
        The initial guess, which is not changed; by default 0.
    rtol, atol : float, optional
        The method has converged if ``norm(b - A x) <= max(rtol * norm(b), atol)``.
    maxiter : int, optional
        Iterations at most; by default ``10 * n``.
    M : Solver, Factors or LUSolver, optional
        The preconditioner, of the size, the type and the memory of `A`: what `ic`, `ilu`, `factors`, `splu` or
        `analyze` has returned. Hermitian and positive definite.
    check_symmetry : bool, optional
        Whether the symmetry of `A` is tested first, which takes two products.

    Returns
    -------
    x : array of shape (n,)
        The solution, of the kind of `b`.
    info : KrylovInfo
        SciPy's integer, with the attributes `reason`, `iterations`, `residual` and `converged`.

    Raises
    ------
    InputError
        If the library refuses the matrix or an option; its attribute `row` names the row.

    Examples
    --------
    >>> x, info = sptrsv.cg(A, b, M=sptrsv.ic(A), rtol=1e-8)
    >>> print(info.reason, info.iterations, info.residual)
    """
    return _solve("cg", A, b, x0, rtol, atol, maxiter, M, check_symmetry=flag(check_symmetry, "check_symmetry"))


def bicgstab(
    A: MatrixLike,
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
) -> tuple[Any, KrylovInfo]:
    """Solve ``A x = b`` by the stabilised biconjugate gradient method, as ``scipy.sparse.linalg.bicgstab``.

    `A` is any square matrix. It is preconditioned from the right. Otherwise as `cg`.
    """
    return _solve("bicgstab", A, b, x0, rtol, atol, maxiter, M)


def gmres(
    A: MatrixLike,
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Preconditioner | None = None,
) -> tuple[Any, KrylovInfo]:
    """Solve ``A x = b`` by GMRES, as ``scipy.sparse.linalg.gmres``.

    `A` is any square matrix. It is preconditioned from the right. Otherwise as `cg`.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`.
    restart : int, optional
        Iterations of a cycle; each takes the memory of one vector. By default 20, and at most n.
    maxiter : int, optional
        Cycles at most, as SciPy counts them; by default ``10 * n``.

    Returns
    -------
    x, info
        As from `cg`; ``info.iterations`` are those of all cycles.
    """
    return _solve("gmres", A, b, x0, rtol, atol, maxiter, M, restart=20 if restart is None else restart)


def _solve(
    method: _library.KrylovMethod,
    a: MatrixLike,
    b: ArrayLike,
    x0: ArrayLike | None,
    rtol: float,
    atol: float,
    maxiter: int | None,
    m: Preconditioner | None,
    restart: int = 1,
    check_symmetry: int = 0,
) -> tuple[Any, KrylovInfo]:
    matrix = Matrix(a, None, False)
    rows = matrix.shape[0]
    right = _vector(b, "b", matrix)
    if x0 is None:
        x = empty_like(right.owner)
        x[...] = 0
    else:
        x = copied(_vector(x0, "x0", matrix).owner)
    solution = as_matrix_has_it(x, "x0", matrix.dtype, matrix.on_device)
    restart = min(restart, max(rows, 1))
    steps = 10 * rows if maxiter is None else maxiter
    most = min(steps * restart, _MOST_ITERATIONS)
    m = m._factors["N"] if isinstance(m, LUSolver) else m
    if m is not None and not isinstance(m, Solver | Factors):
        raise TypeError(f"M is what analyze, factors, ilu, ic or splu has returned, not {type(m).__name__}")
    if m is not None and (m.dtype, m._on_device) != (matrix.dtype, matrix.on_device):
        raise ValueError("M and A are of different types of values or in different memories")
    handle = {"solver" if isinstance(m, Solver) else "factors": m._handle} if m is not None else {}
    options = _library.KrylovOptions(
        _library.KRYLOV_METHODS.index(method), rtol, atol, most, restart, check_symmetry, **handle
    )
    result = _library.KrylovResult()
    with m._lock if m is not None else contextlib.nullcontext():
        _library.check(
            _library.library.sptrsv_solve_krylov(
                ctypes.byref(matrix.described),
                ctypes.byref(options),
                right.address or None,
                solution.address or None,
                stream_of(right),
                ctypes.byref(result),
            )
        )
    return x, KrylovInfo(_library.KRYLOV_REASONS[result.reason], result.iterations, result.residual)


def _vector(array: Any, name: str, matrix: Matrix) -> Any:
    """Return the description of a vector of one dimension without gaps, of the type and the size of the matrix."""
    found = as_matrix_has_it(array, name, matrix.dtype, matrix.on_device)
    if found.shape not in ((matrix.shape[0],), (matrix.shape[0], 1)):
        raise ValueError(f"{name} has the shape {found.shape}, and A {matrix.shape}")
    if len(found.shape) == 2:
        found = as_matrix_has_it(found.owner[:, 0], name, matrix.dtype, matrix.on_device)
    return as_contiguous(found)
