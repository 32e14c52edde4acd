"""Derivatives, vmap, graphs and copies of the solves of sptrsv.torch, on the host."""

import copy
import gc
import io
import threading
import unittest
import warnings
from unittest import mock

try:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.utils._python_dispatch import TorchDispatchMode

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

    class Recorder(TorchDispatchMode):
        """Notes the operators that it sees."""

        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, function, types, arguments=(), by_name=None):
            self.names.append(str(function))
            return function(*arguments, **(by_name or {}))

    class Kind(torch.Tensor):
        """A tensor of a class of its own."""


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

    def test_batches_of_gradients(self):
        for dtype, transpose in self.forms():
            solve, _, values, b, _, _ = case(dtype, transpose)
            operands = b[0].clone().requires_grad_(), values.clone().requires_grad_()
            x = solve(*operands)
            rows = torch.eye(SIZE, dtype=dtype)
            together = torch.autograd.grad(x, operands, rows, is_grads_batched=True, retain_graph=True)
            alone = [torch.autograd.grad(x, operands, row, retain_graph=True) for row in rows]
            for i in range(2):
                torch.testing.assert_close(together[i], torch.stack([gradients[i] for gradients in alone]))

    def test_infinities_stay_with_the_entries_that_are_used(self):
        solve, triangle, values, b, _, _ = case(torch.float64)
        values = values.clone().requires_grad_()
        x = solve(torch.full_like(b[0], torch.inf), values)
        (gradient,) = torch.autograd.grad(x[-1], values)
        self.assertTrue((gradient.reshape(SIZE, SIZE)[triangle == 0] == 0).all())
        self.assertFalse(torch.isfinite(gradient[0]))

    def test_only_what_needs_a_gradient_gets_one(self):
        solve, _, values, b, _, _ = case(torch.float64)
        right, stored = b[0].clone().requires_grad_(), values.clone().requires_grad_()
        expected = torch.autograd.grad(solve(right, stored).sum(), (right, stored))
        torch.testing.assert_close(torch.autograd.grad(solve(right, values).sum(), right), expected[:1])
        torch.testing.assert_close(torch.autograd.grad(solve(b[0], stored).sum(), stored), expected[1:])
        for x in (solve(b[0], values), solve(right.detach(), values)):
            self.assertFalse(x.requires_grad)
        with torch.no_grad():
            self.assertFalse(solve(right, stored).requires_grad)


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


