"""Solves and incomplete factors of sptrsv.jax, on JAX's default device: under jit and vmap, with derivatives."""

import functools
import os
import subprocess
import sys
import threading
import unittest
from unittest import mock

import numpy as np
import scipy.sparse as sp

try:
    import jax
    import jax.export
    import jax.numpy as jnp
    from jax.experimental.sparse import BCSR
    from jax.test_util import check_grads

    import sptrsv.jax
    from sptrsv.jax import Pattern, apply, ic0, ilu0, spsolve_triangular

    jax.config.update("jax_enable_x64", True)
    GPUS = [device for device in jax.devices() if device.platform == "gpu"]
    kept = sptrsv.jax.plugin.sptrsv_jax_count  # how many analyses
except ImportError:
    jax, GPUS = None, []

import sptrsv

RANDOM = np.random.default_rng(8)
OPERATIONS = {"N": lambda a: a, "T": lambda a: a.T, "H": lambda a: a.conj().T}
SIZE = 5


def matrix(dtype=np.float64, form="csr"):
    """Return a matrix with a dominant diagonal and some entries outside both triangles of a grid."""
    a = (sp.random(SIZE, SIZE, 0.5, random_state=2).toarray() / 2 + np.diag(RANDOM.uniform(2, 3, SIZE))).astype(dtype)
    if np.dtype(dtype).kind == "c":
        a *= 1 + 0.3j
    return sp.coo_array(a).asformat(form)


def backward_error(a, x, b):
    """Return the componentwise backward error of x as a solution of a x = b, in units of rounding."""
    a, x, b = np.asarray(a), np.asarray(x), np.asarray(b)
    bound = abs(a) @ abs(x) + abs(b)
    return (abs(b - a @ x) / np.where(bound == 0, 1, bound)).max() / np.finfo(b.dtype).eps


def dense(a, values, op="N", lower=True, unit=False):
    full = type(a)((values, a.indices, a.indptr), shape=a.shape).toarray()
    part = np.tril(full) if lower else np.triu(full)
    if unit:
        np.fill_diagonal(part, 1)
    return OPERATIONS[op](part)


