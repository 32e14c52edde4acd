"""Checks that files of results can be used, as sptrsv_bench --json writes them.

Prints what each file holds, or what is wrong with it. Exit status: 0; 2 if a file cannot be used.
"""

# The dataclasses below define the format: one key for each field, null where the type allows None. A field with a
# default may be missing, as it is in older files. Keys without a field are ignored.

from __future__ import annotations

import dataclasses
import functools
import json
import math
import pathlib
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sptrsv_results.cli import new_parser


class FormatError(Exception):
    """A file of results cannot be used. The text says where and why, with one reason per line."""


@dataclass(frozen=True)
class Context:
    """Where and how the results were measured. Facts about a GPU are None without one."""

    program: str
    version: str
    date_utc: str
    command: str
    host: str
    device: str | None
    sm_count: int | None
    driver: str | None
    cuda_runtime: str | None
    cusparse: str | None
    copy_bandwidth_gb_s: float | None
    hop_ns: float | None
    l2_bytes: int | None


@dataclass(frozen=True)
class Times:
    """Milliseconds of one solve.

    median_ms, p5_ms and p95_ms are percentiles of single calls in a queue of calls; batch_ms is the time in a batch of
    calls, graph_ms that of a replayed CUDA graph. alone_ms is the time of one call on an idle machine; it is None with
    a cold cache and for long solves.
    """

    median_ms: float
    p5_ms: float
    p95_ms: float
    batch_ms: float
    graph_ms: float | None
    samples: int
    alone_ms: float | None = None


@dataclass(frozen=True)
class Distribution:
    """Order statistics of counts."""

    min: int
    median: int
    p90: int
    max: int


@dataclass(frozen=True)
class Prediction:
    """The time that a cost model predicts for a path, in milliseconds."""

    path: str
    ms: float


@dataclass(frozen=True)
class Row:
    """One policy on one problem. Measurements may be None unless the status is ok."""

    matrix: str
    source: Literal["file", "generated"]
    kind: str
    n: int
    nnz: int
    levels: int
    rows_per_level: float
    longest_row: int
    longest_column: int
    value: str
    index: str
    part: str
    operation: str
    rhs: int
    policy: str
    status: Literal["ok", "wrong", "unsupported", "failed"]
    message: str
    baseline: str
    kernels: list[str] | None
    analysis_ms: float | None
    update_ms: float | None
    warm: Times | None
    cold: Times | None
    bytes_moved: float | None
    gb_s: float | None
    ns_per_level: float | None
    bandwidth_floor_ms: float | None
    hop_floor_ms: float | None
    ratio_to_floor: float | None
    speedup: float | None  # baseline over policy, in warm.batch_ms
    speedup_cold: float | None
    break_even_solves: float | None  # None: never
    solver_bytes: int | None
    workspace_bytes: int | None
    matrix_bytes: float | None
    backward_error: float | None  # None: not finite
    error_bound: float | None
    storage: Literal["csr", "csc"] = "csr"  # format of the matrix; not part of the problem
    kernel_levels: list[int] | None = None  # levels in whose order each kernel solves; 0: the order of substitution
    plan: str | None = None  # the choice of the analysis, with its predictions
    kernel_partitions: list[int] | None = None  # of each kernel: partitions of the rows, or supernodes
    first_analysis_ms: float | None = None  # with empty pools of memory; analysis_ms is that of a repeated one
    path: str | None = None  # the path that was chosen; empty for policies without paths
    predictions: list[Prediction] | None = None  # of the paths among which the policy chose
    row_lengths: Distribution | None = None  # entries of a row, without the diagonal
    level_rows: Distribution | None = None  # rows of a level

    @property
    def problem(self) -> tuple[Any, ...]:
        """What identifies the problem: rows with equal values compare."""
        return (self.matrix, self.value, self.index, self.part, self.operation, self.rhs)

    @property
    def is_baseline(self) -> bool:
        return self.policy == self.baseline

    @property
    def ms(self) -> float | None:
        """The headline time of a correct solve."""
        return self.warm.batch_ms if self.status == "ok" and self.warm else None

    @property
    def alone_ms(self) -> float | None:
        """The time of one call of a correct solve on an idle machine, if that was measured."""
        return self.warm.alone_ms if self.status == "ok" and self.warm else None

    @property
    def single_ms(self) -> float | None:
        """The time of one call on an idle machine, or, of a long solve, in a queue of calls."""
        return (self.warm.alone_ms or self.warm.median_ms) if self.status == "ok" and self.warm else None

    @property
    def predicted_ms(self) -> float | None:
        """The time that was predicted for the chosen path."""
        return next((one.ms for one in self.predictions or () if one.path == self.path), None)


