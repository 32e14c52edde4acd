"""No input loses precision without an error, and several threads may use one object."""

import os
import signal
import threading
import unittest
from unittest import mock

import numpy as np
import scipy.sparse as sp

import sptrsv
from sptrsv._arrays import describe

try:
    import torch
except ImportError:
    torch = None

RANDOM = np.random.default_rng(6)
SIZE = 200


class Casts(unittest.TestCase):
    def test_lossy_casts_are_errors_and_byte_order_is_converted(self):
        a = sp.csr_array(np.tril(RANDOM.uniform(1, 2, (3, 3))))
        ones = np.ones(3)
        for dtype in ("f4", "f8", "c8", "c16"):
            with self.subTest(dtype, what="byte order"):
                swapped = a.astype(dtype)
                swapped.data = swapped.data.astype(np.dtype(dtype).newbyteorder())
                f = sptrsv.analyze(swapped)
                self.assertEqual(f.dtype, np.dtype(dtype))
                b = (ones + (1j if dtype[0] == "c" else 0)).astype(dtype)
                np.testing.assert_allclose(f.solve(b.astype(b.dtype.newbyteorder())), f.solve(b))
        for values in (a.data.astype(np.longdouble), a.data.astype(np.clongdouble), a.data.astype(object)):
            other = sp.csr_array(a)
            other.data = values
            with self.subTest(values.dtype), self.assertRaisesRegex(TypeError, "cannot hold"):
                sptrsv.analyze(other)
        for name in ("row_scale", "column_scale"):
            for scale in (1j * ones, ones.astype(np.longdouble), np.array(["1"] * 3)):
                with self.subTest(name, dtype=scale.dtype), self.assertRaises(TypeError):
                    sptrsv.factors(a, **{name: scale})
        for name in ("row_order", "column_order"):
            for order in ([0.9, 1.2, 2], [True, False, True], [2**32, 1, 2], np.array([2**64 - 1, 1, 2], np.uint64)):
                with self.subTest(name, order=str(order)), self.assertRaises((TypeError, ValueError)):
                    sptrsv.factors(a, **{name: order})

    def test_integers_out_of_range_are_errors(self):
        a = sp.csr_array(np.tril(RANDOM.uniform(1, 2, (3, 3))))
        batch = np.stack([a.data] * 2)
        for number in (2**64 + 1, -(2**64) + 1, 2**63):
            calls = {
                "analyze": lambda n: sptrsv.analyze(a, max_rhs=n),
                "factors": lambda n: sptrsv.factors(a, max_rhs=n),
                "ilu": lambda n: sptrsv.ilu(a, fill_level=n),
                "batch": lambda n: sptrsv.analyze_batch(a, batch, max_rhs=n),
                "lanes": lambda n: sptrsv.analyze_batch(a, batch, lanes=n),
            }
            for name, call in calls.items():
                with self.subTest(name, number=number), self.assertRaisesRegex(OverflowError, str(number)):
                    call(number)
        with self.assertRaisesRegex(OverflowError, str(2**32 + 4)):
            sptrsv.analyze_batch(a, batch, lanes=2**32 + 4)

    def test_numbers_that_the_type_cannot_hold_are_errors(self):
        a = sp.csr_array(np.tril(RANDOM.uniform(1, 2, (3, 3))))
        b = np.ones(3)
        big = 2**53 + 1
        other = sp.csr_array(a)
        other.data = np.full(len(a.data), big)
        with self.assertRaisesRegex(ValueError, "cannot hold"):
            sptrsv.analyze(other)
        for integers in (np.full(3, big), np.full(3, 2**64 - 1, np.uint64)):
            with self.subTest(integers.dtype), self.assertRaisesRegex(ValueError, "cannot hold"):
                sptrsv.analyze(a).solve(integers)
        for dtype, alpha in (("f8", big), ("f4", 1e300), ("f4", 2**24 + 1), ("f8", 1j)):
            solver = sptrsv.analyze(a.astype(dtype))
            with self.subTest(dtype, alpha=alpha), self.assertRaisesRegex((TypeError, ValueError), "alpha"):
                solver.solve(b.astype(dtype), alpha=alpha)
        for dtype, alpha in (("f8", 2**53), ("f4", 0.1), ("f4", np.float32(3)), ("f8", float("inf"))):
            with self.subTest(dtype, alpha=alpha):
                sptrsv.analyze(a.astype(dtype)).solve(b.astype(dtype), alpha=alpha)

    def test_masked_arrays_are_errors(self):
        a = sp.csr_array(sp.eye(3))
        masked = np.ma.masked_array(np.ones(3), [False, True, False])
        solver = sptrsv.analyze(a)
        for call in (solver.solve, lambda b: solver @ b, lambda b: sptrsv.spsolve_triangular(a, b)):
            with self.assertRaisesRegex(TypeError, "masked"):
                call(masked)

    def test_what_is_wrong_is_named(self):
        a = sp.csr_array(np.tril(RANDOM.uniform(1, 2, (3, 3))))
        solver = sptrsv.analyze(a)
        one, two = sptrsv.factors(a.tocoo()), sptrsv.factors(a, a)
        batch = np.stack([a.data] * 2)
        odd = np.zeros(25, np.uint8)[1:].view(np.float64)
        fields = np.zeros(3, [("a", "f8"), ("b", "i4")])["a"]
        huge = "host_parallel workers=100000"
        calls = (
            ("sparse matrix .* not ndarray", lambda: sptrsv.analyze(a.toarray())),
            ("sparse matrix .* not str", lambda: sptrsv.analyze("csr")),
            ("two dimensions, not 3", lambda: sptrsv.analyze(mock_matrix((1, 1, 1)))),
            ("two dimensions, not 1", lambda: sptrsv.analyze(mock_matrix((3,)))),
            ("splu .* not ndarray", lambda: sptrsv.from_splu(a.toarray())),
            ("one matrix", lambda: one.update_values(a.data, a.data)),
            ("two matrices", lambda: two.update_values(a.data)),
            ("policy is a text", lambda: sptrsv.analyze(a, policy=3)),
            ("policy is a text", lambda: sptrsv.analyze(a, policy="host_serial\0")),
            ("'N', 'T', 'H', not", lambda: sptrsv.analyze(a, transpose=["N"])),
            ("'ldl', not", lambda: sptrsv.factors(a, kind=["lu"])),
            ("lower is True or False, not 'upper'", lambda: sptrsv.analyze(a, lower="upper")),
            ("unit_diagonal is True or False", lambda: sptrsv.analyze_batch(a, batch, unit_diagonal="no")),
            ("lower is True or False", lambda: sptrsv.spsolve_triangular(a, np.ones(3), "L")),
            ("alpha is a number", lambda: solver.solve(np.ones(3), alpha="2")),
            ("alpha is a number", lambda: solver.solve(np.ones(3), alpha=None)),
            ("not aligned", lambda: solver.solve(odd)),
            ("pass array.copy", lambda: solver.solve(fields)),
            ("one or two dimensions", lambda: solver @ np.float64(3)),
            ("two dimensions", lambda: sptrsv.analyze_batch(a, a.data)),
            ("2 right-hand sides exceed max_rhs = 1", lambda: sptrsv.analyze_batch(a, batch).solve(np.ones((2, 3, 2)))),
            *(
                ("100000 workers; at most", lambda call=call: call(a, policy=huge))
                for call in (sptrsv.analyze, sptrsv.factors, sptrsv.ilu)
            ),
        )
        for number, (words, call) in enumerate(calls):
            with self.subTest(number), self.assertRaisesRegex((TypeError, ValueError), words):
                call()
        self.assertRegex(repr(sptrsv.analyze_batch(a, batch)), "^<sptrsv.BatchSolver of 2 systems of 3 rows, float64>$")

    def test_arrays_of_a_matrix_that_do_not_fit_each_other_are_errors(self):
        for form in ("csr", "csc"):
            a = sp.coo_array(np.tril(RANDOM.uniform(1, 2, (6, 6)))).asformat(form)
            calls = (sptrsv.analyze, sptrsv.factors, sptrsv.ilu, lambda m: sptrsv.analyze_batch(m, np.ones((2, 21))))
            for name in ("indptr", "indices", "data"):
                array = getattr(a, name)
                for wrong in (array[:-1], array[:0], np.append(array, array[-1:]), np.stack([array] * 2)):
                    if name == "data" and wrong.ndim == 2:
                        continue
                    broken = a.copy()
                    setattr(broken, name, wrong)
                    for number, call in enumerate(calls):
                        with self.subTest(form, name=name, shape=wrong.shape, call=number):
                            self.assertRaisesRegex(ValueError, "shapes", call, broken)


