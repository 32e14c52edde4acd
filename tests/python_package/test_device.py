"""The Python package with arrays of CuPy and PyTorch in device memory; without a GPU or without these, nothing runs."""

import unittest

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import sptrsv

try:
    import cupy
    import cupyx.scipy.sparse as cupy_sparse
    import cupyx.scipy.sparse.linalg as cupy_linalg

    HAS_CUPY = cupy.cuda.runtime.getDeviceCount() > 0
except Exception:  # CuPy without a driver raises errors of its own
    HAS_CUPY = False
try:
    import torch

    HAS_TORCH = torch.cuda.is_available()
except ImportError:
    HAS_TORCH = False

RANDOM = np.random.default_rng(3)


def triangle(size=300, dtype=np.float64):
    """Return a lower triangle in host memory with a dominant diagonal."""
    full = np.tril(sp.random(size, size, 0.05, random_state=4).toarray(), -1) / 4
    return sp.csr_matrix((full + np.diag(1 + RANDOM.uniform(0, 1, size))).astype(dtype))


def poisson(size, dtype=np.float64):
    line = sp.diags([-1, 2, -1], [-1, 0, 1], (size, size))
    return sp.csr_matrix(sp.kron(sp.eye(size), line) + sp.kron(line, sp.eye(size))).astype(dtype)


