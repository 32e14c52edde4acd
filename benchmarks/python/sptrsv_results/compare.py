"""Compares two files of results of sptrsv_bench, an old one and a new one, and lists regressions and improvements.

The times are those of warm solves in a batch; a ratio is new time over old time. A regression is a ratio above the
threshold whose spread (from the 5th and 95th percentiles of both files) does not contain 1, or a problem that the new
file no longer solves. With --check-baseline the command compares the times of the baseline in one file with a table
instead; it takes the times of one call on an idle machine, or in a batch if these were not measured.

Exit status: 0; 1 with a regression, or with a time that differs from the table by more than the threshold; 2 if the
input cannot be used.
"""

from __future__ import annotations

import math
import pathlib
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sptrsv_results.cli import new_parser
from sptrsv_results.format import FormatError, Results, Row, Times, describe, geometric_mean, load_results

THRESHOLD, TABLE_THRESHOLD = 5.0, 10.0  # percent
CONTEXT = ("device", "host", "driver", "cuda_runtime", "cusparse")


@dataclass(frozen=True)
class Change:
    """One policy on one problem, in both files. The ratio is new time over old time, with its spread."""

    old: Row
    new: Row
    ratio: float
    low: float
    high: float

    @property
    def policy(self) -> str:
        return self.new.policy

    def __str__(self) -> str:
        return (
            f"{self.ratio:7.3f}  [{self.low:.3f}, {self.high:.3f}]  {self.old.ms:10.4f}  "
            f"{self.new.ms:10.4f}  {self.policy:<18}  {describe(self.new)}"
        )


CHANGES_HEADER = f"{'ratio':>7}  {'spread':<14}  {'old ms':>10}  {'new ms':>10}  {'policy':<18}  matrix"


def change(old: Row, new: Row, drift: float) -> Change:
    """Returns the change between two correct rows, whose spreads are taken as independent.

    `drift`: a factor by which the new times are divided.
    """

    def up(t: Times) -> float:
        return math.log(t.p95_ms / t.median_ms)

    def down(t: Times) -> float:
        return math.log(t.median_ms / t.p5_ms)

    assert old.warm and new.warm
    ratio = new.warm.batch_ms / old.warm.batch_ms / drift
    low = ratio * math.exp(-math.hypot(down(new.warm), up(old.warm)))
    high = ratio * math.exp(math.hypot(up(new.warm), down(old.warm)))
    return Change(old, new, ratio, low, high)


class Comparison:
    """All changes between two files. `policies`: empty for all of them."""

    def __init__(self, old: Results, new: Results, policies: Sequence[str], threshold: float, normalise: bool):
        before = {(row.problem, row.policy): row for row in old.rows if not policies or row.policy in policies}
        after = {(row.problem, row.policy): row for row in new.rows if not policies or row.policy in policies}
        both = [(before[key], after[key]) for key in after if key in before]
        if not both:
            raise FormatError("the two files have no row in common")
        self.drift = baseline_drift(old, new)
        if normalise and self.drift is None:
            raise FormatError("--normalise: the two files have no time of a baseline in common")

        divisor = self.drift if normalise and self.drift else 1.0
        solved = [(a, b) for a, b in both if a.ms and b.ms]
        self.changes = sorted((change(a, b, divisor) for a, b in solved), key=lambda c: c.ratio)
        self.broken = [(a, b) for a, b in both if a.ms and not b.ms]
        self.repaired = [(a, b) for a, b in both if b.ms and not a.ms]
        self.missing = [row for key, row in before.items() if key not in after]
        self.added = [row for key, row in after.items() if key not in before]

        limit = 1 + threshold / 100
        slower = [c for c in reversed(self.changes) if c.ratio > limit]
        self.regressions = [c for c in slower if c.low > 1]
        self.unclear = [c for c in slower if c.low <= 1]
        self.improvements = [c for c in self.changes if c.ratio < 1 / limit and c.high < 1]

    @property
    def failed(self) -> bool:
        return bool(self.regressions or self.broken)