def mock_matrix(shape):
    """Return a matrix of SciPy's interface with any number of dimensions."""
    return mock.Mock(format="csr", shape=shape, indptr=np.arange(2), indices=np.zeros(1, int), data=np.ones(1))


class Arrays(unittest.TestCase):
    def test_each_object_of_an_unknown_type_is_asked_where_it_is(self):
        class Either:
            """An array of a library whose arrays are in host or in device memory."""

            def __init__(self, interface):
                setattr(self, interface, np.ones(3).__array_interface__)

        for interface in ("__array_interface__", "__cuda_array_interface__", "__array_interface__"):
            with self.subTest(interface):
                self.assertEqual(describe(Either(interface)).on_device, "cuda" in interface)

    def test_operators_take_sequences_and_leave_right_hand_sides_alone(self):
        dense = np.tril(RANDOM.uniform(1, 2, (4, 4)))
        solver = sptrsv.analyze(sp.csr_array(dense))
        np.testing.assert_allclose(dense @ (solver @ [1, 2, 3, 4]), [1, 2, 3, 4])
        kinds = [np.array] + ([torch.tensor] if torch else [])
        for kind in kinds:
            for dtype in (np.float32, np.float64, np.complex128):
                b = kind(RANDOM.uniform(-1, 1, (4, 3)).astype(dtype))
                before = np.array(b)
                with self.subTest(kind.__name__, dtype=dtype.__name__):
                    np.testing.assert_allclose(dense @ np.asarray(solver @ b), before, atol=1e-6)
                    np.testing.assert_array_equal(np.asarray(b), before)

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_tensors_that_are_no_matrices_or_of_unknown_types(self):
        dense = torch.eye(4, dtype=torch.float64)
        solver = sptrsv.analyze(dense.to_sparse_csr())
        for words, call in (
            ("sparse matrix", lambda: sptrsv.analyze(dense)),
            ("two dimensions, not 3", lambda: sptrsv.analyze(torch.stack([dense] * 2).to_sparse_csr())),
            ("bfloat16, which NumPy does not know", lambda: solver.solve(dense[0].bfloat16())),
        ):
            with self.assertRaisesRegex((TypeError, ValueError), words):
                call()


