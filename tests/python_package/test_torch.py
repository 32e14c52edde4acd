"""Derivatives, vmap, graphs and copies of the solves of sptrsv.torch, on the host."""

import copy
import gc
import io
import unittest
import warnings

try:
    import torch

    import sptrsv.torch
except ImportError:
    torch = None

OPERATIONS = {"N": lambda a: a, "T": lambda a: a.mT, "H": lambda a: a.mH}
SIZE = 5
BATCH = 3


def case(dtype, transpose="N", **options):
    """Return a solve, its dense triangle, values and right-hand sides, and the same of a batch."""
    torch.manual_seed(1)
    dense = torch.rand(SIZE, SIZE, dtype=dtype) / 2 + 3 * torch.eye(SIZE, dtype=dtype)
    a = dense.to_sparse_csr()
    solve = sptrsv.torch.TriangularSolve(a, transpose=transpose, max_rhs=2, **options)
    factors = torch.arange(1, BATCH + 1).to(dtype)
    triangle = OPERATIONS[transpose](dense.tril())
    b = torch.randn(BATCH, SIZE, dtype=dtype)
    return solve, triangle, a.values(), b, factors[:, None] * a.values(), factors[:, None, None] * triangle


def dense_solve(a, b):
    return torch.linalg.solve(a, b.unsqueeze(-1)).squeeze(-1)


if torch:

    class Model(torch.nn.Module):
        """A module that holds a solve, and the values of its matrix as a parameter."""

        def __init__(self, solve, values):
            super().__init__()
            self.solve, self.values = solve, torch.nn.Parameter(values.clone())

        def forward(self, b):
            return self.solve(b, self.values).square().sum()


@unittest.skipUnless(torch, "needs PyTorch")
class OnTheHost(unittest.TestCase):
    def setUp(self):
        warnings.simplefilter("ignore")  # sparse tensors are in beta

    def forms(self):
        for dtype in (torch.float64, torch.complex128):
            for transpose in OPERATIONS:
                yield dtype, transpose


class Derivatives(OnTheHost):
    def test_first_and_second_derivatives(self):
        for dtype, transpose in self.forms():
            for unit in (False, True):
                solve, _, values, _, _, _ = case(dtype, transpose, unit_diagonal=unit)
                values = values.clone().requires_grad_()
                b = torch.randn(SIZE, 3, dtype=dtype, requires_grad=True)  # more than max_rhs
                with self.subTest(dtype=dtype, transpose=transpose):
                    forward = {"check_forward_ad": True, "fast_mode": True}
                    self.assertTrue(torch.autograd.gradcheck(solve, (b, values), **forward))
                    self.assertTrue(torch.autograd.gradgradcheck(solve, (b, values), fast_mode=True))

    def test_derivatives_of_functions(self):
        solve, triangle, values, b, all_values, _ = case(torch.float64)

        def loss(b, values):
            return solve(b, values).square().sum()

        by_row = torch.vmap(torch.func.grad(loss, (0, 1)))(b, all_values)
        operands = b.clone().requires_grad_(), all_values.clone().requires_grad_()
        together = torch.autograd.grad(torch.vmap(loss)(*operands).sum(), operands)
        torch.testing.assert_close(by_row, together)

        def dense_loss(values):
            return dense_solve(torch.where(triangle != 0, values.reshape(SIZE, SIZE), triangle), b[0]).square().sum()

        hessian = torch.func.hessian(dense_loss)(values)
        torch.testing.assert_close(torch.func.hessian(loss, 1)(b[0], values), hessian)

    def test_entries_that_are_not_used_have_no_derivative(self):
        solve, triangle, values, b, _, _ = case(torch.float64)
        values = values.clone().requires_grad_()
        (gradient,) = torch.autograd.grad(solve(b[0], values).sum(), values)
        self.assertTrue((gradient.reshape(SIZE, SIZE)[triangle == 0] == 0).all())


