#!/usr/bin/env python3
"""Times the Python package beside CuPy, JAX and PyTorch: their own way and ours in the same run, one table for each.

usage: python_package.py [--quick] [--matrix FILE] (needs SciPy and the package sptrsv, or PYTHONPATH and
SPTRSV_LIBRARY). A part whose package is missing is skipped with a sentence. Solutions are compared; the exit status
is 1 if one is wrong. Without a GPU, PyTorch and JAX run on the host.
"""

import argparse
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

import sptrsv
from sptrsv import _library

missing = {}  # why a package cannot be used
try:
    import cupy
    import cupyx.scipy.sparse as cupy_sparse
    import cupyx.scipy.sparse.linalg as cupy_linalg

    if not cupy.is_available():
        missing["cupy"] = "CuPy finds no GPU"
except ImportError as error:
    missing["cupy"] = error
try:
    import jax
    import jax.numpy as jnp
    from jax.experimental.sparse.linalg import spsolve

    import sptrsv.jax
except ImportError as error:
    missing["jax"] = error
try:
    import torch

    import sptrsv.torch
except ImportError as error:
    missing["torch"] = error

DENSE_BYTES = 1 << 30  # larger dense matrices are left out
RANDOM = np.random.default_rng(1)

wrong = []  # what the comparisons found
left_out = {}  # functions of other packages, and why


def mean_time(call, wait, repeats):
    """Return the mean time of calls that follow each other, in microseconds. `wait` takes the result of the last
    call, and returns when it is there."""
    start = time.perf_counter()
    for _ in range(repeats):
        result = call()
    wait(result)
    return (time.perf_counter() - start) / repeats * 1e6


def microseconds(call, wait):
    """Return the median time of a call in 5 rounds of up to 50 calls, or the time of one call if that takes more than
    half a second. Without a call, return None."""
    if not call:
        return None
    wait(call())
    once = mean_time(call, wait, 1)
    repeats = max(1, min(50, int(2e4 / once)))
    return once if once > 5e5 else sorted(mean_time(call, wait, repeats) for _ in range(5))[2]


def compare(what, *solutions):
    """Note whether two solutions, arrays of any of the packages, differ by more than rounding."""
    x, y = (np.asarray(s.get() if hasattr(s, "get") else s.cpu() if hasattr(s, "cpu") else s) for s in solutions)
    difference = np.abs(x - y).max() / np.abs(y).max() if x.shape == y.shape else np.inf
    if not difference <= 1e-9:  # not a number is wrong, too
        wrong.append(f"{what}: {difference:.1e} from the other solution, relative to its largest component")


def where_possible(name, call, wait):
    """Return a call of another package, or None if it raises an error, which is printed at the end."""
    try:
        wait(call())
    except RuntimeError as error:
        left_out[name] = str(error).split(". ")[0].splitlines()[0]
        return None
    return call


def print_heading(*columns):
    print("\n| " + " | ".join(columns) + " |\n|---" + "|--:" * (len(columns) - 1) + "|")


def print_row(name, *values):
    """Print a row of a table. Values: numbers, or None."""
    cells = ("-" if v is None else f"{v:,}" if isinstance(v, int) else f"{v:,.{1 if v < 1000 else 0}f}" for v in values)
    print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def poisson(points, dimensions=2):
    """Return the 5-point or 7-point matrix of a grid."""
    line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (points, points))
    total = line
    for _ in range(dimensions - 1):
        total = sp.kron(total, sp.eye(points)) + sp.kron(sp.eye(total.shape[0]), line)
    return total.tocsr()


def grids(*shapes):
    """Return pairs of a name and a matrix."""
    return [(f"{2 * d + 1}-point {' x '.join([str(n)] * d)}", poisson(n, d)) for n, d in shapes]


def synchronise_cupy(_):
    cupy.cuda.Device().synchronize()


def compare_triangles(arguments):
    """CuPy: the solve with one triangle."""
    print_heading("CuPy, lower triangle", "sptrsv, us", "spsolve_triangular, us")
    for name, matrix in grids((64, 2)) if arguments.quick else grids((512, 2), (48, 3), (96, 3)):
        a = cupy_sparse.csr_matrix(sp.tril(matrix).tocsr())
        b = cupy.asarray(RANDOM.uniform(-1, 1, a.shape[0]))
        x = cupy.empty_like(b)
        calls = partial(sptrsv.analyze(a).solve, b, out=x), partial(cupy_linalg.spsolve_triangular, a, b)
        print_row(name, *(microseconds(call, synchronise_cupy) for call in calls))
        compare(f"CuPy, triangle, {name}", x, calls[1]())