@unittest.skipUnless(HAS_CUPY, "needs CuPy and a GPU")
class CuPy(unittest.TestCase):
    def test_solves_as_cupy_does(self):
        for dtype in (np.float32, np.float64, np.complex64, np.complex128):
            for form in (cupy_sparse.csr_matrix, cupy_sparse.csc_matrix):
                a = form(cupy_sparse.csr_matrix(triangle(dtype=dtype)))
                b = cupy.asarray(RANDOM.uniform(-1, 1, 300).astype(dtype))
                x = sptrsv.analyze(a).solve(b)
                self.assertIsInstance(x, cupy.ndarray)
                self.assertEqual(x.dtype, dtype)
                expected = cupy_linalg.spsolve_triangular(cupy_sparse.csr_matrix(a), b)
                cupy.testing.assert_allclose(x, expected, rtol=1e-4, atol=1e-5)

    def test_takes_vectors_with_and_without_gaps(self):
        a = triangle()
        f = sptrsv.analyze(cupy_sparse.csr_matrix(a))
        wide = cupy.asarray(RANDOM.uniform(-1, 1, 600))
        b = wide[::2].copy()
        expected = np.linalg.solve(a.toarray(), cupy.asnumpy(b))
        for _ in range(2):  # the second time without a full description
            for right in (b, wide[::2]):
                np.testing.assert_allclose(cupy.asnumpy(f.solve(right)), expected, rtol=1e-10, atol=1e-12)
                for out in (cupy.empty(300), cupy.empty(600)[::2]):
                    self.assertIs(f.solve(right, out=out), out)
                    np.testing.assert_allclose(cupy.asnumpy(out), expected, rtol=1e-10, atol=1e-12)
        self.assertIs(f.solve(b, out=b), b)
        np.testing.assert_allclose(cupy.asnumpy(b), expected, rtol=1e-10, atol=1e-12)

    def test_solves_transposes_and_several_right_hand_sides(self):
        a = triangle()
        f = sptrsv.analyze(cupy_sparse.csr_matrix(a), transpose="T", max_rhs=3)
        b = RANDOM.uniform(-1, 1, (300, 3))
        expected = np.linalg.solve(a.toarray().T, b)
        for order in "CF":
            x = f.solve(cupy.array(b, order=order))
            np.testing.assert_allclose(cupy.asnumpy(x), expected, rtol=1e-10, atol=1e-12)

    def test_enqueues_on_the_current_stream(self):
        a = triangle()
        f = sptrsv.analyze(cupy_sparse.csr_matrix(a))
        b = RANDOM.uniform(-1, 1, 300)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            right = cupy.asarray(b) * 2
            x = f.solve(right, alpha=0.5)
            x = x + 1
        stream.synchronize()
        np.testing.assert_allclose(cupy.asnumpy(x) - 1, np.linalg.solve(a.toarray(), b), rtol=1e-10, atol=1e-12)

    def test_takes_new_values_and_reports_a_zero_pivot(self):
        a = triangle()
        on_device = cupy_sparse.csr_matrix(a)
        f = sptrsv.analyze(on_device)
        b = cupy.asarray(RANDOM.uniform(-1, 1, 300))
        before = f.solve(b)
        f.update_values(on_device.data * 2)
        cupy.testing.assert_allclose(f.solve(b), before / 2, rtol=1e-12)
        self.assertTrue(f.status().ok)
        values = on_device.data.copy()
        values[int(a.indptr[8]) - 1] = 0  # the diagonal of row 7 is its last entry
        f.update_values(values)
        f.solve(b)
        self.assertEqual((f.status().kind, f.status().row), ("zero_pivot", 7))

    def test_complete_factors_with_wide_supernodes_take_supernodal(self):
        dense = RANDOM.uniform(-1, 1, (300, 300)) + 300 * np.eye(300)
        for a, policy in ((dense, "supernodal"), (triangle() + np.eye(300), "automatic")):
            f = sptrsv.from_splu(cupy_linalg.SuperLU(splu(sp.csc_matrix(a))))
            self.assertEqual([info.policy for info in f.info], [policy] * 2)
            b = RANDOM.uniform(-1, 1, 300)
            x = cupy.asnumpy(f.solve(cupy.asarray(b)))
            np.testing.assert_allclose(np.asarray(a) @ x, b, rtol=1e-9, atol=1e-9)
        f = sptrsv.from_splu(cupy_linalg.SuperLU(splu(sp.csc_matrix(dense))), policy="dataflow")
        self.assertEqual([info.policy for info in f.info], ["dataflow"] * 2)

    def test_factors_of_superlu_solve_as_scipy_does(self):
        a = sp.csc_matrix(triangle() + sp.random(300, 300, 0.02, random_state=5))
        host = splu(a)
        for policy in (None, "supernodal"):
            f = sptrsv.from_splu(cupy_linalg.SuperLU(host), max_rhs=2, policy=policy)
            b = RANDOM.uniform(-1, 1, (300, 2))
            for trans in "NTH":
                x = f.solve(cupy.asarray(b), trans)
                self.assertIsInstance(x, cupy.ndarray)
                np.testing.assert_allclose(cupy.asnumpy(x), host.solve(b, trans), rtol=1e-9, atol=1e-11)

    def test_factors_with_scalings_report_the_row(self):
        lower = triangle()
        scale = RANDOM.uniform(1, 2, 300)
        f = sptrsv.factors(cupy_sparse.csr_matrix(lower), kind="cholesky", row_scale=cupy.asarray(scale))
        b = RANDOM.uniform(-1, 1, 300)
        dense = lower.toarray()
        expected = np.linalg.solve(dense @ dense.T, scale * b)
        np.testing.assert_allclose(cupy.asnumpy(f.solve(cupy.asarray(b))), expected, rtol=1e-9, atol=1e-11)
        values = lower.data.copy()
        values[lower.indptr[8] - 1] = 0  # the diagonal of row 7 is its last entry
        f.update_values(cupy.asarray(values))
        f.solve(cupy.asarray(b))
        self.assertEqual(f.status(), ("zero_pivot", "first", 7))

    def test_incomplete_factors_on_the_device(self):
        line = sp.diags([-1.0, 2.0, -1.0], [-1, 0, 1], (17, 17))
        a = sp.csr_matrix(sp.kron(sp.eye(17), line) + sp.kron(line, sp.eye(17)) + 0.1 * sp.eye(289))
        b = RANDOM.uniform(-1, 1, 289)
        for level in (0, 1):
            for function in (sptrsv.ilu, sptrsv.ic):
                host = function(a, fill_level=level)
                f = function(cupy_sparse.csr_matrix(a), fill_level=level)
                self.assertEqual(f.entries, host.entries)
                x = f.solve(cupy.asarray(b))
                np.testing.assert_allclose(cupy.asnumpy(x), host.solve(b), rtol=1e-10, atol=1e-12)
                f.update_values(cupy.asarray(2 * a.data))
                half = f.solve(cupy.asarray(b))
                np.testing.assert_allclose(2 * cupy.asnumpy(half), host.solve(b), rtol=1e-10, atol=1e-12)
                self.assertTrue(f.factorization_status().ok)

    def test_batches(self):
        a = triangle(100)
        for form in (cupy_sparse.csr_matrix, cupy_sparse.csc_matrix):
            on_device = form(cupy_sparse.csr_matrix(a))
            factor = cupy.asarray(RANDOM.uniform(1, 2, (50, 1)))
            f = sptrsv.analyze_batch(on_device, on_device.data * factor, max_rhs=2)
            b = RANDOM.uniform(-1, 1, (50, 100, 2))
            expected = np.linalg.solve(a.toarray(), b) / cupy.asnumpy(factor)[:, :, None]
            for right in (cupy.asarray(b), cupy.asarray(np.moveaxis(b, 0, 2).copy()).transpose(2, 0, 1)):
                x = f.solve(right)
                self.assertIsInstance(x, cupy.ndarray)
                np.testing.assert_allclose(cupy.asnumpy(x), expected, rtol=1e-10, atol=1e-12)
            self.assertTrue(f.status().ok)
            f.update_values(2 * on_device.data * factor)
            x = f.solve(cupy.asarray(b[:, :, 0]), alpha=2)
            np.testing.assert_allclose(cupy.asnumpy(x), expected[:, :, 0], rtol=1e-10, atol=1e-12)
        values = cupy.repeat(cupy.asarray(a.data)[None], 3, axis=0)
        values[1, int(a.indptr[8]) - 1] = 0  # the diagonal of row 7 is its last entry
        f = sptrsv.analyze_batch(cupy_sparse.csr_matrix(a), values)
        f.solve(cupy.ones((3, 100)))
        self.assertEqual(f.status(), ("zero_pivot", 1, 7))

    def test_linear_operator_preconditions(self):
        a = sp.csr_matrix(sp.diags([-1.0, 2.5, -1.0], [-1, 0, 1], (300, 300)))
        f = sptrsv.analyze(cupy_sparse.csr_matrix(sp.tril(a).tocsr()), max_rhs=2).as_linear_operator()
        b = cupy.asarray(RANDOM.uniform(-1, 1, (300, 3)))
        self.assertIsInstance(f, cupy_linalg.LinearOperator)
        lower = cupy_sparse.csr_matrix(sp.tril(a).tocsr())
        cupy.testing.assert_allclose(lower @ f.matmat(b), b, rtol=1e-10, atol=1e-12)
        x, code = cupy_linalg.gmres(cupy_sparse.csr_matrix(a), b[:, 0], rtol=1e-8, M=f)
        self.assertEqual(code, 0)
        np.testing.assert_allclose(a @ cupy.asnumpy(x), cupy.asnumpy(b[:, 0]), atol=1e-6)

    def test_refuses_arrays_of_the_other_memory(self):
        f = sptrsv.analyze(cupy_sparse.csr_matrix(triangle()))
        with self.assertRaisesRegex(ValueError, "device memory"):
            f.solve(np.ones(300))

    def test_krylov_methods_solve_as_on_the_host(self):
        for dtype in (np.float32, np.float64, np.complex64, np.complex128):
            a = poisson(30, dtype)
            there = cupy_sparse.csr_matrix(a)
            b = RANDOM.uniform(-1, 1, 900).astype(dtype)
            on_device = cupy.asarray(b)
            rtol = 1e-4 if dtype in (np.float32, np.complex64) else 1e-9
            for name in ("cg", "bicgstab", "gmres"):
                for make in (lambda m: None, sptrsv.ic, lambda m: sptrsv.ilu(m, 1)):
                    method = getattr(sptrsv, name)
                    x, info = method(there, on_device, rtol=rtol, M=make(there))
                    _, expected = method(a, b, rtol=rtol, M=make(a))
                    with self.subTest(name, dtype=dtype):
                        self.assertIsInstance(x, cupy.ndarray)
                        self.assertTrue(info.converged, info)
                        self.assertLessEqual(abs(info.iterations - expected.iterations), 2 + info.iterations // 4)
                        left = np.linalg.norm(b - a @ cupy.asnumpy(x)) / np.linalg.norm(b)
                        self.assertLessEqual(left, 1.05 * rtol)

    def test_krylov_methods_use_the_current_stream_and_keep_x0(self):
        a = poisson(30)
        b = RANDOM.uniform(-1, 1, 900)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            there = cupy_sparse.csr_matrix(a)
            guess = cupy.asarray(b) * 2
            x, info = sptrsv.cg(there, cupy.asarray(b) * 2, x0=guess, M=sptrsv.ic(there), rtol=1e-10)
            self.assertTrue(info.converged)
            np.testing.assert_allclose(cupy.asnumpy(guess), 2 * b)
            np.testing.assert_allclose(a @ cupy.asnumpy(x), 2 * b, rtol=1e-8, atol=1e-8)
            self.assertEqual(sptrsv.cg(there, cupy.asarray(b) * 2, x0=x, rtol=1e-9)[1].iterations, 0)

    def test_krylov_methods_refuse_what_is_elsewhere(self):
        a = poisson(5)
        there = cupy_sparse.csr_matrix(a)
        b = cupy.ones(25)
        with self.assertRaisesRegex(ValueError, "different memories"):
            sptrsv.cg(there, b, M=sptrsv.ic(a))
        with self.assertRaisesRegex(ValueError, "b must be in device memory"):
            sptrsv.cg(there, np.ones(25))
        with self.assertRaisesRegex(ValueError, "x0 must be in device memory"):
            sptrsv.cg(there, b, np.ones(25))
        with self.assertRaisesRegex(sptrsv.InputError, "16 rows, the matrix 25"):
            sptrsv.cg(there, b, M=sptrsv.ic(cupy_sparse.csr_matrix(poisson(4))))
        there.indices[3] = 25
        row = np.searchsorted(a.indptr, 3, side="right") - 1
        with self.assertRaises(sptrsv.InputError) as raised:
            sptrsv.cg(there, b)
        self.assertEqual((raised.exception.code, raised.exception.row), ("index_out_of_range", row))
        b[7] = np.nan
        self.assertEqual(sptrsv.gmres(cupy_sparse.csr_matrix(a), b)[1].reason, "not_finite")


@unittest.skipUnless(HAS_TORCH, "needs PyTorch and a GPU")
class PyTorch(unittest.TestCase):
    def test_solves_matrices_by_rows_and_by_columns(self):
        a = triangle()
        b = torch.tensor(RANDOM.uniform(-1, 1, 300), device="cuda")
        expected = np.linalg.solve(a.toarray(), b.cpu().numpy())
        dense = torch.tensor(a.toarray(), device="cuda")
        for form in (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_coo()):
            x = sptrsv.analyze(form).solve(b)
            self.assertTrue(x.is_cuda)
            np.testing.assert_allclose(x.cpu().numpy(), expected, rtol=1e-10, atol=1e-12)

    def test_enqueues_on_the_current_stream_and_in_place(self):
        a = triangle()
        f = sptrsv.analyze(torch.tensor(a.toarray(), device="cuda").to_sparse_csr())
        b = RANDOM.uniform(-1, 1, 300)
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            x = torch.tensor(b, device="cuda")
            self.assertIs(f.solve(x, out=x), x)
        stream.synchronize()
        np.testing.assert_allclose(x.cpu().numpy(), np.linalg.solve(a.toarray(), b), rtol=1e-10, atol=1e-12)

    def test_takes_tensors_in_host_memory_and_conjugated_ones(self):
        a = triangle(dtype=np.complex128)
        b = torch.tensor(RANDOM.uniform(-1, 1, 300) + 1j * RANDOM.uniform(-1, 1, 300))
        expected = np.linalg.solve(a.toarray(), np.conj(b.numpy()))
        for where in ("cpu", "cuda"):
            f = sptrsv.analyze(torch.tensor(a.toarray(), device=where).to_sparse_csr())
            x = f.solve(b.to(where).conj())
            np.testing.assert_allclose(x.resolve_conj().cpu().numpy(), expected, rtol=1e-10, atol=1e-12)

    def test_krylov_methods(self):
        a = poisson(20)
        b = RANDOM.uniform(-1, 1, 400)
        for where in ("cpu", "cuda"):
            there = torch.tensor(a.toarray(), device=where).to_sparse_csr()
            guess = torch.ones(400, device=where, dtype=torch.float64)
            x, info = sptrsv.cg(there, torch.tensor(b, device=where), guess, M=sptrsv.ic(there), rtol=1e-10)
            self.assertTrue(info.converged and x.device.type == where and bool((guess == 1).all()))
            np.testing.assert_allclose(a @ x.cpu().numpy(), b, rtol=1e-8, atol=1e-8)

    def test_gradients_of_values_and_right_hand_sides(self):
        from sptrsv.torch import TriangularSolve

        for where in ("cpu", "cuda"):
            for dtype in (np.float64, np.complex128):
                for lower in (True, False):
                    for unit in (False, True):
                        for transpose in "NTH":
                            a = triangle(size=12, dtype=dtype).toarray() + np.eye(12)
                            a = torch.tensor(a + a.T / 3, device=where)
                            if dtype == np.complex128:
                                a = a * (1 + 0.5j)
                            form = a.to_sparse_csc() if unit else a.to_sparse_csr()
                            solve = TriangularSolve(form, lower, unit, transpose, max_rhs=2)
                            b = torch.randn(12, 2, dtype=a.dtype, device=where, requires_grad=True)
                            values = form.values().detach().clone().requires_grad_()
                            self.assertTrue(torch.autograd.gradcheck(solve, (b, values)))
                            alone = torch.randn(12, dtype=a.dtype, device=where, requires_grad=True)
                            self.assertTrue(torch.autograd.gradcheck(solve, (alone,)))

    def test_batches(self):
        a = triangle(100)
        on_device = torch.tensor(a.toarray(), device="cuda").to_sparse_csr()
        values = on_device.values() * torch.arange(1, 11, device="cuda", dtype=torch.float64)[:, None]
        b = torch.tensor(RANDOM.uniform(-1, 1, (10, 100)), device="cuda")
        x = sptrsv.analyze_batch(on_device, values).solve(b)
        expected = np.linalg.solve(a.toarray(), b.cpu().numpy().T).T / np.arange(1, 11)[:, None]
        np.testing.assert_allclose(x.cpu().numpy(), expected, rtol=1e-10, atol=1e-12)

    def test_refuses_tensors_that_need_gradients(self):
        f = sptrsv.analyze(torch.tensor(triangle().toarray(), device="cuda").to_sparse_csr())
        with self.assertRaisesRegex(TypeError, "detach"):
            f.solve(torch.ones(300, device="cuda", dtype=torch.float64, requires_grad=True))


if __name__ == "__main__":
    unittest.main()