@unittest.skipUnless(jax, "needs JAX")
class Solves(unittest.TestCase):
    def test_every_form_with_derivatives_of_first_order(self):
        for dtype in (np.float64, np.complex128):
            for form in ("csr", "csc"):
                a = matrix(dtype, form)
                pattern = Pattern(a)
                for op in OPERATIONS:
                    for lower, unit in ((True, False), (False, True)):
                        solve = functools.partial(
                            spsolve_triangular, pattern, lower=lower, unit_diagonal=unit, transpose=op
                        )
                        b = RANDOM.uniform(-1, 1, SIZE).astype(dtype)
                        with self.subTest(form, dtype=dtype.__name__, op=op, lower=lower):
                            x = jax.jit(solve)(a.data, b)
                            self.assertEqual(x.dtype, dtype)
                            np.testing.assert_allclose(dense(a, a.data, op, lower, unit) @ x, b, rtol=1e-10)
                            check_grads(solve, (jnp.asarray(a.data), jnp.asarray(b)), order=1)

    def test_derivatives_of_second_order_and_several_right_hand_sides(self):
        a = matrix()
        solve = jax.jit(functools.partial(spsolve_triangular, Pattern(a)))
        b = RANDOM.uniform(-1, 1, (SIZE, 2))
        np.testing.assert_allclose(dense(a, a.data) @ solve(a.data, b), b, rtol=1e-10)
        check_grads(solve, (jnp.asarray(a.data), jnp.asarray(b)), order=2)

    def test_types_are_those_of_jax(self):
        a = matrix()
        pattern = Pattern(a)
        for values, b, expected in (
            (np.float32, np.float32, np.float32),
            (np.float32, np.float64, np.float64),
            (np.float64, np.int32, np.float64),
            (np.float64, np.complex64, np.complex128),
        ):
            x = spsolve_triangular(pattern, a.data.astype(values), np.ones(SIZE, b))
            self.assertEqual(x.dtype, expected)
            np.testing.assert_allclose(dense(a, a.data) @ x, np.ones(SIZE), rtol=1e-5)

    def test_vmap_over_right_hand_sides_and_values(self):
        a = matrix()
        factors = np.arange(1.0, 4)
        all_values, b = factors[:, None] * a.data, RANDOM.uniform(-1, 1, (3, SIZE))
        for op in OPERATIONS:
            solve = functools.partial(spsolve_triangular, Pattern(a), transpose=op)
            inverse = np.linalg.inv(dense(a, a.data, op))
            of_b = b @ inverse.T
            close = functools.partial(np.testing.assert_allclose, rtol=1e-10)
            with self.subTest(op):
                close(jax.vmap(solve, (None, 0))(a.data, b), of_b)
                close(jax.jit(jax.vmap(solve))(all_values, b), of_b / factors[:, None])
                close(jax.vmap(solve, (0, None))(all_values, b[0]), of_b[0] / factors[:, None])
                close(jax.vmap(solve, (0, 1), 1)(all_values, b.T), (of_b / factors[:, None]).T)
                close(jax.vmap(solve, (None, 0))(a.data, np.stack((b.T, -b.T))), np.stack((of_b.T, -of_b.T)))
                both = jax.vmap(jax.vmap(solve, (0, None)), (None, 0))(all_values, b)
                close(both, of_b[:, None] / factors[:, None])
                columns = jax.vmap(solve)(all_values, np.stack((b, 2 * b), -1))
                close(columns, np.stack((of_b, 2 * of_b), -1) / factors[:, None, None])
        solve = functools.partial(spsolve_triangular, Pattern(a))
        for axes, operands in (((0, 0), (all_values, b)), ((None, 0), (a.data, b)), ((0, None), (all_values, b[0]))):
            check_grads(jax.vmap(solve, axes), tuple(map(jnp.asarray, operands)), order=2)

    def test_gradients_of_each_system(self):
        a = matrix()
        pattern = Pattern(a)
        all_values, b = np.stack((a.data, 2 * a.data)), RANDOM.uniform(-1, 1, (2, SIZE))
        gradient = jax.grad(lambda values, b: (spsolve_triangular(pattern, values, b) ** 2).sum())
        expected = [gradient(values, right) for values, right in zip(all_values, b, strict=True)]
        np.testing.assert_allclose(jax.jit(jax.vmap(gradient))(all_values, b), expected, rtol=1e-10)

    def test_the_analysis_is_kept_by_pattern(self):
        a = matrix()
        sptrsv.jax.clear_cache()
        self.assertEqual(kept(), 0)
        for _ in range(2):
            pattern = Pattern(a.copy())
            solve = functools.partial(spsolve_triangular, pattern)
            jax.block_until_ready(jax.jit(solve)(a.data, np.ones(SIZE)))
            jax.block_until_ready(jax.jit(jax.grad(lambda v, s=solve: s(v, np.ones(SIZE)).sum()))(a.data))
        self.assertEqual(pattern, Pattern(BCSR((a.data, a.indices, a.indptr), shape=a.shape)))
        self.assertNotEqual(pattern, Pattern(a.tocsc()))
        self.assertEqual(kept(), 2)  # of the triangle and of its transpose
        jax.block_until_ready(solve(a.data.astype(np.float32), np.ones(SIZE, np.float32)))
        jax.block_until_ready(ilu0(pattern, a.data))
        self.assertEqual(kept(), 4)

    def test_analyses_that_were_dropped_are_made_again(self):
        sptrsv.jax.clear_cache()
        solves = []
        for size in range(1, 135):
            a = sp.csr_array(np.eye(size) + np.eye(size, k=-1))
            solves.append((a, jax.jit(functools.partial(spsolve_triangular, Pattern(a), a.data))))
            self.assertEqual(solves[-1][1](np.ones(size))[0], 1)
        self.assertEqual(kept(), 128)
        for a, solve in (solves[0], solves[-1]):
            np.testing.assert_allclose(a @ solve(np.ones(a.shape[0])), np.ones(a.shape[0]))
        self.assertEqual(kept(), 128)

    def test_right_hand_sides_in_several_dimensions(self):
        a = matrix()
        b = RANDOM.uniform(-1, 1, (3, SIZE, 37))
        for op in OPERATIONS:
            inverse = np.linalg.inv(dense(a, a.data, op))
            solve = functools.partial(spsolve_triangular, Pattern(a), transpose=op)
            for axis in range(3):
                mapped = jax.vmap(solve, (None, axis))(a.data, np.moveaxis(b, 0, axis))
                np.testing.assert_allclose(mapped, inverse @ b, rtol=1e-9)
            factors = np.arange(1.0, 4)
            mapped = jax.vmap(jax.vmap(solve, (None, 0)), (0, None))(factors[:, None] * a.data, b)
            np.testing.assert_allclose(mapped, inverse @ b / factors[:, None, None, None], rtol=1e-9)
        self.assertEqual(jax.vmap(solve)(np.ones((0, a.nnz)), np.ones((0, SIZE))).shape, (0, SIZE))
        self.assertEqual(solve(a.data, np.ones((SIZE, 0))).shape, (SIZE, 0))
        self.assertEqual(jax.vmap(functools.partial(ilu0, Pattern(a)))(np.ones((0, a.nnz))).shape, (0, a.nnz))
        empty = sp.csr_array((0, 0))
        self.assertEqual(spsolve_triangular(Pattern(empty), empty.data, np.ones((0, 2))).shape, (0, 2))

    def test_nothing_calls_python(self):
        a = matrix()
        pattern = Pattern(a)

        def all_of_it(values, b):
            x = apply(pattern, ilu0(pattern, values), b)
            return x + jax.vmap(functools.partial(spsolve_triangular, pattern), (0, None))(jnp.stack([values] * 2), b)

        program = jax.jit(all_of_it).lower(a.data, np.ones(SIZE))
        self.assertNotIn("callback", str(jax.make_jaxpr(all_of_it)(a.data, np.ones(SIZE))))
        self.assertNotIn("callback", program.as_text())
        for target in ("sptrsv_solve", "sptrsv_factorize"):
            self.assertIn(target, program.as_text())

    def test_programs_can_be_exported(self):
        a = matrix()
        solve = jax.jit(functools.partial(spsolve_triangular, Pattern(a)))
        checks = [jax.export.DisabledSafetyCheck.custom_call("sptrsv_solve")]
        exported = jax.export.export(solve, disabled_checks=checks)(a.data, np.ones(SIZE))
        sptrsv.jax.clear_cache()
        x = exported.call(a.data, np.ones(SIZE))
        np.testing.assert_allclose(dense(a, a.data) @ x, np.ones(SIZE), rtol=1e-10)

    def test_errors_of_the_library_are_those_of_jax(self):
        missing = sp.csr_array(([1.0, 1], [0, 0], [0, 1, 2]), shape=(2, 2))
        with mock.patch("sptrsv.jax._check"), mock.patch("sptrsv.jax._check_factorization"):
            for call in (
                lambda: spsolve_triangular(Pattern(missing), missing.data, np.ones(2)),
                lambda: ilu0(Pattern(missing), missing.data),
            ):
                for _ in range(2):  # an analysis that failed is not kept
                    with self.assertRaisesRegex(jax.errors.JaxRuntimeError, "row 1"):
                        jax.block_until_ready(call())

    def test_threads_share_an_analysis(self):
        size, count, wrong = 50_000, 4, []
        a = sp.diags([np.full(size - 1, -1.0), np.full(size, 2.0)], [-1, 0], format="csr")
        solve = functools.partial(spsolve_triangular, Pattern(a))
        executables = [jax.jit(solve), jax.jit(lambda values, b: solve(values, b))]
        expected = executables[0](a.data, np.ones(size))
        executables[1](a.data, np.ones(size))

        def run(number):
            values = jnp.asarray(a.data * (number + 1))
            for _ in range(20):
                x = executables[number % 2](values, np.ones(size)) * (number + 1)
                if abs(x - expected).max() > 1e-12:
                    wrong.append(number)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_bad_input_is_refused_before_anything_runs(self):
        a = matrix()
        missing = sp.csr_array(([1.0, 1], [0, 0], [0, 1, 2]), shape=(2, 2))
        with self.assertRaises(sptrsv.InputError) as caught:
            spsolve_triangular(Pattern(missing), missing.data, np.ones(2))
        self.assertEqual((caught.exception.code, caught.exception.row), ("missing_diagonal", 1))
        pattern = Pattern(a)
        for error, call in (
            (ValueError, lambda: spsolve_triangular(pattern, a.data[1:], np.ones(SIZE))),
            (ValueError, lambda: spsolve_triangular(pattern, a.data, np.ones(SIZE + 1))),
            (ValueError, lambda: spsolve_triangular(pattern, a.data, np.ones((SIZE, 1, 1)))),
            (ValueError, lambda: ilu0(pattern, a.data[1:])),
            (ValueError, lambda: apply(pattern, a.data, np.ones(SIZE), kind="ldl")),
            (TypeError, lambda: Pattern(a.tocoo())),
            (TypeError, lambda: Pattern(a.toarray())),
        ):
            self.assertRaises(error, call)

    def test_large_systems_in_a_loop(self):
        size = 20_000
        a = sp.diags([np.full(size - 1, -1.0), np.full(size, 2.0)], [-1, 0], format="csr")
        solve = functools.partial(spsolve_triangular, Pattern(a), a.data)
        x = jax.jit(lambda b: jax.lax.fori_loop(0, 3, lambda _, x: solve(x), b))(np.ones(size))
        np.testing.assert_allclose(a @ (a @ (a @ x)), np.ones(size), rtol=1e-10)


