"""Objects that are copied, pickled and loaded solve as the first ones do, and share nothing with them."""

import copy
import pickle
import unittest

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import sptrsv

try:
    import torch
except ImportError:
    torch = None

RANDOM = np.random.default_rng(7)
SIZE = 12
WAYS = (copy.copy, copy.deepcopy, *(lambda f, p=p: pickle.loads(pickle.dumps(f, p)) for p in range(2, 6)))


def matrix(form="csr", dtype=np.float64):
    """Return a matrix with a dominant diagonal in a format."""
    a = sp.random(SIZE, SIZE, 0.4, random_state=3).toarray() / SIZE + np.diag(RANDOM.uniform(1, 2, SIZE))
    return sp.coo_array(a.astype(dtype)).asformat(form)


class Copies(unittest.TestCase):
    def assert_same(self, f, call, update):
        """Compare copies with `f`, before and after new values; `call` solves with an object."""
        expected = call(f)
        for way in WAYS:
            g = way(f)
            self.assertIs(type(g), type(f))
            np.testing.assert_array_equal(call(g), expected)
            if update is not None:
                update(g)
                self.assertFalse(np.array_equal(call(g), expected))
        np.testing.assert_array_equal(call(f), expected)  # what the copies were given has not reached it

    def assert_copies(self, f, call, update=None):
        self.assert_same(f, call, update)
        if update is not None:
            update(f)
            again = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(f))))
            np.testing.assert_array_equal(call(again), call(f))

    def test_solvers_of_every_format_keep_matrix_options_and_new_values(self):
        b = RANDOM.uniform(-1, 1, (SIZE, 2))
        for form in ("csr", "csc", "coo", "dia", "bsr", "lil", "dok"):
            a = matrix(form)
            new = 2 * (a.data if form not in ("lil", "dok") else a.tocoo().data)
            for options in ({}, {"lower": False, "transpose": "T"}, {"unit_diagonal": True}):
                with self.subTest(form, **options):
                    f = sptrsv.analyze(a, max_rhs=2, policy="host_serial", **options)
                    self.assert_copies(f, lambda g, b=b: g.solve(b), lambda g, v=new: g.update_values(v))
                    self.assertEqual(copy.copy(f).info.policy, "host_serial")

    def test_factors_of_one_and_of_two_matrices(self):
        b = RANDOM.uniform(-1, 1, SIZE)
        order, scale = RANDOM.permutation(SIZE), RANDOM.uniform(1, 2, SIZE)
        lower, upper = matrix(), matrix("csc")
        f = sptrsv.factors(lower, upper, transposed="T", row_order=order, column_scale=scale)
        self.assert_copies(
            f,
            lambda g: np.stack((g.solve(b), g.solve_transposed(b))),
            lambda g: g.update_values(2 * lower.data, 3 * upper.data),
        )
        for kind in ("lu", "cholesky", "ldl"):
            f = sptrsv.factors(lower, kind=kind)
            self.assert_copies(f, lambda g: g.solve(b), lambda g: g.update_values(2 * lower.data))
        wide = matrix()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
        f = sptrsv.factors(lower, wide)
        self.assert_copies(f, lambda g: g.solve(b), lambda g: g.update_values(2 * lower.data, wide.data))

    def test_incomplete_factors(self):
        a = matrix()
        b = RANDOM.uniform(-1, 1, SIZE)
        for f in (
            sptrsv.ilu(a, fill_level=1, transposed="H"),
            sptrsv.ic(a.astype(np.complex64)),
            sptrsv.ilu(a, diagonal_shift=0.1),
        ):
            new = (a.data + RANDOM.uniform(0, 0.1, a.nnz)).astype(f.dtype)
            self.assert_copies(f, lambda g: g.solve(b.astype(np.float32)), lambda g, v=new: g.update_values(v))

    def test_batches(self):
        a = matrix("coo")
        values = a.data * RANDOM.uniform(1, 2, (3, 1))
        b = RANDOM.uniform(-1, 1, (3, SIZE))
        f = sptrsv.analyze_batch(a, values, transpose="T")
        self.assert_copies(f, lambda g: g.solve(b), lambda g: g.update_values(2 * values))

    def test_solvers_of_superlu(self):
        f = sptrsv.from_splu(splu(matrix("csc")), max_rhs=2)
        b = RANDOM.uniform(-1, 1, (SIZE, 2))
        self.assert_copies(f, lambda g: np.stack([g.solve(b, trans) for trans in "NTH"]))

    def test_rows_of_wrong_pivots_are_found_again(self):
        a = matrix()
        f = sptrsv.analyze(a)
        values = np.where(a.indices == np.repeat(np.arange(SIZE), np.diff(a.indptr)), a.data, 0)
        values[a.indptr[7] : a.indptr[8]] = 0
        f.update_values(values)
        g = pickle.loads(pickle.dumps(f))
        g.solve(np.ones(SIZE))
        self.assertEqual(g.status(), ("zero_pivot", 7))

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_solvers_of_tensors(self):
        dense = torch.tensor(matrix().toarray())
        b = torch.tensor(RANDOM.uniform(-1, 1, SIZE))
        for a in (dense.to_sparse_csr(), dense.to_sparse_csc(), dense.to_sparse_coo()):
            f = sptrsv.analyze(a)
            values = 2 * (a._values() if a.layout == torch.sparse_coo else a.values())
            self.assert_copies(f, lambda g: g.solve(b), lambda g, v=values: g.update_values(v))


if __name__ == "__main__":
    unittest.main()