@dataclass(frozen=True)
class Results:
    context: Context
    rows: list[Row]

    @functools.cached_property
    def policies(self) -> list[str]:
        """The policies in the order of their names, baselines last."""
        baselines = {row.baseline for row in self.rows}
        return sorted({row.policy for row in self.rows}, key=lambda policy: (policy in baselines, policy))

    @property
    def baselines(self) -> list[str]:
        return sorted({row.baseline for row in self.rows})

    @functools.cached_property
    def by_problem(self) -> dict[tuple[Any, ...], dict[str, Row]]:
        """The rows of each problem, by policy."""
        problems: dict[tuple[Any, ...], dict[str, Row]] = {}
        for row in self.rows:
            problems.setdefault(row.problem, {})[row.policy] = row
        return problems

    def baseline_row(self, row: Row) -> Row | None:
        return self.by_problem[row.problem].get(row.baseline)


@dataclass(frozen=True)
class FactorTimes:
    """Milliseconds of an incomplete factorisation and of its analysis. An analysis is None if it cannot be told from
    the factorisation; the first one finds empty pools of memory."""

    factor_ms: float
    analysis_ms: float | None
    first_analysis_ms: float | None

    @property
    def first_ms(self) -> float:
        return self.factor_ms + (self.first_analysis_ms or 0)


@dataclass(frozen=True)
class Factorisation:
    """One incomplete factorisation of one matrix, by this library and by both forms of cuSPARSE."""

    matrix: str
    factors: Literal["ilu0", "ic0"]
    n: int
    nnz: int
    levels: int
    ours: FactorTimes
    by_level: FactorTimes
    without_levels: FactorTimes

    @property
    def rows_per_level(self) -> float:
        return self.n / max(self.levels, 1)


@dataclass(frozen=True)
class Factorisations:
    context: Context
    factorisations: list[Factorisation]


# The fields that are not None in any row with a correct solution.
SOLVED = ("kernels", "analysis_ms", "warm", "solver_bytes", "matrix_bytes", "backward_error", "error_bound")
MAY_BE_ZERO = {
    "n",
    "nnz",
    "levels",
    "kernel_levels",
    "kernel_partitions",
    "rows_per_level",
    "longest_row",
    "longest_column",
    "backward_error",
    "error_bound",
    "bytes_moved",
    "gb_s",
    "ns_per_level",
    "bandwidth_floor_ms",
    "hop_floor_ms",
    "ratio_to_floor",
    "analysis_ms",
    "first_analysis_ms",
    "update_ms",
    "ms",
    "min",
    "median",
    "p90",
    "max",
    "break_even_solves",
    "solver_bytes",
    "workspace_bytes",
    "matrix_bytes",
    "sm_count",
    "l2_bytes",
}
MAY_BE_EMPTY = {"message", "kind", "path", "plan"}


def parse_results(data: object) -> Results:
    """Returns the results in parsed JSON; raises a FormatError that lists the faults."""
    return _parse(data, Results, _check_rows)


def parse_factorisations(data: object) -> Factorisations:
    return _parse(data, Factorisations, _check_factorisations)


def _parse(data: object, expected: Any, check: Callable[[Any, list[str]], None]) -> Any:
    faults: list[str] = []
    results = _convert(data, expected, "results", "", faults)
    if not faults:
        check(results, faults)
    if faults:
        shown = faults[:20] + ([f"... and {len(faults) - 20} more"] if len(faults) > 20 else [])
        raise FormatError("\n".join(shown))
    return results


def load_results(path: pathlib.Path) -> Results:
    return _load(path, parse_results)


def load_factorisations(path: pathlib.Path) -> Factorisations:
    return _load(path, parse_factorisations)


def _load(path: pathlib.Path, parse: Callable[[object], Any]) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(f"{constant} is not a number of JSON")

    try:
        data = json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)
    except OSError as error:
        raise FormatError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path}: not JSON: {error}") from error
    try:
        return parse(data)
    except FormatError as error:
        raise FormatError("\n".join(f"{path}: {fault}" for fault in str(error).split("\n"))) from None


def _convert(value: Any, expected: Any, where: str, key: str, faults: list[str]) -> Any:
    """Returns `value` as an object of the type `expected`; adds what is wrong with it to `faults`."""
    if typing.get_origin(expected) is types.UnionType:  # all unions of the format are `... | None`
        if value is None:
            return None
        expected = typing.get_args(expected)[0]
    origin, arguments = typing.get_origin(expected), typing.get_args(expected)

    def fault(text: str) -> None:
        faults.append(f"{where} {text}")

    if dataclasses.is_dataclass(expected):
        if not isinstance(value, dict):
            return fault(f"is {_name(value)}, not an object")
        return _convert_object(value, expected, where, faults)
    if origin is list:
        if not isinstance(value, list):
            return fault(f"is {_name(value)}, not an array")
        return [_convert(v, arguments[0], f"{where}[{i}]", key, faults) for i, v in enumerate(value)]
    if origin is Literal:
        if value not in arguments:
            fault(f"is {_name(value)}, not one of {', '.join(arguments)}")
    elif expected is str:
        if not isinstance(value, str):
            fault(f"is {_name(value)}, not a string")
        elif key not in MAY_BE_EMPTY and not value:
            fault("is empty")
        elif key != "message" and not value.isprintable():
            fault(f"is {_name(value)}, which has control characters")
    elif isinstance(value, bool) or not isinstance(value, int if expected is int else (int, float)):
        fault(f"is {_name(value)}, not {'an integer' if expected is int else 'a number'}")
    elif not _is_finite(value):
        fault("is not finite")
    elif value < 0 or (value == 0 and key not in MAY_BE_ZERO):
        fault(f"is {value}, which must be {'at least' if key in MAY_BE_ZERO else 'greater than'} 0")
    return value