def baseline_drift(old: Results, new: Results) -> float | None:
    """Returns the factor by which the baseline's times changed, in the geometric mean.

    A factor other than 1 means that the machine changed.
    """
    before = {(row.problem, row.policy): row.ms for row in old.rows if row.is_baseline}
    after = {(row.problem, row.policy): row.ms for row in new.rows if row.is_baseline}
    return geometric_mean(now / ms for key, ms in before.items() if ms and (now := after.get(key)))


def within(ratio: float) -> str:
    """Returns how far a ratio is from 1, in either direction, in percent."""
    return f"{100 * (max(ratio, 1 / ratio) - 1):.1f} %"


def print_listing(title: str, lines: Iterable[object], header: str = "", most: int | None = None) -> None:
    every = list(lines)
    if not every:
        return
    print(f"\n{title}: {len(every)}" + (f"\n  {header}" if header else ""))
    for line in every[:most]:
        print(f"  {line}")
    if most is not None and len(every) > most:
        print(f"  ... and {len(every) - most} more")


def named(row: Row) -> str:
    return f"{row.policy:<18}  {describe(row)}"


def report(old: Results, new: Results, result: Comparison, threshold: float, normalise: bool) -> None:
    for name in CONTEXT:
        a, b = getattr(old.context, name), getattr(new.context, name)
        if a != b:
            print(f"note: {name} was {a}, is {b}")
    print_listing(f"regressions over {threshold:g} %, worst first", result.regressions, CHANGES_HEADER)
    print_listing(
        "no longer solved",
        (f"{named(b)}: {b.status}, {' '.join(b.message.split())}" for _, b in result.broken),
    )
    print_listing(f"slower by more than {threshold:g} %, but within the spread", result.unclear, CHANGES_HEADER, 10)
    print_listing(f"improvements over {threshold:g} %, best first", result.improvements, CHANGES_HEADER)
    print_listing("solved now", (f"{named(b)}: was {a.status}" for a, b in result.repaired))
    print_listing("missing in the new file", map(named, result.missing), most=20)
    print_listing("only in the new file", map(named, result.added), most=20)

    print(f"\n{'policy':<18}  {'rows':>5}  {'mean ratio':>10}  {'least':>7}  {'most':>7}")
    means = []
    for policy in sorted({c.policy for c in result.changes}):
        ratios = [c.ratio for c in result.changes if c.policy == policy]
        means.append(geometric_mean(ratios) or 1)
        print(f"{policy:<18}  {len(ratios):5}  {means[-1]:10.4f}  {ratios[0]:7.3f}  {ratios[-1]:7.3f}")
    if result.drift:
        what = "the ratios above are divided by it" if normalise else "--normalise divides by it"
        print(f"\nthe baseline's times changed by a factor of {result.drift:.4f} in the geometric mean ({what})")
    overall = geometric_mean(c.ratio for c in result.changes)
    if overall:
        worst = max(means, key=lambda mean: abs(math.log(mean)))
        print(
            f"the two runs agree within {within(overall)} in the geometric mean over {len(result.changes)} "
            f"rows, within {within(worst)} for every policy"
        )
    print(f"{len(result.regressions) + len(result.broken)} regressions, {len(result.improvements)} improvements")


