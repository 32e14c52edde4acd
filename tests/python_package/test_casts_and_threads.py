"""No input loses precision without an error, and several threads may use one object."""

import threading
import unittest

import numpy as np
import scipy.sparse as sp

import sptrsv
from sptrsv._arrays import describe

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
        solver = sptrsv.analyze(sp.csr_array(sp.eye(3)))
        with self.assertRaisesRegex(TypeError, "masked"):
            solver.solve(np.ma.masked_array(np.ones(3), [False, True, False]))


class Arrays(unittest.TestCase):
    def test_each_object_of_an_unknown_type_is_asked_where_it_is(self):
        class Either:
            """An array of a library whose arrays are in host or in device memory."""

            def __init__(self, interface):
                setattr(self, interface, np.ones(3).__array_interface__)

        for interface in ("__array_interface__", "__cuda_array_interface__", "__array_interface__"):
            with self.subTest(interface):
                self.assertEqual(describe(Either(interface)).on_device, "cuda" in interface)


class Threads(unittest.TestCase):
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