def _convert_object(value: dict[str, Any], expected: Any, where: str, faults: list[str]) -> Any:
    before = len(faults)
    label = f" ({value['matrix']}, {value.get('policy')})" if "matrix" in value else ""
    fields = {}
    for name, kind in _field_types(expected).items():
        if name not in value:
            if name not in _optional_fields(expected):
                faults.append(f'{where}{label} has no "{name}"')
        else:
            path = name if expected in (Results, Factorisations) else f"{where}.{name}"
            fields[name] = _convert(value[name], kind, path, name, faults)
    return expected(**fields) if len(faults) == before else None


@functools.cache
def _field_types(expected: type) -> dict[str, Any]:
    return typing.get_type_hints(expected)


@functools.cache
def _optional_fields(expected: type) -> set[str]:
    return {field.name for field in dataclasses.fields(expected) if field.default is not dataclasses.MISSING}


def _is_finite(value: int | float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer too large for a double
        return False


def _name(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _check_rows(results: Results, faults: list[str]) -> None:
    """Checks what the types do not tell."""
    if not results.rows:
        faults.append("rows is empty")
    seen: dict[tuple[Any, ...], int] = {}
    for i, row in enumerate(results.rows):
        found: list[str] = []
        first = seen.setdefault((row.problem, row.policy), i)
        if first != i:
            found.append(f"is the same measurement as rows[{first}]")
        if row.status in ("unsupported", "failed") and not row.message:
            found.append(f"is {row.status} and has no message")
        for name in SOLVED if row.status == "ok" else ():
            if getattr(row, name) is None:
                found.append(f"is ok and has no {name}")
        for name in ("warm", "cold"):
            times: Times | None = getattr(row, name)
            if times and not times.p5_ms <= times.median_ms <= times.p95_ms:
                found.append(f"has {name} percentiles out of order")
        if row.status == "ok" and (row.backward_error or 0) > (row.error_bound or 0):
            found.append(f"is ok with an error of {row.backward_error} over the bound of {row.error_bound}")
        found += _speedup_faults(results, row)
        faults += [f"rows[{i}] ({describe(row)}, {row.policy}) {fault}" for fault in found]


def _check_factorisations(results: Factorisations, faults: list[str]) -> None:
    if not results.factorisations:
        faults.append("factorisations is empty")
    seen: set[tuple[str, str]] = set()
    for i, one in enumerate(results.factorisations):
        if (one.matrix, one.factors) in seen:
            faults.append(f"factorisations[{i}] ({one.matrix}, {one.factors}) was measured twice")
        seen.add((one.matrix, one.factors))


def _speedup_faults(results: Results, row: Row) -> list[str]:
    if row.speedup is None or row.ms is None:
        return []
    baseline = results.baseline_row(row)
    if not baseline or baseline.ms is None:
        return [f"has a speed-up over {row.baseline}, which has no time for this problem"]
    if not 0.95 < row.speedup * row.ms / baseline.ms < 1.05:
        return [f"has a speed-up of {row.speedup:.4g}, the times say {baseline.ms / row.ms:.4g}"]
    return []


def describe(row: Row) -> str:
    """Returns the name of the matrix, with the properties of the problem that are not the usual ones."""
    usual = {"f64", "i32", "lower", "none"}
    words = [word for word in (row.value, row.index, row.part, row.operation) if word not in usual]
    words += [f"{row.rhs} rhs"] if row.rhs != 1 else []
    return f"{row.matrix} ({', '.join(words)})" if words else row.matrix


def geometric_mean(values: Iterable[float]) -> float | None:
    """Returns None without values, or if one is not positive and finite."""
    logs = [math.log(value) if 0 < value < math.inf else math.nan for value in values]
    mean = math.fsum(logs) / len(logs) if logs else math.nan
    return None if math.isnan(mean) else math.exp(mean)


def quantile(values: Iterable[float], share: float) -> float | None:
    """Returns the smallest value that at least this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else None


def measured(rows: Iterable[Row], name: str) -> Iterator[float]:
    """Returns one field of all correct rows that have it."""
    return (value for row in rows if row.status == "ok" and (value := getattr(row, name)) is not None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("check", __doc__)
    parser.add_argument(
        "results", type=pathlib.Path, metavar="RESULTS.json", nargs="+", help="written by sptrsv_bench --json"
    )
    status = 0
    for path in parser.parse_args(arguments).results:
        try:
            results = load_results(path)
        except FormatError as error:
            print(error, file=sys.stderr)
            status = 2
        else:
            statuses = [row.status for row in results.rows]
            counts = (f"{statuses.count(name)} {name}" for name in ("ok", "wrong", "unsupported", "failed"))
            print(
                f"{path}: {len(results.by_problem)} problems, {len(results.policies)} policies, rows: "
                + ", ".join(counts)
            )
    return status
