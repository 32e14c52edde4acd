from __future__ import annotations

import math
import random
import unittest

import support  # noqa: F401 (it makes the package importable)
from sptrsv_results.fit.times import Vector, fit, non_negative_least_squares

KNOWN = (3000.0, 1400.0, 20.0, 2e-3)


def systems() -> list[Vector]:
    """Returns the factors of the constants for systems of many sizes."""
    sizes = random.Random(1)
    return [(1.0, *(10 ** sizes.uniform(low, low + 3) for low in (-1, 1, 4))) for _ in range(60)]


def times(xs: list[Vector], noise: float = 0.0) -> list[float]:
    """Returns the times by a model with known constants."""
    shaky = random.Random(3)
    return [math.exp(noise * shaky.gauss(0, 1)) * sum(c * v for c, v in zip(KNOWN, x, strict=True)) for x in xs]


class KnownConstants(unittest.TestCase):
    def assert_close(self, found: Vector, share: float) -> None:
        for c, known in zip(found, KNOWN, strict=True):
            self.assertLess(abs(c / known - 1), share)

    def test_are_found_again(self) -> None:
        self.assert_close(fit(systems(), times(systems())), 1e-4)

    def test_are_found_again_in_noise(self) -> None:
        self.assert_close(fit(systems(), times(systems(), noise=0.05)), 0.25)

    def test_are_never_negative(self) -> None:
        self.assertGreaterEqual(min(fit(systems(), times(systems(), noise=1))), 0)


class Fit(unittest.TestCase):
    def test_factors_above_and_below_count_the_same(self) -> None:
        self.assertAlmostEqual(fit([(1.0,), (1.0,)], [1e3, 4e3])[0], 2e3, delta=1)


class NonNegativeLeastSquares(unittest.TestCase):
    def test_exact(self) -> None:
        x = non_negative_least_squares([(1, 0), (1, 1), (1, 2)], [1, 3, 5])
        self.assertAlmostEqual(x[0], 1)
        self.assertAlmostEqual(x[1], 2)

    def test_no_component_is_negative(self) -> None:
        x = non_negative_least_squares([(1, 0), (1, 1), (1, 2)], [3, 2, 1])
        self.assertAlmostEqual(x[0], 2)
        self.assertEqual(x[1], 0)

    def test_linearly_dependent_columns(self) -> None:
        x = non_negative_least_squares([(1, 2), (2, 4)], [2, 4])
        self.assertAlmostEqual(x[0] + 2 * x[1], 2)


if __name__ == "__main__":
    unittest.main()