def compare_factors(arguments):
    """CuPy: SuperLU on the host, and solves with both factors and its permutations on the GPU."""
    systems = grids((32, 2)) if arguments.quick else grids((128, 2), (192, 2), (24, 3))
    if arguments.matrix:
        systems.append((Path(arguments.matrix).stem, sp.csr_matrix(scipy.io.mmread(arguments.matrix), dtype=float)))
    ours = "sptrsv.splu, ms", "its solve, us", 'with policy="dataflow", us', 'with "supernodal", us'
    print_heading("CuPy, splu(A).solve(b)", "rows", "entries of L and U", *ours, "CuPy's splu, ms", "its solve, us")
    for name, matrix in [*grids((8, 2)), *systems]:  # the first calls load kernels
        a = cupy_sparse.csc_matrix(matrix.tocsc())
        b = cupy.asarray(RANDOM.uniform(-1, 1, a.shape[0]))
        made, times = [], []
        for make in (sptrsv.splu, cupy_linalg.splu):
            start = time.perf_counter()
            made.append(make(a))
            synchronise_cupy(None)
            times.append((time.perf_counter() - start) * 1e3)
        policies = "dataflow", "supernodal"
        made += [sptrsv.from_splu(made[1], policy=policy) for policy in policies]
        solves = [microseconds(partial(lu.solve, b), synchronise_cupy) for lu in made]
        if len(b) > 64:
            print_row(name, a.shape[0], int(made[1].nnz), times[0], solves[0], *solves[2:], times[1], solves[1])
        x = made[1].solve(b)
        compare(f"CuPy, splu, {name}", made[0].solve(b), x)
        for policy, lu in zip(policies, made[2:], strict=True):
            compare(f"CuPy, {policy}, {name}", lu.solve(b), x)


def compare_jax(arguments):
    """JAX: batches of right-hand sides, and of systems with one pattern, under jit. Its spsolve has no rule for vmap:
    jax.lax.map solves one after the other, so that fewer show the time of each."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the other packages need memory, too
    jax.config.update("jax_enable_x64", True)
    count, mapped = (20, 5) if arguments.quick else (1000, 100)
    peers = "dense solve_triangular under vmap, us", f"spsolve under lax.map (batches of {mapped}), us"
    devices = {d.platform: d for d in (jax.devices()[0], jax.devices("cpu")[0])}
    print_heading(f"JAX, batches of {count:,}, time a system", "rows", "sptrsv under vmap, us", *peers)
    for platform, (name, matrix) in ((d, g) for d in devices for g in grids((16, 2), (32, 2))):
        a = sp.tril(matrix).tocsr()
        size = len(a.indptr) - 1
        indices, offsets = a.indices.astype(np.int32), a.indptr.astype(np.int32)
        ours = partial(sptrsv.jax.spsolve_triangular, sptrsv.jax.Pattern(a))
        dense = partial(jax.scipy.linalg.solve_triangular, lower=True)
        b = RANDOM.uniform(-1, 1, (count, size))
        for kind, values, axis in (
            ("right-hand sides", a.data, None),
            ("sets of values", a.data * RANDOM.uniform(0.9, 1.1, (count, a.nnz)), 0),
        ):
            with jax.default_device(devices[platform]):
                v, rights = jnp.asarray(values), jnp.asarray(b)

                def solve_one(k, v=v, b=rights, indices=indices, offsets=offsets):
                    return spsolve(v if v.ndim == 1 else v[k], indices, offsets, b[k], reorder=0)

                calls = [partial(jax.jit(jax.vmap(ours, (axis, 0))), v, rights), None]
                if values.size // a.nnz * size**2 * 8 <= DENSE_BYTES:
                    full = np.zeros((*values.shape[:-1], size, size))
                    full[..., np.repeat(np.arange(size), np.diff(a.indptr)), a.indices] = values
                    calls[1] = partial(jax.jit(jax.vmap(dense, (axis, 0))), jnp.asarray(full), rights)
                one_by_one = partial(jax.jit(partial(jax.lax.map, solve_one)), jnp.arange(mapped))
                calls.append(where_possible(f"jax's spsolve on {platform}", one_by_one, jax.block_until_ready))
                times = [microseconds(call, jax.block_until_ready) for call in calls]
                of_one = (t and t / k for t, k in zip(times, (count, count, mapped), strict=True))
                print_row(f"{kind}, {platform}, {name}", size, *of_one)
                solution = calls[0]()
                for x in (call() for call in calls[1:] if call):
                    compare(f"JAX, {kind}, {platform}, {name}", solution[: len(x)], x)


def compare_torch(arguments):
    """PyTorch: a solve, and a solve with gradients by the right-hand side and by the values."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = (lambda _: torch.cuda.synchronize()) if device == "cuda" else (lambda _: None)
    warnings.filterwarnings("ignore", "torch.triangular_solve is deprecated|Sparse ")

    def solve_csr(b, tensor):
        return torch.triangular_solve(b[:, None], tensor, upper=False)[0][:, 0]

    def solve_dense(b, full):
        return torch.linalg.solve_triangular(full, b[:, None], upper=False)[:, 0]

    def gradients(solve, b, values):
        b, values = b.detach().requires_grad_(), values.detach().requires_grad_()
        return torch.autograd.grad(solve(b, values).square().sum(), (b, values))

    peers = "triangular_solve (CSR), us", "sparse.spsolve (CSR), us", "dense solve_triangular, us"
    with_gradients = "sptrsv with gradients, us", "dense with gradients, us"
    print_heading(f"PyTorch, {device}, lower triangle", "sptrsv, us", *peers, *with_gradients)
    for name, matrix in grids((16, 2), (32, 2)) if arguments.quick else grids((32, 2), (64, 2), (512, 2)):
        a = sp.tril(matrix).tocsr()
        size = len(a.indptr) - 1
        host = a.indptr, a.indices, a.data, RANDOM.uniform(-1, 1, size)
        offsets, indices, values, b = (torch.tensor(x, device=device) for x in host)
        tensor = torch.sparse_csr_tensor(offsets, indices, values, a.shape)
        solve = sptrsv.torch.TriangularSolve(tensor)
        full = tensor.to_dense() if size**2 * 8 <= DENSE_BYTES else None
        calls = [
            partial(solve, b, values),
            where_possible(f"torch.triangular_solve (CSR, {device})", partial(solve_csr, b, tensor), wait),
            where_possible(f"torch.sparse.spsolve ({device})", partial(torch.sparse.spsolve, tensor, b), wait),
            None if full is None else partial(solve_dense, b, full),
            partial(gradients, solve, b, values),
            None if full is None else partial(gradients, solve_dense, b, full),
        ]
        print_row(name, *(microseconds(call, wait) for call in calls))
        for x in (call() for call in calls[1:4] if call):
            compare(f"PyTorch, {name}", calls[0](), x)
        if full is not None:
            (of_b, of_values), (of_b_dense, of_full) = calls[4](), calls[5]()
            compare(f"PyTorch, gradient by b, {name}", of_b, of_b_dense)
            lines = np.repeat(np.arange(size), np.diff(a.indptr))
            compare(f"PyTorch, gradient by the values, {name}", of_values, of_full.cpu()[lines, a.indices])