@unittest.skipUnless(jax, "needs JAX")
class Factors(unittest.TestCase):
    def test_incomplete_factors_are_those_of_the_library(self):
        for dtype in (np.float64, np.complex128):
            half = matrix(dtype)
            for form in ("csr", "csc"):
                a = sp.csr_array(half + half.conj().T).asformat(form)
                pattern = Pattern(a)
                b = RANDOM.uniform(-1, 1, SIZE).astype(dtype)
                for kind, factorize, expected in (("lu", ilu0, sptrsv.ilu(a)), ("cholesky", ic0, sptrsv.ic(a))):
                    with self.subTest(form, dtype=dtype.__name__, kind=kind):
                        once = functools.partial(factorize, pattern)
                        applied = functools.partial(apply, pattern, kind=kind)
                        factors = jax.jit(once)(a.data)
                        np.testing.assert_allclose(applied(factors, b), expected.solve(b), rtol=1e-10)
                        all_factors = jax.vmap(once)(np.stack((a.data, 4 * a.data)))
                        x = jax.vmap(applied, (0, None))(all_factors, b)
                        np.testing.assert_allclose(x, [expected.solve(b), expected.solve(b) / 4], rtol=1e-10)
                        check_grads(applied, (factors, jnp.asarray(b)), order=1)

    def test_preconditions_cg(self):
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (12, 12))
        a = sp.csr_array(sp.kron(sp.identity(12), line) + sp.kron(line, sp.identity(12)))
        pattern = Pattern(a)
        dense_a = jnp.asarray(a.toarray())

        @jax.jit
        def solve(values, b):
            factors = ic0(pattern, values)
            m = functools.partial(apply, pattern, factors, kind="cholesky")
            return jax.scipy.sparse.linalg.cg(lambda x: dense_a @ x, b, M=m, tol=1e-10, maxiter=40)[0]

        np.testing.assert_allclose(a @ solve(a.data, np.ones(144)), np.ones(144), atol=1e-7)

    def test_factors_have_no_derivative(self):
        a = matrix()
        pattern = Pattern(a)
        with self.assertRaises(ValueError):
            jax.grad(lambda values: ilu0(pattern, values).sum())(a.data)
        fixed = jax.grad(lambda values: ilu0(pattern, jax.lax.stop_gradient(values)).sum())(a.data)
        np.testing.assert_array_equal(fixed, np.zeros(a.nnz))


