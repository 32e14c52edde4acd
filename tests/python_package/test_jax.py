"""Solves and incomplete factors of sptrsv.jax, on the host: under jit and vmap, with derivatives."""

import functools
import unittest

import numpy as np
import scipy.sparse as sp

try:
    import jax
    import jax.numpy as jnp
    from jax.experimental.sparse import BCSR
    from jax.test_util import check_grads

    import sptrsv.jax
    from sptrsv.jax import Pattern, apply, ic0, ilu0, spsolve_triangular

    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

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
        sptrsv.jax._solver.cache_clear()
        for _ in range(2):
            pattern = Pattern(a.copy())
            jax.jit(functools.partial(spsolve_triangular, pattern))(a.data, np.ones(SIZE))
            jax.jit(spsolve_triangular, static_argnums=0)(pattern, a.data, np.ones(SIZE))
        self.assertEqual(pattern, Pattern(BCSR((a.data, a.indices, a.indptr), shape=a.shape)))
        self.assertNotEqual(pattern, Pattern(a.tocsc()))
        self.assertEqual(sptrsv.jax._solver.cache_info().misses, 1)

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


if __name__ == "__main__":
    unittest.main()
