"""The training of the model of schemes, on synthetic results."""

from __future__ import annotations

import importlib.util
import re
import unittest
from typing import Any
from unittest import mock

from synthetic_schemes import AVERAGE, LANE, TWO, WARP, SchemesTest, system


@unittest.skipUnless(
    importlib.util.find_spec("numpy") and importlib.util.find_spec("sklearn"), "no numpy or no scikit-learn"
)
class Training(SchemesTest):
    """The number of rows decides which of two schemes is the best, which a model can learn."""

    def systems(self, count: int) -> list[dict[str, Any]]:
        made = []
        for i in range(count):
            rows = 10 ** (2 + 4 * (i * 37 % count) / count)
            fast, slow = (WARP, LANE) if rows < 1e4 else (LANE, WARP)
            made.append(system(f"s{i}", {fast: 1, slow: 2, AVERAGE: 10}, 1, rows, f"family {i % 8}"))
        return made

    def test_learns_a_rule_that_holds_for_other_systems(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        data = train_schemes.load([self.write_systems(self.systems(120))])
        self.assertEqual({data.schemes[i] for i in train_schemes.useful(data, 2)}, {WARP, LANE})
        quality, order = train_schemes.cross_validate(data, 2, 4, 1, train_schemes.SETTINGS[:1])
        self.assertGreater(quality.satisfactory, 0.9)
        self.assertLess(quality.mape, 0.05)
        of_two = train_schemes.Quality.of(data.times, train_schemes.fastest_of(data, order, 2))
        self.assertEqual(of_two.satisfactory, 1, "there are only two")
        self.assertLess(train_schemes.best_single(data).satisfactory, 0.7)

    def test_writes_a_header_of_the_chosen_schemes(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        header = self.folder / "table.hpp"
        short = tuple(train_schemes.Settings(0.1, iterations) for iterations in (20, 60))
        options = ("-o", str(header), "--schemes", "2", "--folds", "2")
        with mock.patch.object(train_schemes, "SETTINGS", short):
            status, output = self.call(train_schemes.main, str(self.write_systems(self.systems(24))), *options)
        self.assertEqual(status, 0, output)
        text = header.read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r'"(nw=[^"]*)"', text)), {WARP, LANE})
        self.assertIn("members = 5", text)
        self.assertIn("widths[4] = {10, 24, 24, 2}", text)
        count = 2 * 10 + 5 * (24 * 11 + 24 * 25 + 2 * 25)
        self.assertGreaterEqual(len("".join(re.findall(r'^"(\w*)"', text, re.MULTILINE))), 3 * count)
        self.assertIn("24 systems on A GPU", text)

    def test_packs_numbers_into_digits_of_base_62(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        self.assertEqual([train_schemes.packed(value) for value in (1.5, 0.0, -1e-10)], ["IbE", "ID2", "sMy00D"])

    def test_a_scheme_that_was_not_measured_is_not_satisfactory(self) -> None:
        import numpy

        from sptrsv_results.fit import schemes as train_schemes

        quality = train_schemes.Quality.of(numpy.array([[1, numpy.inf], [1, 1.1]]), numpy.array([1, 1]))
        self.assertEqual(quality.satisfactory, 0.5)
        self.assertAlmostEqual(quality.mape, (0.9 + 1 - 1 / 1.1) / 2)

    def test_learns_from_other_orders_and_is_judged_without_them(self) -> None:
        import numpy

        from sptrsv_results.fit import schemes as train_schemes

        systems = self.systems(60)
        for made in systems[1::2]:
            made["renumbering"] = "random"
            made["schemes"] = [m for m in made["schemes"] if m["scheme"] != AVERAGE]
        systems[0]["schemes"][2]["ms"] = 0.5
        data = train_schemes.load([self.write_systems(systems)])
        self.assertEqual(list(data.own_order), [True, False] * 30)
        self.assertEqual(
            {data.schemes[i] for i in train_schemes.useful(data, 16)}, {WARP, LANE, "nw=2"}, "tried on all"
        )
        quality, order = train_schemes.cross_validate(data, 16, 4, 1, train_schemes.SETTINGS[:1])
        own = numpy.flatnonzero(data.own_order)
        chosen = train_schemes.fastest_of(data, order, 1)
        self.assertEqual(quality, train_schemes.Quality.of(data.times[own], chosen[own]))
        self.assertLess(quality.satisfactory, 1, "the first is best with a scheme that is not known")
        self.assertGreater(quality.satisfactory, 0.8)

    def test_refuses_systems_of_one_family(self) -> None:
        from sptrsv_results.fit import schemes as train_schemes

        status, output = self.call(train_schemes.main, str(self.write_systems(TWO)))
        self.assertEqual(status, 2)
        self.assertIn("one family", output)


if __name__ == "__main__":
    unittest.main()
