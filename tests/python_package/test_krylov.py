"""Krylov methods of the Python package on the host."""

import copy
import inspect
import os
import pickle
import signal
import threading
import unittest
from unittest import mock

import numpy as np
import scipy.sparse as sp
from scipy.sparse import linalg

import sptrsv

RANDOM = np.random.default_rng(6)
TYPES = (np.float32, np.float64, np.complex64, np.complex128)
METHODS = {"cg": sptrsv.cg, "bicgstab": sptrsv.bicgstab, "gmres": sptrsv.gmres}


def poisson(size, dtype=np.float64):
    line = sp.diags([-1, 2, -1], [-1, 0, 1], (size, size))
    return sp.csr_matrix(sp.kron(sp.eye(size), line) + sp.kron(line, sp.eye(size))).astype(dtype)


def convection(size, dtype=np.float64):
    """Return a matrix that is not symmetric."""
    return sp.csr_matrix(poisson(size) + sp.diags([-0.4, 0.4], [-1, 1], (size**2, size**2))).astype(dtype)


def right_side(a):
    b = RANDOM.uniform(-1, 1, a.shape[0])
    return (b + 1j * RANDOM.uniform(-1, 1, a.shape[0]) if a.dtype.kind == "c" else b).astype(a.dtype)


def residual(a, x, b):
    wide = np.result_type(a.dtype, np.float64)
    return np.linalg.norm(b - a.astype(wide) @ x.astype(wide)) / np.linalg.norm(b)


def scipy_iterations(function, a, b, rtol, **more):
    """Return how often SciPy's function calls back."""
    name = "rtol" if "rtol" in inspect.signature(function).parameters else "tol"
    calls = []
    _, code = function(a, b, atol=0, callback=calls.append, **{name: rtol}, **more)
    assert code == 0
    return len(calls)