class Maps(OnTheHost):
    def test_over_right_hand_sides_and_values(self):
        for dtype, transpose in self.forms():
            solve, triangle, values, b, all_values, triangles = case(dtype, transpose)
            with self.subTest(dtype=dtype, transpose=transpose):
                expected = dense_solve(triangles, b)
                torch.testing.assert_close(torch.vmap(solve)(b, all_values), expected)
                torch.testing.assert_close(torch.vmap(solve, (1, 0), 1)(b.T, all_values), expected.T)
                torch.testing.assert_close(torch.vmap(solve, (0, None))(b, values), dense_solve(triangle, b))
                torch.testing.assert_close(torch.vmap(solve)(b), dense_solve(triangle, b))
                torch.testing.assert_close(torch.vmap(solve, (None, 0))(b[0], all_values), dense_solve(triangles, b[0]))
                columns = torch.stack((b, 2 * b, 3 * b), -1)
                torch.testing.assert_close(
                    torch.vmap(solve)(columns, all_values), torch.linalg.solve(triangles, columns)
                )
                of_both = torch.vmap(torch.vmap(solve, (None, 0)), (0, None))(b, all_values)
                torch.testing.assert_close(of_both, torch.stack([dense_solve(triangles, right) for right in b]))
                batches = torch.stack((b, -b)), torch.stack((all_values, 2 * all_values))
                expected = torch.stack((expected, -expected / 2))
                torch.testing.assert_close(torch.vmap(torch.vmap(solve))(*batches), expected)

    def test_derivatives(self):
        for dtype, transpose in self.forms():
            solve, _, values, b, all_values, _ = case(dtype, transpose)
            for dims, *operands in ((0, 0), b, all_values), ((0, None), b, values), ((None, 0), b[0], all_values):
                with self.subTest(dtype=dtype, transpose=transpose):
                    mapped = torch.vmap(solve, dims)
                    operands = [o.clone().requires_grad_() for o in operands]
                    self.assertTrue(torch.autograd.gradcheck(mapped, operands, fast_mode=True))
                    self.assertTrue(torch.autograd.gradgradcheck(mapped, operands, fast_mode=True))

    def test_formats_that_are_converted(self):
        _, triangle, _, b, _, _ = case(torch.float64)
        a = triangle.to_sparse_coo()
        solve = sptrsv.torch.TriangularSolve(a)
        values = torch.stack((a._values(), 2 * a._values()))
        expected = dense_solve(torch.stack((triangle, 2 * triangle)), b[0])
        torch.testing.assert_close(torch.vmap(solve, (None, 0))(b[0], values), expected)


class Graphs(OnTheHost):
    def setUp(self):
        super().setUp()
        self.solve, _, self.values, self.b, self.all_values, _ = case(torch.float64)
        self.model = Model(self.solve, self.values)

    def gradient_of(self, model):
        self.model.values.grad = None
        model(self.b[0]).backward()
        return self.model.values.grad

    def test_compiled_modules(self):
        expected = self.gradient_of(self.model)
        compiled = torch.compile(self.model, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(self.gradient_of(compiled), expected)
        if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 7):
            return  # PyTorch 2.5 ends in an assertion of its own where it maps an operator
        mapped = torch.compile(torch.vmap(self.solve), backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(mapped(self.b, self.all_values), torch.vmap(self.solve)(self.b, self.all_values))

    def test_says_what_it_is(self):
        self.assertEqual(repr(self.solve), "<sptrsv.torch.TriangularSolve of 5 rows, float64>")

    def test_the_operator_is_what_pytorch_expects(self):
        for b, values in ((self.b[0], self.values), (self.b.T, self.values), (self.b, self.all_values)):
            for adjoint in (False, True):
                operands = b.clone().requires_grad_(), values.clone().requires_grad_()
                torch.library.opcheck(
                    sptrsv.torch._triangular_solve,
                    (*operands, self.solve._places, self.solve._key, adjoint),
                    test_utils=("test_schema", "test_autograd_registration", "test_faketensor"),
                )

    def test_copies_and_saved_modules(self):
        buffer = io.BytesIO()
        torch.save(self.model, buffer)
        buffer.seek(0)
        for other in (copy.deepcopy(self.model), torch.load(buffer, weights_only=False)):
            self.assertIsNot(other.solve, self.solve)
            torch.testing.assert_close(other(self.b[0]), self.model(self.b[0]))
            with torch.no_grad():
                other.values *= 2
            torch.testing.assert_close(4 * other(self.b[0]), self.model(self.b[0]))

    def test_a_graph_keeps_its_solver(self):
        solve, _, values, b, _, _ = case(torch.float64)
        values = values.clone().requires_grad_()
        x = solve(b[0], values).sum()
        key = solve._key
        del solve
        gc.collect()
        x.backward()
        self.assertEqual(values.grad.shape, values.shape)
        del x
        gc.collect()
        with self.assertRaisesRegex(RuntimeError, "no longer there"):
            sptrsv.torch._triangular_solve(b[0], values, self.solve._places, key, False)


if __name__ == "__main__":
    unittest.main()
