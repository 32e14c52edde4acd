"""Makes results like those of the benchmark, from seeds, for some policies and about 60 matrices."""

from __future__ import annotations

import copy
import random
from typing import Any

HOP_MS, BANDWIDTH = 262e-6, 4.29e9  # of an H200: milliseconds, bytes per millisecond
LAUNCH_MS = 2.2e-3
ALONE = 1.5  # time of a call on an idle machine over that of a call in a batch
# Cost factors of each policy: per level, per byte, per launch; its analysis over the baseline's, its memory over that
# of the matrix.
POLICIES: dict[str, tuple[float, float, float, float, float]] = {
    "cusparse": (6.8, 5.0, 3.0, 1.0, 1.3),
    "level_set": (9.0, 2.0, 1.0, 0.4, 1.1),
    "sync_free_warp": (2.2, 3.0, 1.0, 0.3, 1.1),
    "merged": (1.1, 2.2, 1.6, 1.4, 2.3),
}


def context(**changes: Any) -> dict[str, Any]:
    return {
        "program": "sptrsv_bench",
        "version": "0.1.0",
        "date_utc": "2025-01-31T12:00:00Z",
        "command": "sptrsv_bench matrices --generated all --cold --json results.json",
        "device": "NVIDIA H200",
        "sm_count": 132,
        "driver": "550.90",
        "cuda_runtime": "12.4",
        "cusparse": "12.3.1",
        "copy_bandwidth_gb_s": 4290.0,
        "hop_ns": 262.0,
        "l2_bytes": 62914560,
        "host": "an x86 machine",
        **changes,
    }


def spread(ms: float, noise: random.Random, width: float, graph: bool = True, alone: bool = True) -> dict[str, Any]:
    single = ms + LAUNCH_MS
    return {
        "median_ms": single,
        "p5_ms": single * (1 - width * noise.uniform(0.2, 1)),
        "p95_ms": single * (1 + width * noise.uniform(0.2, 1.5)),
        "batch_ms": ms,
        "graph_ms": ms * 1.02 if graph else None,
        "alone_ms": ms * ALONE if alone else None,
        "samples": 50,
    }


def results(
    count: int = 60,
    seed: int = 1,
    noise_seed: int = 1,
    policies: tuple[str, ...] = tuple(POLICIES),
    baseline: str = "cusparse",
    noise: float = 0.01,
) -> dict[str, Any]:
    """Returns results. The matrices depend on `seed`, the noise of the times on both seeds."""
    structure, shaky = random.Random(seed), random.Random(f"{seed} {noise_seed}")
    rows: list[dict[str, Any]] = []
    for i in range(count):
        rows_per_level = 10 ** structure.uniform(0, 4.7)
        n = int(max(rows_per_level * 2, 10 ** structure.uniform(3.4, 6.2)))
        levels = max(1, round(n / rows_per_level))
        nnz = int(n * structure.uniform(2, 25))
        source = "file" if i < 0.8 * count else "generated"
        of_matrix = {
            "matrix": f"{source}_{i:02}",
            "source": source,
            "kind": "made up",
            "n": n,
            "nnz": nnz,
            "levels": levels,
            "rows_per_level": n / levels,
            "longest_row": structure.randint(5, 500),
            "longest_column": structure.randint(5, 5000),
        }
        moved = 12.0 * nnz + 28.0 * n
        bandwidth_floor, hop_floor = moved / BANDWIDTH, levels * HOP_MS
        for name in policies:
            hops, passes, launch, analysis, memory = POLICIES.get(name, (30.0, 40.0, 0.5, 0.2, 0.5))
            ms = (hops * structure.uniform(0.6, 1.6) * hop_floor + passes * bandwidth_floor + launch * LAUNCH_MS) * (
                1 + noise * shaky.gauss(0, 1)
            )
            cold = ms + structure.uniform(1, 2) * min(moved, 6e7) / BANDWIDTH + 1e-3
            rows.append(
                of_matrix
                | {
                    "value": "f64",
                    "index": "i32",
                    "part": "lower",
                    "operation": "none",
                    "rhs": 1,
                    "policy": name,
                    "status": "ok",
                    "message": "",
                    "kernels": [f"{name}_agent"],
                    "analysis_ms": analysis * structure.uniform(0.5, 2) * (0.2 + 12 * hop_floor + 30 * bandwidth_floor),
                    "update_ms": 0.01 + 2 * bandwidth_floor,
                    "warm": spread(ms, shaky, 3 * noise),
                    "cold": spread(cold, shaky, 3 * noise, graph=False, alone=False),
                    "bytes_moved": moved,
                    "gb_s": moved / ms / 1e6,
                    "ns_per_level": 1e6 * ms / levels,
                    "bandwidth_floor_ms": bandwidth_floor,
                    "hop_floor_ms": hop_floor,
                    "ratio_to_floor": ms / max(bandwidth_floor, hop_floor),
                    "baseline": baseline,
                    "speedup": None,
                    "speedup_cold": None,
                    "break_even_solves": None,
                    "solver_bytes": int(memory * 12 * nnz),
                    "workspace_bytes": 16 * n,
                    "matrix_bytes": 12 * nnz + 4 * n,
                    "backward_error": 1.2e-16,
                    "error_bound": 9e-15,
                }
            )
    made = {"context": context(), "rows": rows}
    compare_with_baseline(made)
    return made


