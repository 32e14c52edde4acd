"""``python -m sptrsv.advise`` with small matrices: on the host, or on the GPU where CuPy finds one."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse as sp

from sptrsv import advise


def poisson(size, dtype=np.float64):
    line = sp.diags([-1, 2, -1], [-1, 0, 1], (size, size))
    return sp.csr_matrix(sp.kron(sp.eye(size), line) + sp.kron(line, sp.eye(size))).astype(dtype)


def convection(size, dtype=np.float64):
    """Return a matrix that is not symmetric."""
    return sp.csr_matrix(poisson(size) + sp.diags([-0.4, 0.4], [-1, 1], (size**2, size**2))).astype(dtype)


class Advice(unittest.TestCase):
    def run_on(self, a, *more, rhs=None):
        """Return what the program prints for a matrix, and the rows of its table by preconditioner."""
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "matrix.mtx")
            scipy.io.mmwrite(path, a)
            if rhs is not None:
                np.save(Path(folder) / "b.npy", rhs)
                more = (*more, "--rhs", str(Path(folder) / "b.npy"))
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                advise.main([path, *more])
            text = printed.getvalue()
            lines = text.split("\n")
            # The lines of Python work as they are.
            if "M = " in text:
                arrays = sys.modules["cupy"] if "on the GPU" in text else np
                names = {"b": arrays.ones(a.shape[0])}
                exec("\n".join(lines[lines.index("") + 1 :]), names)
                self.assertTrue(names["info"].converged)
        return text, {line.split()[0]: line.split() for line in lines[2 : lines.index("")]}

    def test_symmetric_systems(self):
        text, rows = self.run_on(poisson(16))
        self.assertIn("256 rows, 1216 entries, symmetric; cg, on the ", text)
        self.assertEqual(list(rows), ["none", "Jacobi", "SSOR", "IC(0)", "IC(1)"])
        iterations = [int(row[2]) for row in rows.values()]
        self.assertEqual(iterations[0], iterations[1])  # the diagonal is constant
        self.assertEqual(sorted(iterations, reverse=True), iterations)
        self.assertEqual({row[-1] for row in rows.values()}, {"converged"})
        self.assertTrue(all(float(row[1]) + int(row[2]) * float(row[3]) <= 1.1 * float(row[4]) + 0.1
                            for row in rows.values()))  # fmt: skip

    def test_other_systems(self):
        text, rows = self.run_on(convection(16), rhs=np.ones(256))
        self.assertIn("not symmetric; gmres", text)
        self.assertEqual(list(rows), ["none", "Jacobi", "SSOR", "ILU(0)", "ILU(1)"])
        text, rows = self.run_on(convection(16), "--limit", "5")
        self.assertEqual(rows["none"][-1], "estimated")
        indefinite = poisson(8) - 3 * sp.eye(64)
        self.assertIn("; gmres", self.run_on(indefinite)[0])

    def test_says_what_fails(self):
        a = sp.lil_matrix(convection(8))
        a[3, 3] = 0
        _, rows = self.run_on(sp.csr_matrix(a))
        self.assertEqual((rows["Jacobi"][4], rows["SSOR"][4]), ("-", "-"))
        text, _ = self.run_on(sp.csr_matrix((3, 3)))
        self.assertIn("None of them helps", text)
        with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
            self.run_on(sp.csr_matrix((3, 4)))


if __name__ == "__main__":
    unittest.main()
