"""``python -m sptrsv.advise matrix.mtx``: tries preconditioners on a system, and prints what each of them takes.

The matrix is in a file of the format Matrix Market, the right-hand side in such a file or in one of ``numpy.save``; by
default it is random. The systems are solved on the GPU where CuPy finds one, otherwise on the host.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse as sp

import sptrsv

from . import _library

GOAL = 1e-8  # residual, relative to the norm of b


class Candidate(NamedTuple):
    """A preconditioner: its name, what makes it for A, and this as text."""

    name: str
    make: Callable[[Any], Any]
    text: str


class Trial(NamedTuple):
    """What a preconditioner takes; times are in seconds."""

    candidate: Candidate
    setup: float
    iterations: int
    each: float  # time of one iteration
    needed: float  # iterations to the goal: made, or estimated; infinity if they are not known
    remark: str

    @property
    def total(self) -> float:
        """The time of the set-up and of all iterations."""
        return self.setup + self.needed * self.each


def on_device(a: sp.csr_matrix, b: np.ndarray) -> tuple[Any, Any, str, Callable[[], object]]:
    """Return the system where it is solved, the text that loads a matrix there, and what waits for the work."""
    try:
        import cupy
        import cupyx.scipy.sparse

        if _library.HAS_CUDA and cupy.cuda.runtime.getDeviceCount() > 0:
            return (
                cupyx.scipy.sparse.csr_matrix(a),
                cupy.asarray(b),
                "import cupyx.scipy.sparse, scipy.io, sptrsv.advise\n"
                "A = cupyx.scipy.sparse.csr_matrix(scipy.io.mmread({!r}))",
                cupy.cuda.Device().synchronize,
            )
    except Exception:  # CuPy without a driver raises errors of its own
        pass
    return a, b, "import scipy.io, sptrsv.advise\nA = scipy.io.mmread({!r}).tocsr()", lambda: None


def _parts(a: Any) -> tuple[Any, Any]:
    """Return the diagonal of A, and the functions of its sparse matrices."""
    module = sp if isinstance(a, sp.spmatrix) else sys.modules["cupyx.scipy.sparse"]
    diagonal = a.diagonal()
    if not (diagonal != 0).all():
        raise ValueError("a diagonal entry is zero")
    return diagonal, module


def jacobi(a: Any) -> Any:
    """Return the diagonal of A as a preconditioner."""
    diagonal, module = _parts(a)
    return sptrsv.analyze(module.diags(diagonal, format="csr"))


def ssor(a: Any) -> Any:
    """Return (D + L) D^-1 (D + U) as a preconditioner: a forward and a backward sweep of Gauss-Seidel."""
    diagonal, module = _parts(a)
    return sptrsv.factors((module.tril(a) @ module.diags(1 / diagonal)).tocsr(), module.triu(a, format="csr"))


def candidates(is_hermitian: bool) -> list[Candidate]:
    """Return the preconditioners that are tried."""
    own = [
        Candidate("none", lambda _: None, "None"),
        Candidate("Jacobi", jacobi, "sptrsv.advise.jacobi(A)"),
        Candidate("SSOR", ssor, "sptrsv.advise.ssor(A)"),
    ]
    if is_hermitian:
        return [
            *own,
            Candidate("IC(0)", sptrsv.ic, "sptrsv.ic(A)"),
            Candidate("IC(1)", lambda a: sptrsv.ic(a, 1), "sptrsv.ic(A, fill_level=1)"),
        ]
    return [
        *own,
        Candidate("ILU(0)", sptrsv.ilu, "sptrsv.ilu(A)"),
        Candidate("ILU(1)", lambda a: sptrsv.ilu(a, 1), "sptrsv.ilu(A, fill_level=1)"),
    ]


def solve(method: str, a: Any, b: Any, m: Any, iterations: int) -> tuple[Any, sptrsv.KrylovInfo]:
    """Solve for a limited number of iterations; those of GMRES are cycles of up to 20."""
    if method == "cg":
        return sptrsv.cg(a, b, rtol=GOAL, maxiter=iterations, M=m)
    return sptrsv.gmres(a, b, rtol=GOAL, maxiter=math.ceil(iterations / 20), restart=min(20, iterations), M=m)


def attempt(candidate: Candidate, method: str, a: Any, b: Any, limit: int, wait: Callable[[], object]) -> Trial:
    """Try a preconditioner for `limit` iterations. What runs first is not timed: it loads kernels."""
    nothing = Trial(candidate, 0, 0, 0, math.inf, "")
    try:
        solve(method, a, b, candidate.make(a), 1)
        wait()
        start = time.perf_counter()
        m = candidate.make(a)
        wait()
        setup = time.perf_counter() - start
        start = time.perf_counter()
        _, info = solve(method, a, b, m, limit)
        took = time.perf_counter() - start
    except (sptrsv.Error, ValueError) as error:
        return nothing._replace(remark=str(error))
    each = took / max(info.iterations, 1)
    needed = math.inf
    remark: str = info.reason
    if info.converged:
        needed = info.iterations
    elif info.reason == "iteration_limit" and info.residual < 0.9:
        needed, remark = info.iterations * math.log(GOAL) / math.log(info.residual), "estimated"
    return Trial(candidate, setup, info.iterations, each, needed, remark)


def advise(path: str, a: Any, b: np.ndarray, limit: int = 200) -> str:
    """Return the table and the advice as text, for a matrix that was read from `path`."""
    dtype = np.result_type(a.dtype, b.dtype, np.float64)
    a = sp.csr_matrix(a, dtype=dtype)
    is_hermitian = abs(a - a.conj().T).max() <= 1e-12 * abs(a).max()
    there, right, text, wait = on_device(a, b.astype(dtype))
    method = "cg" if is_hermitian and (a.diagonal().real > 0).all() else "gmres"
    trials = [attempt(c, method, there, right, limit, wait) for c in candidates(method == "cg")]
    if method == "cg" and trials[0].remark == "not_positive_definite":
        method = "gmres"
        trials = [attempt(c, method, there, right, limit, wait) for c in candidates(False)]
    lines = [
        f"{a.shape[0]} rows, {a.nnz} entries, {'' if is_hermitian else 'not '}symmetric; {method}, "
        f"{'on the host' if there is a else 'on the GPU'}",
        f"{'M':8}{'set-up, ms':>12}{'iterations':>12}{'each, ms':>10}{f'to {GOAL:g}, ms':>15}  remark",
    ]
    for t in trials:
        total = f"{1e3 * t.total:.1f}" if math.isfinite(t.needed) else "-"
        lines.append(
            f"{t.candidate.name:8}{1e3 * t.setup:12.2f}{t.iterations:12}{1e3 * t.each:10.3f}{total:>15}  {t.remark}"
        )
    best = min(trials, key=lambda t: t.total if math.isfinite(t.needed) else math.inf)
    if not math.isfinite(best.needed):
        return "\n".join([*lines, "", "None of them helps: try splu, or another order or scaling of the rows."])
    iterations = f", maxiter={math.ceil(2 * best.needed)}" if best.remark == "estimated" and method == "cg" else ""
    lines += [
        "",
        text.format(path),
        f"M = {best.candidate.text}",
        f"x, info = sptrsv.{method}(A, b, M=M, rtol={GOAL:g}{iterations})",
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    """Read the files, and print the advice."""
    parser = argparse.ArgumentParser(prog="python -m sptrsv.advise", description="Finds a preconditioner for a matrix.")
    parser.add_argument("matrix", help="a file of the format Matrix Market")
    parser.add_argument("--rhs", help="the right-hand side, of the same format or of numpy.save (.npy); else random")
    parser.add_argument("--limit", type=int, default=200, help="iterations of each trial (default: %(default)s)")
    given = parser.parse_args(arguments)
    a = scipy.io.mmread(given.matrix)
    if given.rhs is None:
        b = np.random.default_rng(1).uniform(-1, 1, a.shape[0])
    else:
        b = np.load(given.rhs) if given.rhs.endswith(".npy") else scipy.io.mmread(given.rhs)
        b = np.asarray(b.todense() if sp.issparse(b) else b).reshape(-1)
    if a.shape != (len(b), len(b)):
        parser.error(f"the matrix has the shape {a.shape}, and the right-hand side {b.shape}")
    print(advise(given.matrix, a, b, given.limit))


if __name__ == "__main__":
    main()
