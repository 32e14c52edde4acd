#!/usr/bin/env python3
"""Times the Python package on a GPU beside CuPy: repeated solves with one triangle, and with the factors of SuperLU.

usage: python_package.py (needs CuPy, SciPy and the package sptrsv, or PYTHONPATH and SPTRSV_LIBRARY)
"""

import time

import cupy
import cupyx.scipy.sparse as cupy_sparse
import cupyx.scipy.sparse.linalg as cupy_linalg
import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import sptrsv
from sptrsv import _library


def microseconds(call, repeats=50, count=5):
    """Return the median time of a call in `count` rounds of `repeats` calls that follow each other."""
    call()
    cupy.cuda.Device().synchronize()
    rounds = []
    for _ in range(count):
        start = time.perf_counter()
        for _ in range(repeats):
            call()
        cupy.cuda.Device().synchronize()
        rounds.append((time.perf_counter() - start) / repeats * 1e6)
    return sorted(rounds)[count // 2]


def poisson(points, dimensions):
    """Return the 5-point or 7-point matrix of a grid."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (points, points))
    total = line
    for _ in range(dimensions - 1):
        total = sp.kron(total, sp.eye(points)) + sp.kron(sp.eye(total.shape[0]), line)
    return total.tocsr()


def compare_triangles():
    """Print the times of solves with the lower triangles of grids."""
    print("| lower triangle | sptrsv, us | CuPy's spsolve_triangular, us | over |\n|---|--:|--:|--:|")
    for name, matrix in (
        ("5-point 512 x 512", poisson(512, 2)),
        ("7-point 48 x 48 x 48", poisson(48, 3)),
        ("7-point 96 x 96 x 96", poisson(96, 3)),
    ):
        a = cupy_sparse.csr_matrix(sp.tril(matrix).tocsr())
        b = cupy.random.rand(a.shape[0])
        x = cupy.empty_like(b)
        f = sptrsv.analyze(a)
        ours = microseconds(lambda f=f, b=b, x=x: f.solve(b, out=x))
        theirs = microseconds(lambda a=a, b=b: cupy_linalg.spsolve_triangular(a, b), 5)
        print(f"| {name} | {ours:.1f} | {theirs:.0f} | {theirs / ours:.0f}x |")


def compare_factors():
    """Print the times of solves with complete factors: both triangles, without permutations, and CuPy's `solve`."""
    print("\n| LU factors | dataflow, us | supernodal, us | CuPy's splu(A).solve, us |\n|---|--:|--:|--:|")
    for name, matrix in (("5-point 128 x 128", poisson(128, 2)), ("7-point 24 x 24 x 24", poisson(24, 3))):
        lu = splu(matrix.tocsc())
        b = cupy.asarray(np.random.default_rng(1).uniform(-1, 1, matrix.shape[0]))
        y = cupy.empty_like(b)
        times = []
        for policy in ("dataflow", "supernodal"):
            lower = sptrsv.analyze(cupy_sparse.csr_matrix(lu.L.tocsr()), unit_diagonal=True, policy=policy)
            upper = sptrsv.analyze(cupy_sparse.csr_matrix(lu.U.tocsr()), lower=False, policy=policy)
            times.append(microseconds(lambda lo=lower, up=upper, b=b, y=y: (lo.solve(b, out=y), up.solve(y, out=y))))
        theirs = cupy_linalg.splu(cupy_sparse.csc_matrix(matrix))
        times.append(microseconds(lambda lu=theirs, b=b: lu.solve(b), 3))
        print(f"| {name} | {times[0]:.0f} | {times[1]:.0f} | {times[2]:.0f} |")


def shortest(call, repeats=2000):
    """Return the shortest mean time of a call, in microseconds, in 15 rounds of `repeats` calls."""
    return min(microseconds(call, repeats, 1) for _ in range(15))


def measure_calls():
    """Print the times of calls for a system that takes the GPU no time."""
    f = sptrsv.analyze(cupy_sparse.csr_matrix(sp.eye(32, format="csr")))
    b = cupy.ones(32)
    x = cupy.empty_like(b)
    function, handle, b_address, x_address = _library.library.sptrsv_solve, f._handle, b.data.ptr, x.data.ptr
    plain = shortest(lambda: function(handle, b_address, x_address, None))
    with_cupy = shortest(lambda: f.solve(b, out=x))
    print(f"\ncall for 32 rows: the C function {plain:.1f} us, CuPy {with_cupy:.1f} us", end="")
    try:
        import torch
    except ImportError:
        print()
        return
    right = torch.ones(32, dtype=torch.float64, device="cuda")
    solution = torch.empty_like(right)
    print(f", PyTorch {shortest(lambda: f.solve(right, out=solution)):.1f} us")


if __name__ == "__main__":
    compare_triangles()
    compare_factors()
    measure_calls()