def reference_times(path: pathlib.Path) -> dict[str, float]:
    """Returns the columns `matrix` and `cuSPARSE` (milliseconds) of the tables in a Markdown file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FormatError(f"{path}: {error}") from error
    times: dict[str, float] = {}
    columns: tuple[int, int] | None = None
    for number, line in enumerate(lines, 1):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        names = [cell.lower() for cell in cells]
        if not line.strip().startswith("|"):
            columns = None
        elif "matrix" in names and {"cusparse", "cusparse ms"} & set(names):
            columns = names.index("matrix"), names.index("cusparse" if "cusparse" in names else "cusparse ms")
        elif columns and set("".join(cells)) - set("-: "):
            try:
                name, ms = cells[columns[0]], float(cells[columns[1]])
            except (IndexError, ValueError):
                raise FormatError(f"{path}:{number}: no time in milliseconds: {line.strip()}") from None
            if not 0 < ms < math.inf or name in times:
                what = "a second time" if name in times else "no positive time"
                raise FormatError(f"{path}:{number}: {what}: {name}")
            times[name] = ms
    if not times:
        raise FormatError(f'{path}: no table with columns "matrix" and "cuSPARSE"')
    return times


def check_baseline(results: Results, reference: dict[str, float], threshold: float) -> int:
    """Compares the lower triangle in f64 with one right-hand side; prefers 32-bit indices. Returns the exit status."""
    measured: dict[str, tuple[float, str]] = {}
    for row in sorted(results.rows, key=lambda row: row.index, reverse=True):
        usual = (row.value, row.part, row.operation, row.rhs) == ("f64", "lower", "none", 1)
        if row.is_baseline and row.ms and usual:
            measured[row.matrix] = (row.alone_ms, "alone") if row.alone_ms else (row.ms, "in batch")
    ratios = {name: measured[name][0] / ms for name, ms in reference.items() if name in measured}
    if not ratios:
        raise FormatError("no matrix of the table has a time of the baseline (f64, lower, none, 1 rhs)")

    print(f"{'ratio':>7}  {'table ms':>10}  {'measured ms':>11}  {'call':<8}  matrix")
    for name, ratio in ratios.items():
        ms, call = measured[name]
        print(f"{ratio:7.3f}  {reference[name]:10.4f}  {ms:11.4f}  {call:<8}  {name}")
    off = {name: ratio for name, ratio in ratios.items() if max(ratio, 1 / ratio) > 1 + threshold / 100}
    print_listing(
        f"more than {threshold:g} % off",
        (f"{off[name]:7.3f}  {name}" for name in sorted(off, key=lambda name: -abs(math.log(off[name])))),
    )
    print_listing("in the table only", (name for name in reference if name not in ratios))
    print(
        f"\n{len(ratios)} matrices, geometric mean of measured over table "
        f"{geometric_mean(ratios.values()):.4f}, {len(off)} more than {threshold:g} % off"
    )
    return 1 if off else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("compare", __doc__)
    parser.add_argument(
        "results",
        nargs="+",
        type=pathlib.Path,
        metavar="RESULTS.json",
        help="the old and the new file, or one file with --check-baseline",
    )
    parser.add_argument(
        "--threshold",
        type=float,
        metavar="PERCENT",
        help=f"report changes of more than this (default: {THRESHOLD:g}, with --check-baseline {TABLE_THRESHOLD:g})",
    )
    parser.add_argument("--policy", action="append", default=[], help="compare this policy only; may be repeated")
    parser.add_argument(
        "--normalise", action="store_true", help="divide the ratios by the change of the baseline's times"
    )
    parser.add_argument(
        "--check-baseline",
        type=pathlib.Path,
        metavar="TABLE.md",
        help="compare with a Markdown table that has the columns `matrix` and `cuSPARSE` (milliseconds)",
    )
    options = parser.parse_args(arguments)
    expected = 1 if options.check_baseline else 2
    if len(options.results) != expected:
        parser.error(f"{expected} file(s) of results expected, {len(options.results)} given")
    threshold = options.threshold
    if threshold is None:
        threshold = TABLE_THRESHOLD if options.check_baseline else THRESHOLD
    if not 0 <= threshold < math.inf:
        parser.error("the threshold must be a number of at least 0")

    try:
        loaded = [load_results(path) for path in options.results]
        if options.check_baseline:
            return check_baseline(loaded[0], reference_times(options.check_baseline), threshold)
        old, new = loaded
        result = Comparison(old, new, options.policy, threshold, options.normalise)
    except FormatError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    report(old, new, result, threshold, options.normalise)
    return 1 if result.failed else 0
