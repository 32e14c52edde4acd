"""New values in the order of the user's own format reach the right entries, whatever the format."""

import pickle
import unittest

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import sptrsv
from sptrsv._arrays import sparse_arrays

try:
    import torch

    import sptrsv.torch
except ImportError:
    torch = None

RANDOM = np.random.default_rng(5)
SIZE = 12
FORMATS = ("csr", "csc", "coo", "shuffled", "duplicates", "dia", "bsr")


def matrix(form):
    """Return a matrix with a dominant diagonal in a format."""
    a = sp.random(SIZE, SIZE, 0.4, random_state=3).toarray() / SIZE + np.diag(RANDOM.uniform(1, 2, SIZE))
    if form not in ("shuffled", "duplicates"):
        return sp.coo_array(a).asformat(form)
    rows, columns = np.nonzero(a)
    data = a[rows, columns]
    if form == "duplicates":
        rows, columns, data = np.tile(rows, 3), np.tile(columns, 3), np.concatenate((data, data / 2, -data / 4))
    order = RANDOM.permutation(len(data))
    return sp.coo_array((data[order], (rows[order], columns[order])), shape=a.shape)


def changed(a):
    """Return the values of the same pattern, each changed differently, and the dense matrix of them."""
    other = a.copy()
    other.data = a.data * RANDOM.uniform(1, 2, a.data.shape)
    return other.data, other.toarray()


def _filled(a):
    """Return ones where a matrix of blocks has values."""
    ones = a.copy()
    ones.data = np.ones_like(a.data)
    return ones.toarray()