def compare_with_baseline(made: dict[str, Any]) -> None:
    """Sets the fields that compare a row with its baseline."""

    def problem(row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(row[key] for key in ("matrix", "value", "index", "part", "operation", "rhs"))

    baselines = {problem(row): row for row in made["rows"] if row["policy"] == row["baseline"]}
    for row in made["rows"]:
        other = baselines.get(problem(row))
        if other is None or row["status"] != "ok" or other["status"] != "ok":
            row |= {"speedup": None, "speedup_cold": None, "break_even_solves": None}
            continue
        own, theirs = row["warm"]["batch_ms"], other["warm"]["batch_ms"]
        row["speedup"] = theirs / own
        row["speedup_cold"] = other["cold"]["median_ms"] / row["cold"]["median_ms"] if row["cold"] else None
        extra = row["analysis_ms"] - other["analysis_ms"]
        row["break_even_solves"] = (
            0.0 if extra <= 0 and own <= theirs else extra / (theirs - own) if own < theirs else None
        )


def scaled(made: dict[str, Any], factor: float, policy: str | None = None, matrix: str | None = None) -> dict[str, Any]:
    """Returns a copy with the warm times multiplied; None stands for all policies or all matrices."""
    changed = copy.deepcopy(made)
    for row in changed["rows"]:
        if policy in (None, row["policy"]) and matrix in (None, row["matrix"]) and row["warm"]:
            for name, value in row["warm"].items():
                if name.endswith("_ms") and value is not None:
                    row["warm"][name] = value * factor
    compare_with_baseline(changed)
    return changed


def not_solved(row: dict[str, Any], status: str, message: str) -> None:
    """Removes the measurements of a row."""
    row |= {"status": status, "message": message}
    row |= dict.fromkeys(
        (
            "kernels",
            "analysis_ms",
            "update_ms",
            "warm",
            "cold",
            "bytes_moved",
            "gb_s",
            "ns_per_level",
            "ratio_to_floor",
            "speedup",
            "speedup_cold",
            "break_even_solves",
            "solver_bytes",
            "workspace_bytes",
            "backward_error",
            "error_bound",
        )
    )


GRIDS = ("laplace5_64x256", "laplace5_128x128", "laplace27_8x16x32", "other")
LI_ZHANG = ("cusparse", "level_set_separate", "self_scheduled", "dataflow")
LIU = ("cusparse", "level_set", "sync_free_column", "sync_free_column_global")


def pairs() -> dict[str, Any]:
    """Returns input of the study of Li and Zhang: both triangles of some grids and of another matrix."""
    made = results(count=len(GRIDS), policies=LI_ZHANG)
    for i, row in enumerate(made["rows"]):
        row["matrix"] = GRIDS[i // len(LI_ZHANG)]
    return with_types(made, ("lower", "upper"))


def lower_triangles(count: int = 5) -> dict[str, Any]:
    """Returns input of the study of Liu et al."""
    return with_types(results(count=count, policies=LIU), ("lower",))


BLOCKS = ("cusparse", "sync_free_column", "recursive_block", "column_block_16", "recursive_block_16")


def block_solves(count: int = 5) -> dict[str, Any]:
    """Returns input of the study of Lu, Niu and Liu."""
    made = results(count=count, policies=BLOCKS)
    for row in made["rows"]:
        if "_block" in row["policy"]:
            row["kernels"].append("triangles: 16 diagonal; 2.50 n sums updated, 1.75 n of x read")
    return with_types(made, ("lower",))


def with_types(made: dict[str, Any], parts: tuple[str, ...]) -> dict[str, Any]:
    """Repeats the rows, which are lower triangles in double precision, for both precisions and these triangles."""
    rows = made["rows"]
    made["rows"] = [
        copy.deepcopy(row) | {"value": value, "part": part}
        for value in ("f64", "f32")
        for part in parts
        for row in rows
    ]
    compare_with_baseline(made)
    return made