def measure_calls(arguments):
    """Print the times of calls for a system that takes no time, on the GPU if CuPy finds one, else on the host."""
    matrix, xp, wait, address, device = sp.eye(32, format="csr"), np, lambda _: None, lambda x: x.ctypes.data, "cpu"
    if "cupy" not in missing:
        xp, wait, address, device = cupy, synchronise_cupy, lambda x: x.data.ptr, "cuda"
        matrix = cupy_sparse.csr_matrix(matrix)
    f = sptrsv.analyze(matrix)
    b = 1 + xp.arange(32.0)
    x, y = xp.empty_like(b), xp.empty_like(b)
    plain = partial(_library.library.sptrsv_solve, f._handle, address(b), address(x), None)
    calls = {"the C function": plain, xp.__name__: partial(f.solve, b, out=y)}
    solutions = [y]
    if "torch" not in missing and (device == "cpu" or torch.cuda.is_available()):
        right = torch.arange(1.0, 33, dtype=torch.float64, device=device)
        solutions.append(torch.empty_like(right))
        calls["torch"] = partial(f.solve, right, out=solutions[-1])
    if "jax" not in missing and (device == "cpu" or jax.devices()[0].platform == "gpu"):
        jax.config.update("jax_enable_x64", True)
        eye = sp.eye(32, format="csr")
        operands = jax.device_put((eye.data, np.arange(1.0, 33)), jax.devices("gpu" if device == "cuda" else "cpu")[0])
        solve = jax.jit(partial(sptrsv.jax.spsolve_triangular, sptrsv.jax.Pattern(eye)))
        update = partial(_library.library.sptrsv_update_values, f._handle, address(matrix.data), 32, None)
        calls["the C functions with new values"] = lambda: (update(), plain())
        calls["jax with new values"] = partial(solve, *operands)
        calls["jax.jit without a solve"] = partial(jax.jit(jnp.add), *operands)
        solutions.append(solve(*operands))
    shortest = {
        name: min(mean_time(call, wait, 100 if arguments.quick else 2000) for _ in range(15))
        for name, call in calls.items()
    }
    print("\ncall for 32 rows, us: " + ", ".join(f"{name} {t:.1f}" for name, t in shortest.items()))
    for solution in solutions:
        compare("call for 32 rows", solution, x)