class Formats(unittest.TestCase):
    def test_new_values_in_the_order_of_the_format(self):
        b = RANDOM.uniform(-1, 1, SIZE)
        for form in FORMATS:
            a = matrix(form)
            data, dense = changed(a)
            lower, upper = np.tril(dense), np.triu(dense)
            product = (np.tril(dense, -1) + np.eye(SIZE)) @ upper
            with self.subTest(form, call="analyze"):
                f = sptrsv.analyze(a)
                np.testing.assert_allclose(np.tril(a.toarray()) @ f.solve(b), b)
                f.update_values(data)
                np.testing.assert_allclose(lower @ f.solve(b), b)
            with self.subTest(form, call="factors"):
                f = sptrsv.factors(a)
                f.update_values(data)
                np.testing.assert_allclose(product @ f.solve(b), b)
            for second in FORMATS:
                with self.subTest(form, call="factors of two", second=second):
                    u = matrix(second)
                    u_data, u_dense = changed(u)
                    f = sptrsv.factors(a, u)
                    f.update_values(data, u_data)
                    x = np.linalg.solve(np.tril(dense, -1) + np.eye(SIZE), b)
                    np.testing.assert_allclose(f.solve(b), np.linalg.solve(np.triu(u_dense), x))
            for name in ("ilu", "ic"):
                with self.subTest(form, call=name):
                    f = getattr(sptrsv, name)(a, fill_level=SIZE)  # zeros that a format stores change nothing
                    f.update_values(data)
                    expected = getattr(sptrsv, name)(sp.csr_array(dense), fill_level=SIZE).solve(b)
                    np.testing.assert_allclose(f.solve(b), expected)
            with self.subTest(form, call="analyze_batch"):
                f = sptrsv.analyze_batch(a, np.stack((data, 2 * data)))
                np.testing.assert_allclose(f.solve(np.stack((b, b)))[1], np.linalg.solve(2 * lower, b))
                f.update_values(np.stack((2 * data, data)))
                np.testing.assert_allclose(f.solve(np.stack((b, b)))[1], np.linalg.solve(lower, b))
                none = np.empty((0, *data.shape))
                f = sptrsv.analyze_batch(a, none)
                f.update_values(none)
                self.assertEqual(f.solve(np.empty((0, SIZE))).shape, (0, SIZE))

    def test_square_blocks_stay_as_they_are(self):
        b = RANDOM.uniform(-1, 1, SIZE)
        a = sp.bsr_array(matrix("csr"), blocksize=(3, 3))
        self.assertEqual(sparse_arrays(a, takes_blocks=True).block_size, 3)
        f = sptrsv.analyze(a)
        self.assertEqual(f.info.entries, np.count_nonzero(np.tril(_filled(a))))
        data, dense = changed(a)
        f.update_values(data)
        copy = pickle.loads(pickle.dumps(f))
        np.testing.assert_allclose(np.tril(dense) @ f.solve(b), b)
        np.testing.assert_allclose(np.tril(dense) @ copy.solve(b), b)
        transposed = sptrsv.analyze(a, transpose="T")
        transposed.update_values(data)
        np.testing.assert_allclose(np.tril(dense).T @ transposed.solve(b), b)
        with self.assertRaises(ValueError):
            f.update_values(data.reshape(-1))
        twice = sp.bsr_array((np.concatenate((a.data, a.data)), np.tile(a.indices, 2), 2 * a.indptr), shape=a.shape)
        self.assertEqual(sparse_arrays(twice, takes_blocks=True).block_size, 0)  # converted: duplicates are summed
        oblong = sp.bsr_array(matrix("csr"), blocksize=(3, 2))
        self.assertEqual(sparse_arrays(oblong, takes_blocks=True).block_size, 0)
        bad = sp.bsr_array(matrix("csr"), blocksize=(3, 3))
        bad.indices[0] = -1
        with self.assertRaises(sptrsv.InputError) as caught:
            sptrsv.analyze(bad)
        self.assertEqual(caught.exception.row, 0)
        self.assertIn("block row 0", str(caught.exception))

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_new_values_of_tensors(self):
        dense = torch.tensor(matrix("csr").toarray())
        b = torch.tensor(RANDOM.uniform(-1, 1, SIZE))
        coo = dense.to_sparse_coo()
        order = torch.tensor(RANDOM.permutation(3 * coo._nnz()))
        indices, parts = coo._indices().repeat(1, 3)[:, order], torch.cat([coo._values() / 3] * 3)[order]
        forms = (
            dense.to_sparse_csr(),
            dense.to_sparse_csc(),
            coo,
            torch.sparse_coo_tensor(indices, parts, dense.shape),
            dense.to_sparse_bsr((3, 2)),
            dense.to_sparse_bsr((3, 3)),
            dense.to_sparse_bsc((2, 3)),
        )
        for a in forms:
            data = a._values() if a.layout == torch.sparse_coo else a.values()
            factor = torch.tensor(RANDOM.uniform(1, 2))
            with self.subTest(a.layout):
                f = sptrsv.analyze(a)
                f.update_values(factor * data)
                np.testing.assert_allclose((factor * dense.tril()) @ f.solve(b), b)
                solve = sptrsv.torch.TriangularSolve(a)
                values = (factor * data).clone().requires_grad_()
                np.testing.assert_allclose((factor * dense.tril()) @ solve(b, values).detach(), b)
                self.assertTrue(torch.autograd.gradcheck(lambda v, s=solve: s(b, v), (values,)))
                self.assertTrue(torch.autograd.gradgradcheck(lambda v, s=solve: s(b, v), (values,), fast_mode=True))

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_gradients_of_real_tensors_beside_complex_ones_are_real(self):
        dense = torch.tensor(matrix("csr").toarray()).tril()
        a = (dense * (1 + 0.3j)).to_sparse_csr()
        real, mixed = dense.to_sparse_csr().values(), a.values()
        right = torch.tensor(RANDOM.uniform(-1, 1, SIZE))
        for transpose in "NTH":
            solve = sptrsv.torch.TriangularSolve(a, transpose=transpose)
            for b in (right, right * (1 + 1j)):
                for values in (real, mixed):
                    with self.subTest(transpose, b=b.dtype, values=values.dtype):
                        operands = (b.clone().requires_grad_(), values.clone().requires_grad_())
                        self.assertTrue(torch.autograd.gradcheck(solve, operands))
                        self.assertTrue(torch.autograd.gradgradcheck(solve, operands, fast_mode=True))
                        solve(*operands).abs().sum().backward(create_graph=True)
                        self.assertEqual([o.grad.dtype for o in operands], [o.dtype for o in operands])

    @unittest.skipUnless(torch, "needs PyTorch")
    def test_a_penalty_on_gradients_counts(self):
        dense = torch.tensor(matrix("csr").toarray()).tril()
        values = dense.to_sparse_csr().values().requires_grad_()
        b = torch.tensor(RANDOM.uniform(-1, 1, SIZE))
        found = []
        for solve in (sptrsv.torch.TriangularSolve(dense.to_sparse_csr()), None):
            stored = torch.zeros_like(dense).masked_scatter(dense != 0, values)
            x = solve(b, values) if solve else torch.linalg.solve(stored, b)
            (gradient,) = torch.autograd.grad(x.sum(), values, create_graph=True)
            found.append(torch.autograd.grad(gradient.square().sum() + values.sum(), values)[0])
        torch.testing.assert_close(*found)
        with self.assertRaisesRegex(TypeError, "sparse tensor is needed, not csr"):
            sptrsv.torch.TriangularSolve(matrix("csr"))

    def test_solutions_may_overlap_right_hand_sides_in_any_way(self):
        a = matrix("csr")
        wide = np.empty((2, 2 * SIZE * SIZE))
        one, square = wide[0], wide[1][: SIZE * SIZE].reshape(SIZE, SIZE)
        shifted = wide[1][1 : SIZE * SIZE + 1].reshape(SIZE, SIZE)
        pairs = [
            (one[:SIZE], one[first : first + SIZE * abs(step)][::step])
            for first in (0, 1, SIZE - 1)
            for step in (1, -1, 2)
        ]
        pairs += [(square, out) for out in (square, square.T, square[::-1], square[:, ::-1], shifted, shifted.T)]
        calls = {
            "analyze": sptrsv.analyze(a, max_rhs=SIZE).solve,
            "factors": sptrsv.factors(a, max_rhs=SIZE).solve,
            "transposed": sptrsv.factors(a, max_rhs=SIZE, transposed="T").solve_transposed,
            "ilu": sptrsv.ilu(a, max_rhs=SIZE).solve,
            "from_splu": sptrsv.from_splu(splu(a.tocsc()), max_rhs=SIZE).solve,
            "batch": lambda b, out: batch.solve(
                b.T[None] if b.ndim == 2 else b[None], out=out.T[None] if b.ndim == 2 else out[None]
            ),
        }
        batch = sptrsv.analyze_batch(a, a.data[None], max_rhs=SIZE)
        for name, call in calls.items():
            for number, (b, out) in enumerate(pairs):
                with self.subTest(name, pair=number):
                    wide[:] = RANDOM.uniform(-1, 1, wide.shape)
                    apart = np.empty_like(b)
                    call(b.copy(), out=apart)
                    call(b, out=out)
                    np.testing.assert_array_equal(out, apart)


if __name__ == "__main__":
    unittest.main()