class Threads(unittest.TestCase):
    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_child_uses_objects_that_another_thread_solves_with(self):
        size = 20_000
        a = sp.diags([np.ones(size - 1), 2 * np.ones(size)], [-1, 0], format="csr")
        f = sptrsv.analyze(a, policy="host_serial")
        b = np.ones(size)
        expected = f.solve(b)
        started = threading.Event()

        def work():
            for _ in range(200):
                f.solve(b)
                started.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        codes = []
        for _ in range(5):
            child = os.fork()
            if child == 0:
                signal.alarm(30)  # ends a child that waits for ever
                os._exit(0 if np.array_equal(f.solve(b), expected) else 1)
            codes.append(os.waitpid(child, 0)[1])
        thread.join()
        self.assertEqual(codes, [0] * 5)

    def test_several_threads_use_one_object(self):
        a = sp.csr_array(sp.random(SIZE, SIZE, density=0.05, random_state=4) / SIZE + sp.eye(SIZE))
        policy = "host_parallel workers=2"
        single = sptrsv.analyze(a, policy=policy)
        factors = sptrsv.factors(a, transposed="T", policy=policy)
        batch = sptrsv.analyze_batch(a, np.stack([a.data] * 2))
        calls = (
            single.solve,
            factors.solve,
            factors.solve_transposed,
            sptrsv.ilu(a, policy=policy).solve,
            lambda b: batch.solve(np.stack((b, b)))[0],
        )
        for number, call in enumerate(calls):
            right = [RANDOM.uniform(-1, 1, SIZE) for _ in range(4)]
            expected = [call(b) for b in right]
            wrong = []

            def work(b, x, call=call, wrong=wrong):
                wrong.extend(1 for _ in range(50) if not np.array_equal(call(b), x))

            threads = [threading.Thread(target=work, args=pair) for pair in zip(right, expected, strict=True)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            with self.subTest(number):
                self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