def measure_torch_calls(arguments):
    """PyTorch: the times of calls of a TriangularSolve that takes no time, beside what PyTorch takes for less."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    wait = (lambda _: torch.cuda.synchronize()) if device == "cuda" else (lambda _: None)
    warnings.filterwarnings("ignore", "Sparse ")
    size, count = 32, 4
    a = torch.eye(size, dtype=torch.float64, device=device).to_sparse_csr()
    solve = sptrsv.torch.TriangularSolve(a, max_rhs=count)
    values, b = a.values().clone(), torch.arange(1.0, size + 1, dtype=torch.float64, device=device)
    rights, all_values = b.expand(count, size).contiguous(), values.expand(count, size).contiguous()
    columns, x = rights.T.contiguous(), torch.empty_like(b)
    parameters = b.clone().requires_grad_(), values.clone().requires_grad_()
    ones = torch.ones_like(b)
    handle = solve._solvers[False]._handle

    def c_functions():
        _library.library.sptrsv_update_values(handle, values.data_ptr(), size, None)
        _library.library.sptrsv_solve(handle, b.data_ptr(), x.data_ptr(), None)

    def without_gradients():
        with torch.no_grad():
            return solve(*parameters)

    def gradients(call):
        return torch.autograd.grad(call(*parameters), parameters, ones)

    @torch.library.custom_op("sptrsv_benchmark::copy", mutates_args=())
    def custom_op(b: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(b)

    class Function(torch.autograd.Function):
        @staticmethod
        def forward(ctx, b, values):
            ctx.save_for_backward(b, values)
            return torch.empty_like(b)

        @staticmethod
        def backward(ctx, gradient):
            return ctx.saved_tensors

    class MappedFunction(torch.autograd.Function):
        @staticmethod
        def forward(b, values):
            return torch.empty_like(b)

        @staticmethod
        def setup_context(ctx, operands, output):
            pass

        @staticmethod
        def vmap(_, in_dims, b, values):
            return torch.empty_like(b), 0

    calls = {
        "the C functions": c_functions,
        "torch.empty_like": partial(torch.empty_like, b),
        "an empty custom_op": partial(custom_op, b, values),
        "solve": partial(solve, b, values),
        "solve of parameters under no_grad": without_gradients,
        f"solve of {count} right-hand sides": partial(solve, columns, values),
        "an empty autograd.Function, forward": partial(Function.apply, *parameters),
        "solve, forward": partial(solve, *parameters),
        "an empty autograd.Function and its gradients": partial(gradients, Function.apply),
        "torch.mul and its gradients": partial(gradients, torch.mul),
        "solve and its gradients": partial(gradients, solve),
        "torch.vmap of torch.mul": partial(torch.vmap(torch.mul), rights, all_values),
        "torch.vmap of an empty autograd.Function": partial(torch.vmap(MappedFunction.apply), rights, all_values),
        "torch.vmap of solve, over right-hand sides": partial(torch.vmap(solve, (0, None)), rights, values),
        "torch.vmap of solve, over values": partial(torch.vmap(solve), rights, all_values),
    }
    print_heading(f"PyTorch {torch.__version__}, {device}, a call for {size} rows", "us")
    for name, call in calls.items():
        print_row(name, min(mean_time(call, wait, 100 if arguments.quick else 1000) for _ in range(15)))
    compare("PyTorch, call", solve(b, values), b)
    compare("PyTorch, gradient by the values", gradients(solve)[1], -b)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small systems and batches")
    parser.add_argument("--matrix", metavar="FILE", help="a Matrix Market file that CuPy factorises, too")
    arguments = parser.parse_args()
    start = time.perf_counter()
    parts = {compare_triangles: "cupy", compare_factors: "cupy", compare_jax: "jax", compare_torch: "torch"}
    for part, package in {**parts, measure_calls: "numpy", measure_torch_calls: "torch"}.items():
        if package in missing:
            print(f"\n{part.__name__} is skipped: {missing[package]}.")
        else:
            part(arguments)
    print(f"\n{time.perf_counter() - start:.0f} s; {len(wrong)} solutions are wrong")
    for sentence in (*wrong, *(f"{name} is left out: {why}." for name, why in left_out.items())):
        print(sentence)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