class Solves(unittest.TestCase):
    def check(self, a, b, rtol, solved):
        """Check that x solves the system, and return what the method has reached."""
        x, info = solved
        self.assertEqual((info.reason, info.converged, int(info)), ("converged", True, 0), info)
        self.assertLessEqual(residual(a, x, b), 1.01 * rtol)
        self.assertAlmostEqual(residual(a, x, b), info.residual, delta=0.01 * rtol)
        self.assertEqual((x.dtype, x.shape), (a.dtype, b.shape))
        return info

    def test_all_types_with_and_without_a_preconditioner(self):
        for dtype in TYPES:
            rtol = 1e-4 if dtype in (np.float32, np.complex64) else 1e-9
            for index in (np.int32, np.int64):
                for name, method in METHODS.items():
                    a = poisson(15, dtype) if name == "cg" else convection(15, dtype)
                    a.indices, a.indptr = a.indices.astype(index), a.indptr.astype(index)
                    b = right_side(a)
                    m = sptrsv.ic(a) if name == "cg" else sptrsv.ilu(a)
                    with self.subTest(name, dtype=dtype, index=index):
                        plain = self.check(a, b, rtol, method(a, b, rtol=rtol))
                        helped = self.check(a, b, rtol, method(a, b, rtol=rtol, M=m))
                        self.assertLess(helped.iterations, plain.iterations)

    def test_hermitian_systems(self):
        a = poisson(12, np.complex128)
        phases = sp.diags(np.exp(1j * np.arange(a.shape[0])))
        a = sp.csr_matrix(phases @ a @ phases.conj())
        b = right_side(a)
        self.check(a, b, 1e-9, sptrsv.cg(a, b, rtol=1e-9))
        self.check(a, b, 1e-9, sptrsv.cg(a, b, rtol=1e-9, M=sptrsv.ic(a)))

    def test_takes_all_solvers_of_the_package(self):
        a = convection(12)
        b = right_side(a)
        gauss_seidel = sptrsv.analyze(a)
        both_sweeps = sptrsv.factors(sp.csr_matrix(sp.tril(a) @ sp.diags(1 / a.diagonal())), sp.triu(a, format="csr"))
        for m in (gauss_seidel, both_sweeps, sptrsv.ilu(a, 1), sptrsv.from_splu(linalg.spilu(a.tocsc()))):
            with self.subTest(m):
                plain = sptrsv.gmres(a, b, rtol=1e-8)[1].iterations
                self.assertLess(self.check(a, b, 1e-8, sptrsv.gmres(a, b, M=m, rtol=1e-8)).iterations, plain)
        exact = sptrsv.splu(a.tocsc())
        for name in ("bicgstab", "gmres"):
            self.assertEqual(self.check(a, b, 1e-8, METHODS[name](a, b, M=exact, rtol=1e-8)).iterations, 1)

    def test_takes_as_many_iterations_as_scipy(self):
        a = poisson(30)
        b = right_side(a)
        for rtol in (1e-3, 1e-6, 1e-10):
            with self.subTest(rtol=rtol):
                info = self.check(a, b, rtol, sptrsv.cg(a, b, rtol=rtol))
                self.assertLessEqual(abs(info.iterations - scipy_iterations(linalg.cg, a, b, rtol)), 2)
        m = sptrsv.ic(a)
        info = self.check(a, b, 1e-8, sptrsv.cg(a, b, rtol=1e-8, M=m))
        self.assertLessEqual(abs(info.iterations - scipy_iterations(linalg.cg, a, b, 1e-8, M=m)), 2)
        a = convection(20)
        b = right_side(a)
        info = self.check(a, b, 1e-6, sptrsv.gmres(a, b, rtol=1e-6, restart=400))
        expected = scipy_iterations(linalg.gmres, a, b, 1e-6, restart=400, callback_type="pr_norm")
        self.assertLessEqual(abs(info.iterations - expected), 2)

    def test_takes_other_formats_and_strides(self):
        a = convection(10)
        b = right_side(a)
        expected = linalg.spsolve(a.tocsc(), b)
        for form in ("csr", "csc", "coo"):
            x, info = sptrsv.gmres(a.asformat(form), b, rtol=1e-10)
            self.assertTrue(info.converged)
            np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8)
        wide = np.zeros((a.shape[0], 3))
        wide[:, 1] = b
        for right in (wide[:, 1], b[:, None], b.tolist()):
            x, _ = sptrsv.gmres(a, right, rtol=1e-10)
            self.assertEqual(x.shape, b.shape)
            np.testing.assert_allclose(x, expected, rtol=1e-6, atol=1e-8)
        x, _ = sptrsv.gmres(a, np.arange(len(b)), rtol=1e-10)  # integers, which float64 can hold
        np.testing.assert_allclose(a @ x, np.arange(len(b)), rtol=1e-6, atol=1e-6)

    def test_begins_with_x0_and_does_not_change_it(self):
        a = poisson(10)
        b = right_side(a)
        x, first = sptrsv.cg(a, b, rtol=1e-10)
        for guess in (x, x[:, None], np.repeat(x, 2)[::2]):
            kept = guess.copy()
            again, info = sptrsv.cg(a, b, x0=guess, rtol=1e-9)
            self.assertEqual(info.iterations, 0)
            np.testing.assert_array_equal(again, x)
            again[:] = 7
            np.testing.assert_array_equal(guess, kept)
        guess = np.zeros(len(b))
        self.assertEqual(sptrsv.cg(a, b, x0=guess, rtol=1e-10)[1].iterations, first.iterations)
        np.testing.assert_array_equal(guess, 0)

    def test_several_threads_share_a_preconditioner(self):
        a = poisson(25)
        m = sptrsv.ic(a)
        rights = [right_side(a) for _ in range(4)]
        found = [None] * len(rights)

        def work(place):
            found[place] = sptrsv.cg(a, rights[place], rtol=1e-9, M=m)

        threads = [threading.Thread(target=work, args=(place,)) for place in range(len(rights))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for b, solved in zip(rights, found, strict=True):
            self.check(a, b, 1e-9, solved)
        for given in (m, sptrsv.analyze(a), sptrsv.splu(a.tocsc())):
            owner = given._factors["N"] if hasattr(given, "perm_r") else given
            owner._lock = mock.MagicMock(wraps=owner._lock)
            sptrsv.bicgstab(a, rights[0], M=given)
            owner._lock.__enter__.assert_called_once()

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_child_solves_large_systems_after_its_parent(self):
        a = poisson(150)  # so many rows that several threads share the work
        b = np.ones(a.shape[0])
        expected, _ = sptrsv.cg(a, b, maxiter=5)
        child = os.fork()
        if child == 0:
            signal.alarm(30)  # ends a child that waits for ever
            os._exit(0 if np.array_equal(sptrsv.cg(a, b, maxiter=5)[0], expected) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Ends(unittest.TestCase):
    def test_tolerances_are_those_of_scipy(self):
        a = poisson(20)
        b = right_side(a)
        size = np.linalg.norm(b)
        for method in METHODS.values():
            _, info = method(a, b, rtol=0, atol=1e-3 * size)
            self.assertTrue(info.converged)
            self.assertLess(info.residual, 1e-3)
            self.assertGreater(info.residual, 1e-6)
            self.assertEqual(info.iterations, method(a, b, rtol=1e-3, atol=1e-9)[1].iterations)
            self.assertEqual(method(a, b, rtol=0, atol=2 * size)[1].iterations, 0)
        for name, method in METHODS.items():
            defaults = inspect.signature(method).parameters
            self.assertEqual((defaults["rtol"].default, defaults["atol"].default), (1e-5, 0.0))
            theirs = [p for p in inspect.signature(getattr(linalg, name)).parameters if p in defaults]
            self.assertLessEqual({"A", "b", "x0", "maxiter", "M"}, set(theirs))

    def test_no_convergence_is_an_answer(self):
        a = poisson(20)
        b = right_side(a)
        for name, method in METHODS.items():
            x, info = method(a, b, maxiter=3, **({"restart": 1} if name == "gmres" else {}))
            self.assertEqual((info.reason, info.iterations, int(info)), ("iteration_limit", 3, 3))
            self.assertFalse(info.converged)
            self.assertAlmostEqual(info.residual, residual(a, x, b), delta=1e-12)
            x, info = method(a, b, maxiter=0)
            self.assertEqual((info.reason, info.iterations, int(info)), ("iteration_limit", 0, 1))
            np.testing.assert_array_equal(x, 0)
        self.assertEqual(sptrsv.gmres(a, b, rtol=1e-12, restart=3, maxiter=2)[1].iterations, 6)  # two cycles

    def test_break_downs_are_negative(self):
        b = np.ones(100)
        a = poisson(10)
        cases = {
            "not_symmetric": (convection(10), b),
            "not_positive_definite": (-a, b),
            "not_finite": (a, np.r_[np.nan, b[1:]]),
            "breakdown": (sp.csr_matrix(np.zeros((100, 100))), b),
        }
        codes = set()
        for reason, (matrix, right) in cases.items():
            method = sptrsv.gmres if reason == "breakdown" else sptrsv.cg
            _, info = method(matrix, right)
            self.assertEqual(info.reason, reason)
            self.assertLessEqual(info.iterations, 1)
            codes.add(int(info))
        self.assertEqual((len(codes), max(codes)), (4, -1))
        self.assertNotEqual(sptrsv.cg(convection(10), b, check_symmetry=False)[1].reason, "not_symmetric")
        for method in METHODS.values():
            for matrix, right, guess in (
                (a, np.r_[b[1:], np.nan], None),
                (a, b, np.r_[np.inf, b[1:]]),
                (sp.csr_matrix(a * np.nan), b, None),
            ):
                self.assertEqual(method(matrix, right, guess)[1].reason, "not_finite")

    def test_empty_systems_and_zero(self):
        for method in METHODS.values():
            x, info = method(sp.csr_matrix((0, 0)), np.zeros(0))
            self.assertEqual((x.shape, info.reason, info.iterations), ((0,), "converged", 0))
            x, info = method(poisson(5), np.zeros(25), np.ones(25))
            self.assertEqual((info.reason, info.residual), ("converged", 0))
            np.testing.assert_array_equal(x, 0)

    def test_the_result_is_scipys_integer(self):
        _, good = sptrsv.cg(poisson(5), np.ones(25))
        _, bad = sptrsv.cg(poisson(5), np.ones(25), maxiter=2)
        self.assertTrue(good == 0 and not good and bad > 0 and bad)
        self.assertEqual(repr(bad)[:39], "KrylovInfo('iteration_limit', iteration")
        for other in (copy.deepcopy(bad), pickle.loads(pickle.dumps(bad))):
            self.assertEqual((other, other.reason, other.iterations, other.residual),
                             (2, bad.reason, 2, bad.residual))  # fmt: skip


class Refuses(unittest.TestCase):
    def test_bad_systems(self):
        a = poisson(5)
        b = np.ones(25)
        for method in METHODS.values():
            with self.assertRaises(sptrsv.InputError) as raised:
                method(a[:20], np.ones(20))
            self.assertEqual(raised.exception.code, "not_square")
            for right in (b[:24], np.ones((25, 2)), np.ones((1, 25)), 1.0):
                with self.assertRaisesRegex(ValueError, "b has the shape"):
                    method(a, right)
            with self.assertRaisesRegex(ValueError, "x0 has the shape"):
                method(a, b, b[:24])
            with self.assertRaisesRegex(TypeError, "b is of complex128, which float64 cannot hold"):
                method(a, 1j * b)
            with self.assertRaisesRegex(TypeError, "x0 is of float64, which float32 cannot hold"):
                method(a.astype(np.float32), b.astype(np.float32), b)
            with self.assertRaisesRegex(TypeError, "sparse matrix of SciPy, CuPy or PyTorch is needed"):
                method(a.toarray(), b)
            with self.assertRaisesRegex(TypeError, "the matrix is of .*, which float64 cannot hold"):
                method(a.astype(np.longdouble), b)

    def test_indices_out_of_range(self):
        a = poisson(5)
        a.indices[a.indptr[7]] = 25
        with self.assertRaises(sptrsv.InputError) as raised:
            sptrsv.cg(a, np.ones(25))
        self.assertEqual((raised.exception.code, raised.exception.row), ("index_out_of_range", 7))
        a = poisson(5)
        a.indptr[4] = 10**6
        with self.assertRaises(sptrsv.InputError) as raised:
            sptrsv.cg(a, np.ones(25))
        self.assertEqual((raised.exception.code, raised.exception.row), ("offsets_not_monotone", 4))

    def test_bad_preconditioners(self):
        a = poisson(5)
        b = np.ones(25)
        for m in (sptrsv.ic(poisson(4)), sptrsv.analyze(poisson(4)), sptrsv.splu(poisson(4).tocsc())):
            with self.assertRaisesRegex(sptrsv.InputError, "the preconditioner has 16 rows, the matrix 25"):
                sptrsv.gmres(a, b, M=m)
        with self.assertRaisesRegex(ValueError, "different types of values"):
            sptrsv.cg(a, b, M=sptrsv.ic(poisson(5, np.float32)))
        for m in (sp.eye(25), linalg.aslinearoperator(a), sptrsv.analyze_batch(a, a.data[None]), b):
            with self.assertRaisesRegex(TypeError, "M is what analyze, factors, ilu, ic or splu has returned"):
                sptrsv.cg(a, b, M=m)

    def test_bad_options(self):
        a = poisson(5)
        b = np.ones(25)
        for wrong in ({"rtol": -1}, {"atol": -1}, {"rtol": np.nan}, {"maxiter": -1}):
            for method in METHODS.values():
                with self.subTest(wrong), self.assertRaises(sptrsv.InputError) as raised:
                    method(a, b, **wrong)
                self.assertEqual(raised.exception.code, "invalid_argument")
        with self.assertRaises(sptrsv.InputError):
            sptrsv.gmres(a, b, restart=0)
        for wrong in ({"maxiter": 2.5}, {"rtol": "1e-5"}, {"check_symmetry": "no"}):
            with self.subTest(wrong), self.assertRaises(TypeError):
                sptrsv.cg(a, b, **wrong)
        self.assertTrue(sptrsv.cg(a, b, maxiter=2**60)[1].converged)
        self.assertTrue(sptrsv.gmres(a, b, restart=2**60)[1].converged)


if __name__ == "__main__":
    unittest.main()
