"""The Python package on the host: needs NumPy, SciPy and the shared library (SPTRSV_LIBRARY)."""

import gc
import inspect
import pickle
import threading
import unittest
from unittest import mock

import numpy as np
import scipy.sparse as sp
from scipy.sparse import linalg
from scipy.sparse.linalg import cg, gmres, spilu, splu
from scipy.sparse.linalg import spsolve_triangular as scipy_solve

import sptrsv

RANDOM = np.random.default_rng(1)
TYPES = (np.float32, np.float64, np.complex64, np.complex128)


def random_values(shape, dtype):
    values = RANDOM.uniform(-1, 1, shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * RANDOM.uniform(-1, 1, shape)
    return values.astype(dtype)


def triangle(size=40, dtype=np.float64, lower=True):
    """Return a triangle with a dominant diagonal."""
    full = sp.random(size, size, 0.2, random_state=2).toarray()
    full = (np.tril(full, -1) if lower else np.triu(full, 1)).astype(dtype)
    full[full != 0] = random_values(np.count_nonzero(full), dtype) / size
    return sp.csr_matrix(full + np.diag(1 + RANDOM.uniform(0, 1, size)).astype(dtype))


def poisson(size):
    line = sp.diags([-1, 2, -1], [-1, 0, 1], (size, size))
    return sp.csc_matrix(sp.kron(sp.eye(size), line) + sp.kron(line, sp.eye(size)))


class Analyze(unittest.TestCase):
    def test_solves_every_form_in_every_type(self):
        operations = {"N": lambda a: a, "T": lambda a: a.T, "H": lambda a: a.conj().T}
        for dtype in TYPES:
            for lower in (True, False):
                for form in ("csr", "csc"):
                    for transpose, operation in operations.items():
                        for unit in (False, True):
                            a = triangle(dtype=dtype, lower=lower).asformat(form)
                            b = random_values(a.shape[0], dtype)
                            x = sptrsv.analyze(a, lower, unit, transpose).solve(b)
                            dense = a.toarray()
                            if unit:
                                np.fill_diagonal(dense, 1)
                            self.assertEqual(x.dtype, dtype)
                            np.testing.assert_allclose(operation(dense) @ x, b, rtol=1e-4, atol=1e-5)

    def test_takes_indices_of_64_bits_and_other_formats(self):
        a = triangle()
        b = random_values(a.shape[0], np.float64)
        expected = scipy_solve(a, b)
        a.indices, a.indptr = a.indices.astype(np.int64), a.indptr.astype(np.int64)
        np.testing.assert_allclose(sptrsv.analyze(a).solve(b), expected)
        np.testing.assert_allclose(sptrsv.analyze(a.tocoo()).solve(b), expected)
        np.testing.assert_allclose(sptrsv.analyze(sp.csr_array(a)).solve(b), expected)

    def test_takes_right_hand_sides_of_any_layout(self):
        a = triangle()
        f = sptrsv.analyze(a, max_rhs=3)
        b = random_values((a.shape[0], 6), np.float64)
        expected = np.linalg.solve(a.toarray(), b)
        for layout in (np.ascontiguousarray(b[:, :3]), np.asfortranarray(b[:, :3]), b[:, :3]):
            np.testing.assert_allclose(f.solve(layout), expected[:, :3])
        np.testing.assert_allclose(f.solve(b[:, ::2]), expected[:, ::2])
        np.testing.assert_allclose(f.solve(b[:, 0]), expected[:, 0])

    def test_writes_to_out_and_multiplies_with_alpha(self):
        a = triangle()
        f = sptrsv.analyze(a)
        b = random_values(a.shape[0], np.float64)
        out = b.copy()
        self.assertIs(f.solve(out, out=out, alpha=-2), out)
        np.testing.assert_allclose(a @ out, -2 * b)
        z = triangle(dtype=np.complex128)
        np.testing.assert_allclose(z @ sptrsv.analyze(z).solve(b, alpha=1j), 1j * b)

    def test_replaces_values_and_tells_the_status(self):
        a = triangle()
        f = sptrsv.analyze(a)
        b = random_values(a.shape[0], np.float64)
        f.update_values(2 * a.data)
        np.testing.assert_allclose(2 * (a @ f.solve(b)), b)
        self.assertEqual(f.status(), ("ok", None))
        self.assertTrue(f.status().ok)
        a.setdiag(np.where(np.arange(a.shape[0]) == 7, 0, a.diagonal()))
        f.update_values(a.data)
        f.solve(b)
        self.assertEqual(f.status(), ("zero_pivot", 7))

    def test_solves_without_the_matrix(self):
        a = triangle()
        b = random_values(a.shape[0], np.float64)
        expected = scipy_solve(a, b)
        f = sptrsv.analyze(a)
        a.data[:] = np.nan
        del a
        gc.collect()
        np.testing.assert_allclose(f.solve(b), expected)

    def test_takes_the_policy_by_name(self):
        a = triangle()
        self.assertIn("host_serial", sptrsv.policy_names())
        info = sptrsv.analyze(a, policy="host_parallel workers=2").info
        self.assertEqual((info.policy, info.rows, info.entries), ("host_parallel", a.shape[0], a.nnz))
        self.assertGreater(info.solver_bytes, 0)
        self.assertTrue(info.bit_reproducible)

    def test_refuses_bad_input_with_the_row(self):
        def refused(call):
            with self.assertRaises(sptrsv.InputError) as caught:
                call()
            return caught.exception.code, caught.exception.row

        a = triangle()
        missing = a.tolil()
        missing[5, 5] = 0
        self.assertEqual(refused(lambda: sptrsv.analyze(missing.tocsr())), ("missing_diagonal", 5))
        self.assertEqual(refused(lambda: sptrsv.analyze(a[:, :3])), ("not_square", None))
        self.assertEqual(refused(lambda: sptrsv.analyze(a, policy="fast")), ("invalid_argument", None))
        f = sptrsv.analyze(a)
        self.assertEqual(refused(lambda: f.solve(np.ones((40, 2)))), ("too_many_rhs", None))
        self.assertEqual(refused(lambda: f.update_values(a.data[1:])), ("size_mismatch", None))
        broken = sp.csr_matrix((np.ones(2), [0, 9], [0, 1, 2]), shape=(2, 10))
        broken.resize(2, 10)
        self.assertEqual(refused(lambda: sptrsv.analyze(broken))[0], "not_square")

    def test_refuses_wrong_arguments(self):
        a = triangle()
        f = sptrsv.analyze(a)
        b = np.ones(40)
        for error, call in (
            (ValueError, lambda: sptrsv.analyze(a, transpose="X")),
            (TypeError, lambda: sptrsv.analyze(a.toarray())),
            (ValueError, lambda: f.solve(np.ones(39))),
            (ValueError, lambda: f.solve(np.ones((40, 1, 1)))),
            (TypeError, lambda: f.solve(b.astype(complex))),
            (TypeError, lambda: f.solve(b, alpha=1j)),
            (TypeError, lambda: f.solve(b, out=[0.0] * 40)),
            (ValueError, lambda: f.solve(b, out=np.ones(39))),
            (ValueError, lambda: f.solve(b, out=np.ones(40, np.float32))),
            (ValueError, lambda: f.update_values(np.ones((a.nnz, 1)))),
        ):
            self.assertRaises(error, call)
        read_only = np.ones(40)
        read_only.flags.writeable = False
        self.assertRaises(TypeError, lambda: f.solve(b, out=read_only))
        np.testing.assert_allclose(a @ f.solve(list(b)), b)
        np.testing.assert_allclose(a @ f.solve(np.ones(40, np.int32)), b)

    def test_solves_an_empty_system(self):
        f = sptrsv.analyze(sp.csr_matrix((0, 0)))
        self.assertEqual(f.solve(np.ones(0)).shape, (0,))


class StandIn:
    """An array with the attributes of CuPy's arrays that the package uses, in the memory of an array of NumPy."""

    __module__ = "cupy"

    def __init__(self, array):
        self.array = array
        self.data = mock.Mock(ptr=array.ctypes.data)

    def __getattr__(self, name):
        return getattr(self.array, name)


class TensorStandIn(StandIn):
    """The same for tensors of PyTorch; `conjugated`: the tensor is only marked as conjugated."""

    __module__ = "torch"
    is_cuda = True
    requires_grad = False

    def __init__(self, array, conjugated=False):
        super().__init__(array)
        self.dtype = f"torch.{array.dtype}"
        self.conjugated = conjugated

    def stride(self):
        return tuple(stride // self.array.itemsize for stride in self.array.strides)

    def is_neg(self):
        return False

    def is_conj(self):
        return self.conjugated

    def resolve_conj(self):
        return TensorStandIn(self.array.conj())

    def resolve_neg(self):
        return self

    def data_ptr(self):
        return self.array.ctypes.data

    def get_device(self):
        return 0


class ArraysOfCuPy(unittest.TestCase):
    """How a solve takes arrays in device memory: vectors without gaps pass without a full description."""

    stand_in = StandIn

    def setUp(self):
        stream = mock.Mock(ptr=0)
        module = mock.Mock(empty_like=lambda a: self.stand_in(np.empty_like(a.array)))
        module.cuda.get_current_stream = lambda: stream
        module._C._cuda_getCurrentRawStream = lambda device: 0
        patch = mock.patch.dict("sys.modules", {self.stand_in.__module__: module})
        patch.start()
        self.addCleanup(patch.stop)
        a = sp.csr_matrix(np.tril(RANDOM.uniform(1, 2, (5, 5))))
        self.f = sptrsv.analyze(a)
        self.f._on_device = True  # the library still computes on the host, where the stand-ins are
        self.b = RANDOM.uniform(-1, 1, 5)
        self.x = np.linalg.solve(a.toarray(), self.b)
        self.f.solve(self.stand_in(self.b))  # the first array of a type is described

    def test_vectors_without_gaps(self):
        with mock.patch.object(self.f, "_operands", side_effect=AssertionError("described")):
            b = self.stand_in(self.b.copy())
            np.testing.assert_allclose(self.f.solve(b).array, self.x, rtol=1e-12)
            out = self.stand_in(np.empty(5))
            self.assertIs(self.f.solve(b, out=out), out)
            np.testing.assert_allclose(out.array, self.x, rtol=1e-12)
            self.f.solve(b, out=b)
            np.testing.assert_allclose(b.array, self.x, rtol=1e-12)

    def test_other_arrays(self):
        wide = np.zeros(10)
        wide[::2] = self.b
        np.testing.assert_allclose(self.f.solve(self.stand_in(wide[::2])).array, self.x, rtol=1e-12)
        self.f.solve(self.stand_in(self.b), out=self.stand_in(wide[::2]))
        np.testing.assert_allclose(wide[::2], self.x, rtol=1e-12)
        self.assertFalse(wide[1::2].any())
        np.testing.assert_allclose(self.f.solve(self.stand_in(self.b), alpha=2).array, 2 * self.x, rtol=1e-12)
        for out in (self.stand_in(np.empty(4)), self.stand_in(np.empty(5, np.int64)), self.stand_in(np.empty((5, 1)))):
            with self.assertRaisesRegex(ValueError, "out must be"):
                self.f.solve(self.stand_in(self.b), out=out)
        with self.assertRaisesRegex(ValueError, "different memories"):
            self.f.solve(self.stand_in(self.b), out=np.empty(5))
        with self.assertRaisesRegex(ValueError, "6 rows"):
            self.f.solve(self.stand_in(np.empty(6)))
        self.f._on_device = False
        with self.assertRaisesRegex(ValueError, "host memory"):
            self.f.solve(self.stand_in(self.b))


class TensorsOfPyTorch(ArraysOfCuPy):
    """The same for tensors, and for those that are only marked as conjugated."""

    stand_in = TensorStandIn

    def test_conjugated_tensors(self):
        a = sp.csr_matrix(np.diag([1 + 1j, 2j]))
        f = sptrsv.analyze(a)
        f._on_device = True
        b = np.array([1 + 3j, 2 - 1j])
        for conjugated in (False, True):
            solution = f.solve(TensorStandIn(b, conjugated)).array
            np.testing.assert_allclose(solution, (b.conj() if conjugated else b) / a.diagonal(), rtol=1e-12)

    def test_tensors_that_need_gradients(self):
        b = TensorStandIn(self.b)
        b.requires_grad = True
        with self.assertRaisesRegex(TypeError, "gradients"):
            self.f.solve(b)


class SciPy(unittest.TestCase):
    def test_from_splu_solves_as_superlu(self):
        for dtype in (np.float64, np.complex128):
            a = poisson(12).astype(dtype)
            a.data = a.data + 0.3 * random_values(a.nnz, dtype)
            lu = splu(a)
            f = sptrsv.from_splu(lu, max_rhs=3)
            b = random_values((a.shape[0], 3), dtype)
            for trans in "NTH":
                np.testing.assert_allclose(f.solve(b, trans), lu.solve(b, trans), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(f.solve(b[:, 0]), lu.solve(b[:, 0]), rtol=1e-9, atol=1e-12)
        self.assertRaises(ValueError, lambda: f.solve(b[1:]))

    def test_splu_takes_the_place_of_scipys(self):
        for dtype in TYPES:
            for form in ("csc", "csr", "coo"):
                a = (poisson(7) + 0.1 * sp.random(49, 49, 0.1, random_state=3)).astype(dtype).asformat(form)
                expected, lu = splu(a.tocsc()), sptrsv.splu(a, max_rhs=2)
                for name in ("shape", "nnz"):
                    self.assertEqual(getattr(lu, name), getattr(expected, name))
                for name in ("perm_r", "perm_c"):
                    np.testing.assert_array_equal(getattr(lu, name), getattr(expected, name))
                for name in ("L", "U"):
                    self.assertEqual((getattr(lu, name) != getattr(expected, name)).nnz, 0)
                rows = sp.csc_array((np.ones(49), (lu.perm_r, np.arange(49))))
                columns = sp.csc_array((np.ones(49), (np.arange(49), lu.perm_c)))
                np.testing.assert_allclose((rows.T @ (lu.L @ lu.U) @ columns.T).toarray(), a.toarray(), atol=1e-5)
                for columns in (0, 1, 2, 5):  # more than max_rhs, too
                    b = random_values((49, columns), dtype)
                    for trans in "NTH":
                        x = lu.solve(b, trans)
                        self.assertEqual(x.dtype, dtype)
                        np.testing.assert_allclose(x, expected.solve(b, trans), rtol=1e-3, atol=1e-4)
                    x = lu.solve(b)
                    self.assertIs(lu.solve(b, out=b), b)
                    np.testing.assert_array_equal(b, x)
                wide = random_values((49, 8), dtype)
                x = lu.solve(wide[:, :6])
                np.testing.assert_array_equal(lu.solve(wide[:, :6], out=wide[:, 2:]), x)

    def test_splu_passes_arguments_on_and_fails_as_scipy_does(self):
        a = poisson(7)
        lu = sptrsv.splu(a, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}, relax=1)
        np.testing.assert_array_equal(lu.perm_c, np.arange(49))
        b = np.ones(49)
        np.testing.assert_allclose(lu.solve(b.astype(np.int32)), lu.solve(b))
        for error, call in (
            (RuntimeError, lambda: sptrsv.splu(sp.csc_array((3, 3)))),
            (ValueError, lambda: sptrsv.splu(a[:, 1:])),
            (ValueError, lambda: lu.solve(b, "X")),
            (ValueError, lambda: lu.solve(b[1:])),
            (TypeError, lambda: lu.solve(1j * b)),
            (TypeError, lambda: sptrsv.splu(a.toarray())),
        ):
            self.assertRaises(error, call)

    def test_factors_of_every_kind_solve(self):
        for dtype in TYPES:
            lower, upper = triangle(dtype=dtype), triangle(dtype=dtype, lower=False)
            unit = sp.tril(lower, -1) + sp.identity(40, dtype)
            diagonal = sp.diags(lower.diagonal())
            conjugate = lower.conj().T
            cases = {
                "lu": (unit @ upper, (lower, upper)),
                "cholesky": (lower @ conjugate, (lower,)),
                "ldl": (unit @ diagonal @ unit.conj().T, (lower,)),
            }
            b = random_values((40, 2), dtype)
            for kind, (a, matrices) in cases.items():
                for form in ("csr", "csc"):
                    f = sptrsv.factors(*(m.asformat(form) for m in matrices), kind=kind, transposed="H", max_rhs=2)
                    x = f.solve(b)
                    self.assertEqual(x.dtype, dtype)
                    np.testing.assert_allclose(a @ x, b, rtol=1e-3, atol=1e-5)
                    y = f.solve_transposed(b[:, 0])
                    np.testing.assert_allclose(a.conj().T @ y, b[:, 0], rtol=1e-3, atol=1e-5)
                    self.assertTrue(f.status().ok)

    def test_factors_take_orders_scalings_and_new_values(self):
        lower, upper = triangle(), triangle(lower=False)
        unit = (sp.tril(lower, -1) + sp.identity(40)).tocsr()
        rows, columns = RANDOM.permutation(40), RANDOM.permutation(40)
        row_scale, column_scale = RANDOM.uniform(1, 2, (2, 40))
        product = (unit @ upper).toarray()
        a = np.empty((40, 40))
        a[np.ix_(rows, columns)] = product
        a /= row_scale[:, np.newaxis] * column_scale
        by_columns = upper.tocsc()
        f = sptrsv.factors(
            lower,
            by_columns,  # converted: the first factor is stored by rows
            row_order=rows,
            column_order=columns,
            row_scale=row_scale,
            column_scale=column_scale,
            policy="host_serial",
        )
        b = random_values(40, np.float64)
        x = f.solve(b)
        np.testing.assert_allclose(a @ x, b)
        self.assertEqual([i.policy for i in f.info], ["host_serial"] * 2)
        f.update_values(lower.data, 2 * by_columns.data)
        self.assertIs(f.solve(b, out=b), b)
        np.testing.assert_allclose(b, x / 2)
        values = by_columns.data.copy()
        values[by_columns.indptr[8] - 1] = 0  # the diagonal of column 7 is its last entry
        f.update_values(lower.data, values)
        f.solve(random_values(40, np.float64))
        self.assertEqual(f.status(), ("zero_pivot", "second", 7))
        with self.assertRaisesRegex(ValueError, "kind is one of"):
            sptrsv.factors(lower, kind="qr")
        with self.assertRaisesRegex(ValueError, "one matrix"):
            sptrsv.factors(lower, upper, kind="cholesky")
        with self.assertRaisesRegex(ValueError, "shape"):
            sptrsv.factors(lower, upper, row_order=rows[1:])
        rows[3] = rows[4]
        with self.assertRaises(sptrsv.InputError):
            sptrsv.factors(lower, upper, row_order=rows)
        with self.assertRaisesRegex(sptrsv.InputError, "transposed"):
            f.solve_transposed(b)

    def test_incomplete_factorisations_precondition(self):
        a = poisson(20)
        b = random_values(a.shape[0], np.float64)
        plain, without_fill, with_fill, ilu_steps = [], [], [], []
        cg(a, b, callback=plain.append)
        cg(a, b, M=sptrsv.ic(a).as_linear_operator(), callback=without_fill.append)
        cg(a, b, M=sptrsv.ic(a.tocsr(), fill_level=2).as_linear_operator(), callback=with_fill.append)
        cg(a, b, M=sptrsv.ilu(a, fill_level=2).as_linear_operator(), callback=ilu_steps.append)
        self.assertLess(len(without_fill), len(plain))
        self.assertLess(len(with_fill), len(without_fill))
        self.assertLessEqual(abs(len(ilu_steps) - len(with_fill)), 1)

    def test_incomplete_factors_are_those_of_complete_fill(self):
        for dtype in TYPES:
            a = sp.csr_matrix(poisson(5).astype(dtype))
            a.eliminate_zeros()
            a.data = a.data + (0.1 * random_values(a.nnz, dtype)).astype(dtype)
            b = random_values(25, dtype)
            f = sptrsv.ilu(a, fill_level=25, transposed="T", policy="host_serial")
            self.assertGreater(f.entries, a.nnz)
            np.testing.assert_allclose(a @ f.solve(b), b, rtol=1e-3, atol=1e-4)
            np.testing.assert_allclose(a.T @ f.solve_transposed(b), b, rtol=1e-3, atol=1e-4)
            f.update_values(2 * a.data)
            np.testing.assert_allclose(2 * (a @ f.solve(b)), b, rtol=1e-3, atol=1e-4)
            self.assertEqual(f.factorization_status(), ("ok", None, 0))
            values = a.data.copy()
            values[0] = 0  # the diagonal of row 0 is its first entry
            f.update_values(values)
            self.assertEqual(f.factorization_status()[:2], ("zero_pivot", 0))
            boosted = sptrsv.ilu(type(a)((values, a.indices, a.indptr)), boost_below=1e-3, boost_to=1)
            self.assertEqual(boosted.factorization_status(), ("ok", None, 1))
        with self.assertRaisesRegex(sptrsv.InputError, "fill_level"):
            sptrsv.ic(a, fill_level=-1)

    def test_linear_operator_preconditions(self):
        a = poisson(16)
        lower = sp.tril(a, format="csr")
        forward = sptrsv.analyze(lower, max_rhs=2).as_linear_operator()
        b = random_values((a.shape[0], 5), np.float64)
        np.testing.assert_allclose(lower @ forward.matmat(b), b)
        np.testing.assert_allclose(lower @ forward.matvec(b[:, 0]), b[:, 0])
        ilu = sptrsv.from_splu(spilu(a))
        steps = []
        x, code = cg(a, b[:, 0], M=ilu.as_linear_operator(), callback=steps.append)
        self.assertEqual(code, 0)
        self.assertLess(len(steps), 20)
        np.testing.assert_allclose(a @ x, b[:, 0], atol=1e-3)

    def test_adjoints_of_solvers(self):
        for dtype in TYPES:
            for transpose, operation in (("N", lambda a: a), ("T", lambda a: a.T), ("H", lambda a: a.conj().T)):
                for options in ({"lower": False}, {"unit_diagonal": True}, {"max_rhs": 2}):
                    a = triangle(dtype=dtype, lower=options.get("lower", True)).tocoo()
                    f = sptrsv.analyze(a, transpose=transpose, adjoint=True, **options)
                    for values in (a.data, (1 + a.data).astype(dtype)):
                        f.update_values(values)
                        dense = sp.coo_array((values, (a.row, a.col)), a.shape).toarray()
                        if options.get("unit_diagonal"):
                            np.fill_diagonal(dense, 1)
                        b = random_values((40, 3), dtype)
                        adjoint = operation(dense).conj().T
                        scale = np.abs(np.linalg.inv(adjoint)).sum()
                        np.testing.assert_allclose(adjoint @ (f.as_linear_operator().H @ b), b, atol=1e-6 * scale)
                        np.testing.assert_array_equal(f.rmatvec(b), pickle.loads(pickle.dumps(f)).rmatvec(b))
        with self.assertRaisesRegex(TypeError, "adjoint=True"):
            sptrsv.analyze(a).rmatvec(b)
        with self.assertRaisesRegex(TypeError, "adjoint is True or False"):
            sptrsv.analyze(a, adjoint="H")

    def test_every_iteration_of_scipy_takes_every_object(self):
        a = sp.csr_array(poisson(8) + 0.1 * sp.eye(64))
        b = random_values(64, np.float64)
        lower = sptrsv.analyze(sp.tril(a, format="csr"), adjoint=True)
        upper = sptrsv.analyze(sp.triu(a, format="csr"), lower=False, adjoint=True)
        symmetric = {
            "ic": sptrsv.ic(a),
            "factors": sptrsv.factors(sp.csr_array(np.linalg.cholesky(a.toarray())), kind="cholesky"),
        }
        others = {
            "ilu": sptrsv.ilu(a, transposed="H"),
            "splu": sptrsv.splu(a.tocsc()),
            "lower": lower,
            "batch": sptrsv.analyze_batch(sp.identity(16, format="csr"), np.full((4, 16), 4.0)).as_linear_operator(),
        }
        tolerance = "rtol" if "rtol" in inspect.signature(cg).parameters else "tol"  # before SciPy 1.12
        common = {tolerance: 1e-10, "maxiter": 500}
        anything = ("gmres", "lgmres", "gcrotmk", "bicgstab", "cgs", "tfqmr", "bicg")
        for name, m in (symmetric | others).items():
            dense = m @ np.eye(64)
            for method in anything + (("cg", "minres") if name in symmetric else ()):
                if name == "batch" and method == "bicg":
                    continue  # a batch has no adjoint
                options = common | ({} if method == "minres" else {"atol": 0})
                expected = getattr(linalg, method)(a, b, M=dense, **options)
                for given in {id(g): g for g in (m, m.as_linear_operator() if name != "batch" else m)}.values():
                    with self.subTest(method, M=name, given=type(given).__name__):
                        x, code = getattr(linalg, method)(a, b, M=given, **options)
                        self.assertEqual(code, expected[1])
                        np.testing.assert_allclose(x, expected[0], atol=1e-7)
        x, code = linalg.qmr(a, b, M1=lower, M2=upper, atol=0, **common)
        self.assertEqual(code, 0)
        np.testing.assert_allclose(a @ x, b, atol=1e-7)
        expected = np.linalg.eigvalsh(a.toarray())[:3]
        inverse = others["splu"].as_linear_operator()
        start = random_values((64, 3), np.float64)
        for found in (
            linalg.eigsh(a, k=3, sigma=0, OPinv=inverse)[0],
            linalg.eigs(a, k=3, sigma=0, OPinv=inverse)[0].real,
            linalg.lobpcg(a, start, M=symmetric["ic"].as_linear_operator(), largest=False, tol=1e-8, maxiter=200)[0],
            1 / linalg.svds(inverse, k=3, return_singular_vectors=False),
        ):
            np.testing.assert_allclose(np.sort(found), expected, rtol=1e-6)
        self.assertAlmostEqual(linalg.onenormest(inverse), np.linalg.norm(np.linalg.inv(a.toarray()), 1))

    def test_a_batch_is_a_block_diagonal_operator(self):
        a = triangle(12)
        values = a.data * RANDOM.uniform(1, 2, (3, 1))
        blocks = sp.block_diag([sp.csr_array((v, a.indices, a.indptr)) for v in values])
        for transpose, operation in (("N", blocks), ("T", blocks.T)):
            m = sptrsv.analyze_batch(a, values, transpose=transpose, max_rhs=2).as_linear_operator()
            self.assertEqual(m.shape, (36, 36))
            for b in (random_values(36, np.float64), random_values((36, 5), np.complex128)):
                np.testing.assert_allclose(operation @ (m @ b), b)

    def test_preconditioners_of_any_type_serve_any_iteration(self):
        a = poisson(8)
        size = a.shape[0]
        tolerance = {"f": 1e-4, "d": 1e-9, "F": 1e-4, "D": 1e-9}
        for dtype in TYPES:
            of_type = sp.csr_matrix(a.astype(dtype))
            objects = {
                "ilu": sptrsv.ilu(of_type, fill_level=size, transposed="H"),
                "ilu_t": sptrsv.ilu(of_type, fill_level=size, transposed="T", max_rhs=2),
                "ic": sptrsv.ic(of_type, fill_level=size),
                "splu": sptrsv.from_splu(splu(sp.csc_matrix(of_type))),
            }
            for name, m in objects.items():
                for other in TYPES:
                    with self.subTest(name, dtype=dtype.__name__, vectors=other.__name__):
                        atol = max(tolerance[np.dtype(t).char] for t in (dtype, other))
                        b = random_values((size, 3), other)
                        operator = m.as_linear_operator()
                        for x in (operator @ b[:, 0], m @ b[:, 0], m.matvec(b[:, 0])):
                            self.assertEqual(x.dtype, np.result_type(dtype, other))
                            np.testing.assert_allclose(a @ x, b[:, 0], atol=atol)
                        np.testing.assert_allclose(a @ (m @ b), b, atol=atol)
                        np.testing.assert_allclose(a.T.conj() @ operator.rmatvec(b[:, 0]), b[:, 0], atol=atol)
                        np.testing.assert_allclose(a.T.conj() @ (operator.H @ b), b, atol=atol)
                self.assertRegex(repr(m), rf"^<sptrsv\.\w+ of {size} rows, {np.dtype(dtype)}>$")
        ones = np.ones(size)
        x, code = cg(a, ones, M=sptrsv.ic(a.astype(np.float32)))
        self.assertEqual(code, 0)
        np.testing.assert_allclose(a @ x, ones, atol=1e-3)
        x, code = gmres(a + 0.1j * sp.eye(size), ones + 1j, M=sptrsv.ilu(a))
        self.assertEqual(code, 0)
        with self.assertRaisesRegex(TypeError, "transposed"):
            sptrsv.ilu(a).rmatvec(ones)
        lu = sptrsv.from_splu(splu(a))
        self.assertTrue(lu.status().ok)
        self.assertEqual(len(lu.info), 2)

    def test_spsolve_triangular_gives_what_scipy_gives(self):
        for lower in (True, False):
            for unit in (False, True):
                for a in (triangle(lower=lower), triangle(dtype=np.float32, lower=lower).tocsc()):
                    if unit:
                        a.setdiag(1)
                    for b in (random_values(40, np.float64), random_values((40, 3), np.float64)):
                        expected = scipy_solve(a.tocsr(), b, lower, unit_diagonal=unit)
                        x = sptrsv.spsolve_triangular(a, b, lower, unit_diagonal=unit)
                        self.assertEqual(x.dtype, expected.dtype)
                        np.testing.assert_allclose(x, expected, rtol=1e-5)
        z = 1j * random_values(40, np.complex128)
        np.testing.assert_allclose(a.toarray() @ sptrsv.spsolve_triangular(a, z, lower=False), z, rtol=1e-5)

    def test_spsolve_triangular_keeps_solvers_by_pattern(self):
        sptrsv.clear_cache()
        sptrsv.set_cache_limit(2)
        self.addCleanup(sptrsv.set_cache_limit, 8)
        a = triangle()
        b = np.ones(40)
        sptrsv.spsolve_triangular(a, b)
        other = a.copy()
        other.data = other.data * 2  # another matrix of the same pattern
        np.testing.assert_allclose(other @ sptrsv.spsolve_triangular(other, b), b)
        self.assertEqual(sptrsv.cache_info(), (1, 1, 2, 1))
        sptrsv.spsolve_triangular(triangle(30), np.ones(30))
        sptrsv.spsolve_triangular(triangle(20), np.ones(20))
        self.assertEqual(sptrsv.cache_info().size, 2)
        sptrsv.spsolve_triangular(a, b)  # it was the least recently used
        self.assertEqual(sptrsv.cache_info(), (1, 4, 2, 2))
        sptrsv.set_cache_limit(0)
        self.assertEqual(sptrsv.cache_info().size, 0)
        np.testing.assert_allclose(a @ sptrsv.spsolve_triangular(a, b), b)
        sptrsv.clear_cache()
        self.assertEqual(sptrsv.cache_info(), (0, 0, 0, 0))

    def test_spsolve_triangular_sums_duplicates_and_refuses_singular_matrices(self):
        a = sp.csr_matrix((np.array([1.0, 1, 1, 4]), [0, 0, 0, 1], [0, 2, 4]), shape=(2, 2))
        np.testing.assert_array_equal(sptrsv.spsolve_triangular(a, np.array([2.0, 9])), [1, 2])
        self.assertEqual(a.nnz, 4)
        b = np.array([2.0, 9])
        self.assertIs(sptrsv.spsolve_triangular(a, b, overwrite_b=True), b)
        singular = sp.csr_matrix((np.array([1.0, 1, 0]), [0, 0, 1], [0, 1, 3]), shape=(2, 2))
        hidden = sp.csr_matrix((np.array([np.nan, 1, 0]), [0, 0, 1], [0, 1, 3]), shape=(2, 2))
        missing = sp.csr_matrix((np.array([1.0, 1]), [0, 0], [0, 1, 2]), shape=(2, 2))
        for name, matrix in (("zero", singular), ("behind a NaN", hidden), ("missing", missing)):
            for right in (b, np.ones((2, 0))):
                with self.subTest(name, shape=right.shape):
                    with self.assertRaisesRegex(np.linalg.LinAlgError, "row 1"):
                        sptrsv.spsolve_triangular(matrix, right)
                    sptrsv.spsolve_triangular(matrix, right, unit_diagonal=True)

    def test_spsolve_triangular_takes_dense_matrices_and_names_types_that_it_does_not_take(self):
        a = triangle()
        np.testing.assert_array_equal(
            sptrsv.spsolve_triangular(a.toarray(), np.ones(40)), sptrsv.spsolve_triangular(a, np.ones(40))
        )
        for matrix, right in ((a.astype(np.longdouble), np.ones(40)), (a, np.ones(40, np.longdouble))):
            with self.assertRaisesRegex(TypeError, "cannot hold"):
                sptrsv.spsolve_triangular(matrix, right)

    def test_a_new_solver_is_locked_until_its_first_solve(self):
        # Otherwise another thread might give it other values between its analysis and its first solve.
        from sptrsv import _cache

        locked = []
        insert = _cache._cache.insert

        def watch(key, solver):
            locked.append(solver._lock._is_owned())
            insert(key, solver)

        sptrsv.clear_cache()
        with mock.patch.object(_cache._cache, "insert", watch):
            sptrsv.spsolve_triangular(triangle(), np.ones(40))
        self.assertEqual(locked, [True])

    def test_threads_share_the_cache(self):
        matrices = [triangle() for _ in range(4)]
        for a in matrices[1:]:
            a.indices, a.indptr = matrices[0].indices, matrices[0].indptr
        b = np.ones(40)
        wrong = []
        sptrsv.clear_cache()

        def solve(a):
            for i in range(200):
                if i % 10 == 0:
                    sptrsv.clear_cache()
                if not np.allclose(a @ sptrsv.spsolve_triangular(a, b), b):
                    wrong.append(a)

        threads = [threading.Thread(target=solve, args=(a,)) for a in matrices]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Batches(unittest.TestCase):
    def test_solve_every_form_in_every_type(self):
        for dtype in TYPES:
            for lower in (True, False):
                for form in ("csr", "csc"):
                    for transpose, operation in (("N", lambda a: a), ("H", lambda a: a.conj().T)):
                        a = triangle(12, dtype, lower).asformat(form)
                        values = a.data * RANDOM.uniform(1, 2, (3, 1)).astype(dtype)
                        f = sptrsv.analyze_batch(a, values, lower, transpose=transpose, max_rhs=2)
                        self.assertEqual((f.batch, f.shape, f.dtype), (3, (12, 12), dtype))
                        b = random_values((3, 12, 2), dtype)
                        x = f.solve(b)
                        self.assertEqual(x.dtype, dtype)
                        for s in range(3):
                            of_system = type(a)((values[s], a.indices, a.indptr), shape=a.shape).toarray()
                            np.testing.assert_allclose(operation(of_system) @ x[s], b[s], rtol=1e-4, atol=1e-5)

    def test_take_any_layout_and_new_values(self):
        a = triangle(12)
        values = np.asfortranarray(a.data * np.array([[1.0], [2.0]]))
        f = sptrsv.analyze_batch(a, values)
        b = random_values((12, 2), np.float64).T  # the systems are columns
        expected = np.linalg.solve(a.toarray(), b.T).T / [[1], [2]]
        out = np.empty((2, 24))[:, ::2]
        self.assertIs(f.solve(b, out=out, alpha=3), out)
        np.testing.assert_allclose(out, 3 * expected)
        np.testing.assert_allclose(f.solve(np.broadcast_to(b[0], (2, 12)))[1], expected[0] / 2)
        f.update_values(values[::-1])
        np.testing.assert_allclose(f.solve(b[::-1]), expected[::-1])
        np.testing.assert_allclose(f.solve(b.astype(np.float32)[::-1]), expected[::-1], rtol=1e-5)

    def test_tell_the_system_and_the_row(self):
        a = triangle(12)
        values = np.repeat(a.data[None], 4, axis=0)
        f = sptrsv.analyze_batch(a, values)
        f.solve(np.ones((4, 12)))
        self.assertTrue(f.status().ok)
        values[2, a.indptr[6] - 1] = 0  # the diagonal of row 5 is its last entry
        f.update_values(values)
        f.solve(np.ones((4, 12)))
        self.assertEqual(f.status(), ("zero_pivot", 2, 5))
        self.assertEqual((f.info.rows, f.info.entries), (12, a.nnz))
        self.assertEqual(sptrsv.analyze_batch(a, values[:0]).solve(np.ones((0, 12))).shape, (0, 12))

    def test_refuse_wrong_shapes(self):
        a = triangle(12)
        f = sptrsv.analyze_batch(a, np.ones((2, a.nnz)))
        for b in (np.ones((2, 11)), np.ones((3, 12)), np.ones(12), np.ones((2, 12, 1, 1))):
            with self.assertRaisesRegex(ValueError, "b is of shape"):
                f.solve(b)
        with self.assertRaisesRegex(sptrsv.InputError, "max_rhs"):
            f.solve(np.ones((2, 12, 2)))
        for values in (np.ones((3, a.nnz)), np.ones(a.nnz)):
            with self.assertRaisesRegex(ValueError, "values must have"):
                f.update_values(values)
        with self.assertRaisesRegex(ValueError, "values of each system"):
            sptrsv.analyze_batch(a, np.ones((2, a.nnz + 1)))
        with self.assertRaisesRegex(sptrsv.InputError, "size|values"):
            f.update_values(np.ones((2, a.nnz - 1)))
        with self.assertRaisesRegex(sptrsv.InputError, "lanes"):
            sptrsv.analyze_batch(a, np.ones((2, a.nnz)), lanes=5)


if __name__ == "__main__":
    unittest.main()