class PlainCalls(OnTheHost):
    """Calls that nobody but autograd looks at do without the operator; their results and errors are its own."""

    def setUp(self):
        super().setUp()
        self.solve, self.triangle, self.values, self.b, self.all_values, _ = case(torch.float64)

    def both_ways(self, call):
        """Return what a call returns or raises, without the operator and through it."""
        found = []
        for way in ({"_Solve": None, "_triangular_solve": None}, {"_is_plain": lambda *_: False}):
            with mock.patch.multiple(sptrsv.torch, **way):
                try:
                    found.append(call())
                except Exception as error:
                    found.append((type(error), str(error)))
        return found

    def test_take_no_operator(self):
        def gradients(*operands):
            operands = [o.clone().requires_grad_() for o in operands]
            first = torch.autograd.grad(self.solve(*operands).square().sum(), operands, create_graph=True)
            return first + torch.autograd.grad(sum(g.square().sum() for g in first), operands)

        def as_parameter(b, values):
            with torch.no_grad():
                return self.solve(b, torch.nn.Parameter(values))

        def in_inference_mode(b, values):
            with torch.inference_mode():
                return self.solve(b, values).clone()

        for b in (self.b[0], self.b.T.contiguous()):
            for call in (self.solve, gradients, as_parameter, in_inference_mode):
                with self.subTest(call, b=tuple(b.shape)):
                    plain, through = self.both_ways(lambda call=call, b=b: call(b, self.values))
                    torch.testing.assert_close(plain, through)

    def test_any_strides_and_types(self):
        for dtype, transpose in self.forms():
            solve, triangle, values, _, _, _ = case(dtype, transpose)
            values = values.clone()
            wide = torch.randn(2 * SIZE, 6, dtype=dtype)
            real = wide.real.clone()
            rights = {
                "column": wide[:SIZE, 0],
                "row by row": wide[:SIZE, :2].contiguous(),
                "column by column": wide[:2, :SIZE].T,
                "with gaps": wide[::2, ::3],
                "one column": wide[:SIZE, 1:2],
                "one number": wide[0, :1].expand(SIZE),
                "one number for all": wide[0, 0].expand(SIZE, 2),
                "more than max_rhs": wide[:SIZE],
                "no column": wide[:SIZE, :0],
                "conjugated": wide[:SIZE, 0].conj(),
                "negated": torch._neg_view(wide[:SIZE, 0].contiguous()),
                "single": real[:SIZE, 0].float(),
                "real": real[:SIZE, :2],
                "integers": real[:SIZE, 0].long(),
            }
            spread = torch.empty(len(values), 2, dtype=dtype)
            spread[:, 0] = values
            for of_values, stored in (
                ("plain", values),
                ("with gaps", spread[:, 0]),
                ("conjugated", values.conj().clone().conj()),
                ("negated", torch._neg_view(-values)),
            ):
                for name, b in rights.items():
                    with self.subTest(dtype=dtype, transpose=transpose, b=name, values=of_values):
                        x = solve(b, stored)
                        self.assertEqual((x.shape, x.dtype), (b.shape, dtype))
                        torch.testing.assert_close(triangle @ x, b.to(dtype))
                        adjoint = solve._solved(b.to(dtype), stored, True)
                        torch.testing.assert_close(triangle.mH @ adjoint, b.to(dtype))

    def test_the_same_errors(self):
        b, values = self.b[0], self.values
        for name, operands in {
            "rows": (b[:-1], values),
            "rows of columns": (self.b[:, :2], values),
            "dimensions": (b.reshape(1, SIZE, 1), values),
            "entries": (b, values[:-1]),
            "a number": (b[0], values),
            "complex b": (b + 0j, values),
            "complex values": (b, values + 0j),
            "sparse b": (b.to_sparse(), values),
            "sparse values": (b, values.to_sparse()),
            "NumPy": (b.numpy(), values),
        }.items():
            with self.subTest(name):
                plain, through = self.both_ways(lambda operands=operands: self.solve(*operands))
                if name in ("sparse b", "sparse values", "NumPy"):  # not plain
                    with self.assertRaises(through[0]):
                        self.solve(*operands)
                else:
                    self.assertIsInstance(plain, tuple)
                    self.assertEqual(plain, through)

    def test_solvers_describe_no_vector_without_gaps(self):
        f = sptrsv.analyze(torch.sparse_csr_tensor(*self.solve._pattern[2:5], self.solve._pattern.shape))
        x = f.solve(self.b[0])  # the first tensor is described
        with mock.patch.object(f, "_operands", side_effect=AssertionError("described")):
            torch.testing.assert_close(f.solve(self.b[0]), x)
            right = self.b[0].clone()
            self.assertIs(f.solve(right, out=right), right)
            torch.testing.assert_close(right, x)
            for other in (self.b[0].float(), self.b[:, 0], torch._neg_view(self.b[0])):
                with self.assertRaisesRegex(AssertionError, "described"):
                    f.solve(other)
        with self.assertRaisesRegex(TypeError, "gradients"):
            f.solve(self.b[0].clone().requires_grad_())

    def test_new_values_are_seen(self):
        values = self.values.clone()
        x = self.solve(self.b[0], values)
        values.numpy()[:] *= 2  # PyTorch does not know of it
        torch.testing.assert_close(2 * self.solve(self.b[0], values), x)

    def test_threads(self):
        """Threads whose calls take both ways, with values of their own."""
        columns = self.b.T.contiguous()  # more than max_rhs
        wrong = []

        def run(factor):
            values = factor * self.values
            for _ in range(200):
                for b in (self.b[0], columns):
                    x = self.solve(b, values)
                    if not torch.allclose(factor * self.triangle @ x, b):
                        wrong.append(factor)

        threads = [threading.Thread(target=run, args=(factor,)) for factor in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class OtherCalls(OnTheHost):
    """Calls that a transform, a mode or a graph looks at."""

    def setUp(self):
        super().setUp()
        self.solve, self.triangle, self.values, self.b, self.all_values, _ = case(torch.float64)

    def test_of_transforms_take_the_function(self):
        b, values = self.b[0], self.values

        def forward():
            with torch.autograd.forward_ad.dual_level():
                dual = torch.autograd.forward_ad.make_dual(b, b)
                return torch.autograd.forward_ad.unpack_dual(self.solve(dual, values)).tangent

        calls = {
            "vmap": lambda: torch.vmap(self.solve, (0, None))(self.b, values),
            "grad": lambda: torch.func.grad(lambda b: self.solve(b, values).sum())(b),
            "jvp": lambda: torch.func.jvp(lambda b: self.solve(b, values), (b,), (b,))[1],
            "dual numbers": forward,
            "trace": lambda: torch.jit.trace(lambda b: self.solve(b, values), (b,), check_trace=False)(b),
            "meta": lambda: self.solve(b.to("meta"), values),
            "zeros": lambda: self.solve(torch._efficientzerotensor((SIZE,), dtype=b.dtype), values),
        }
        expected = dense_solve(self.triangle, self.b)
        solutions = {
            "vmap": expected,
            "grad": torch.linalg.solve(self.triangle.mT, torch.ones_like(b)),
            "meta": expected[0].to("meta"),
            "zeros": torch.zeros_like(b),
        }
        for name, call in calls.items():
            with self.subTest(name):
                spy = mock.Mock(wraps=sptrsv.torch._Solve.apply)
                with mock.patch.object(sptrsv.torch._Solve, "apply", spy):
                    found = call()
                spy.assert_called()
                torch.testing.assert_close(found, solutions.get(name, expected[0]))

    def test_operands_that_a_transform_does_not_map(self):
        b, values = self.b[0], self.values.clone().requires_grad_()
        (expected,) = torch.autograd.grad(6 * self.solve(b, values).sum(), values)
        factors = torch.tensor([1.0, 2.0, 3.0])
        for total in (
            torch.vmap(lambda factor: factor * self.solve(b, values))(factors).sum(),
            torch.func.jvp(lambda factor: factor.sum() * self.solve(b, values), (factors,), (factors,))[1].sum(),
        ):
            (gradient,) = torch.autograd.grad(total, values)
            torch.testing.assert_close(gradient, expected)

    def test_of_modes_and_classes_are_the_operator(self):
        b, values = self.b[0], self.values
        with Recorder() as recorder:
            x = self.solve(b, values)
        self.assertEqual(recorder.names, ["sptrsv.triangular_solve.default"])
        torch.testing.assert_close(x, self.solve(b, values))
        spy = mock.Mock(wraps=sptrsv.torch._triangular_solve)
        with mock.patch.object(sptrsv.torch, "_triangular_solve", spy):
            self.assertIsInstance(self.solve(b.as_subclass(Kind), values), Kind)
        spy.assert_called_once()

    def test_of_graphs_are_the_operator(self):
        graphs = {
            "make_fx": lambda: make_fx(self.solve)(self.b[0], self.values),
            "before dispatch": lambda: make_fx(self.solve, pre_dispatch=True)(self.b[0], self.values),
            "export": lambda: torch.export.export(Model(self.solve, self.values), (self.b[0],)).graph_module,
        }
        for name, graph in graphs.items():
            with self.subTest(name):
                self.assertIn("sptrsv.triangular_solve", graph().code)

    def test_fake_tensors(self):
        mode = torch._subclasses.FakeTensorMode()
        operands = (mode.from_tensor(t.clone()) for t in (self.b[0], self.values, self.solve._places))
        x = sptrsv.torch._applied(self.solve, *operands, False)
        self.assertIsInstance(x, torch._subclasses.FakeTensor)
        self.assertEqual((x.shape, x.dtype), ((SIZE,), torch.float64))

    def test_compiled_gradients(self):
        from torch._dynamo import compiled_autograd

        values = self.values.clone().requires_grad_()
        (expected,) = torch.autograd.grad(self.solve(self.b[0], values).sum(), values)
        enabled = getattr(compiled_autograd, "_enable", None) or compiled_autograd.enable
        with enabled(torch.compile(backend="eager", fullgraph=True)):
            self.solve(self.b[0], values).sum().backward()
        torch.testing.assert_close(values.grad, expected)


class ThroughTheOperator:
    """Lets no call do without the operator."""

    def setUp(self):
        super().setUp()
        patch = mock.patch.object(sptrsv.torch, "_is_plain", lambda *_: False)
        patch.start()
        self.addCleanup(patch.stop)


class DerivativesThroughTheOperator(ThroughTheOperator, Derivatives):
    pass


class MapsThroughTheOperator(ThroughTheOperator, Maps):
    pass


class GraphsThroughTheOperator(ThroughTheOperator, Graphs):
    pass


if __name__ == "__main__":
    unittest.main()