@unittest.skipUnless(jax, "needs JAX")
class Plugin(unittest.TestCase):
    def test_a_missing_library_names_the_command_that_builds_it(self):
        environment = {**os.environ, "SPTRSV_JAX_LIBRARY": "/nowhere/libsptrsv_jax.so"}
        command = [sys.executable, "-c", "import sptrsv.jax"]
        tried = subprocess.run(command, env=environment, capture_output=True, text=True)
        self.assertRegex(tried.stderr, r"ImportError: sptrsv\.jax needs /nowhere/\S+, .* pip install \./python --co")


@unittest.skipUnless(GPUS, "needs JAX and a GPU")
class OnGpus(unittest.TestCase):
    """The solves of a GPU are those of the serial solver of the host."""

    def close(self, triangle, x, b, expected):
        self.assertEqual({device.platform for device in x.devices()}, {"gpu"})
        self.assertLess(backward_error(triangle, x, b), 32)
        tolerance = 1e-4 if np.finfo(b.dtype).bits == 32 else 1e-9
        np.testing.assert_allclose(x, expected, rtol=tolerance, atol=tolerance)

    def triangle(self, size, dtype=np.float64):
        full = sp.random(size, size, 3 / size, random_state=5, format="csr") / 4 + 2 * sp.identity(size)
        return sp.csr_array(full * (1 + 0.3j if np.dtype(dtype).kind == "c" else 1)).astype(dtype)

    def test_every_form_and_type(self):
        for dtype in (np.float32, np.float64, np.complex64, np.complex128):
            for form in ("csr", "csc"):
                a = self.triangle(500, dtype).asformat(form)
                b = RANDOM.uniform(-1, 1, (500, 20)).astype(dtype)
                for op in OPERATIONS:
                    for lower, unit in ((True, False), (False, True)):
                        options = {"lower": lower, "unit_diagonal": unit, "transpose": op}
                        serial = sptrsv.analyze(a, max_rhs=20, policy="host_serial", **options)
                        solve = jax.jit(functools.partial(spsolve_triangular, Pattern(a), **options))
                        full = dense(a, a.data, op, lower, unit)
                        with self.subTest(form, dtype=dtype.__name__, **options):
                            self.close(full, solve(a.data, b), b, serial.solve(b))
                            self.close(full, solve(a.data, b[:, 0]), b[:, 0], serial.solve(b[:, 0].copy()))

    def test_vmap_over_right_hand_sides_and_values(self):
        for size in (60, 20_000):  # the latter does not fit into a block of threads
            a = self.triangle(size)
            solve = functools.partial(spsolve_triangular, Pattern(a))
            serial = sptrsv.analyze(a, policy="host_serial")
            factors = np.arange(1.0, 5)[:, None]
            b = RANDOM.uniform(-1, 1, (4, size))
            expected = np.stack([serial.solve(right) for right in b])
            np.testing.assert_allclose(jax.jit(jax.vmap(solve, (None, 0)))(a.data, b), expected, rtol=1e-9)
            systems = jax.jit(jax.vmap(solve))(factors * a.data, b)
            np.testing.assert_allclose(systems, expected / factors, rtol=1e-9)

    def test_factors(self):
        half = self.triangle(400)
        a = sp.csr_array(half + half.T)
        b = RANDOM.uniform(-1, 1, 400)
        for kind, factorize, expected in (("lu", ilu0, sptrsv.ilu(a)), ("cholesky", ic0, sptrsv.ic(a))):
            factors = jax.jit(functools.partial(factorize, Pattern(a)))(np.stack((a.data, 4 * a.data))[1])
            x = apply(Pattern(a), factors, b, kind)
            np.testing.assert_allclose(x, expected.solve(b) / 4, rtol=1e-8)
            all_factors = jax.vmap(functools.partial(factorize, Pattern(a)))(np.stack((a.data, 4 * a.data)))
            np.testing.assert_allclose(all_factors[1], factors, rtol=1e-12)

    def test_each_device_has_its_analysis(self):
        a = self.triangle(300)
        b = RANDOM.uniform(-1, 1, 300)
        expected = sptrsv.analyze(a, policy="host_serial").solve(b)
        solve = jax.jit(functools.partial(spsolve_triangular, Pattern(a)))
        sptrsv.jax.clear_cache()
        devices = [*GPUS, *jax.devices("cpu")]
        for device in devices * 2:
            x = solve(jax.device_put(a.data, device), jax.device_put(b, device))
            self.assertEqual(x.devices(), {device})
            np.testing.assert_allclose(x, expected, rtol=1e-9)
        self.assertEqual(kept(), len(GPUS) + 1)

    def test_policies_of_the_gpu(self):
        a = self.triangle(300)
        solve = functools.partial(spsolve_triangular, Pattern(a), a.data, np.ones(300))
        np.testing.assert_allclose(dense(a, a.data) @ solve(policy="dataflow path=partitioned"), 1, rtol=1e-9)
        for policy in ("dataflow path=nothing", "host_serial"):
            with self.assertRaises(jax.errors.JaxRuntimeError):
                jax.block_until_ready(solve(policy=policy))


if __name__ == "__main__":
    unittest.main()
