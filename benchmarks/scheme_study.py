#!/usr/bin/env python3
"""The study of Hu, Sun, Li and Sun, AG-SpTRSV, ACM TACO 21(4), 2024, on the results of sptrsv_schemes.

Figure 3: warps against lanes, and how many warps. Figure 4: balance and reordering. Figure 9: the spaces MF, NM,
MHS and RL. Table 6: the search against the model. Writes scheme_study.md and, with matplotlib (Debian:
python3-matplotlib), SVG figures; prints the first table.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import pathlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from report import markdown_table
from report_tables import ROWS_PER_LEVEL, Section, Table, significant, times
from results_format import FormatError, geometric_mean

SATISFACTORY = 0.85
Settings = dict[str, str]
Test = Callable[[Settings], bool]


def settings_of(scheme: str) -> Settings:
    return dict(setting.split("=", 1) for setting in scheme.split())


@dataclass(frozen=True)
class System:
    name: str
    rows: float
    levels: float
    seconds: float  # of the search
    model_ms: float
    model_analysis_ms: float
    ms: dict[str, float]  # by scheme

    def best(self, test: Test = lambda _: True) -> float | None:
        """Milliseconds of the fastest scheme of which the test holds."""
        return min((ms for scheme, ms in self.ms.items() if test(settings_of(scheme))), default=None)

    @property
    def rows_per_level(self) -> float:
        return self.rows / max(self.levels, 1)


def load(
    paths: Sequence[pathlib.Path], held_out: dict[str, str] | None = None
) -> tuple[str, list[System]]:
    """`held_out`: by system, the scheme to take for the model's, from among those that were measured."""
    systems, device = [], ""
    for path in paths:
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            device = content["device"]
            for s in content["systems"]:
                ms = {m["scheme"]: float(m["ms"]) for m in s["schemes"] if m.get("ms") is not None}
                features = s["features"]
                model = s["model"]
                if held_out is not None:
                    model = measurement_of(s["schemes"], held_out[s["matrix"]], min(ms.values()))
                systems.append(
                    System(
                        s["matrix"],
                        features[0],
                        features[8],
                        s["search_seconds"],
                        model["ms"],
                        model["analysis_ms"],
                        ms,
                    )
                )
        except (OSError, ValueError, KeyError, TypeError, IndexError) as e:
            raise FormatError(f"{path}: {e}") from e
    if not systems:
        raise FormatError("no systems")
    return device, systems


def measurement_of(measured: list[Settings], scheme: str, best: float) -> dict[str, float]:
    """Of a scheme without one: ten times the best, as in train_schemes.py; of its analysis the mean."""
    analyses = [float(m["analysis_ms"]) for m in measured if "analysis_ms" in m]
    for m in measured:
        if m["scheme"] == scheme and m.get("ms") is not None:
            return {"ms": float(m["ms"]), "analysis_ms": float(m["analysis_ms"])}
    return {"ms": 10 * best, "analysis_ms": sum(analyses) / len(analyses)}


def hardware(s: Settings) -> bool:
    return s["warps"] == "ws_hardware" and s["group"] == "rg_sequential" and s["alpha_level"] == "inf"


def natural(s: Settings) -> bool:
    return not s["trans"].startswith("reorder")


def tiled(s: Settings) -> bool:
    return s["trans"] == "none" or s["trans"].startswith("merge_fixed")


# Section 5.2 of the paper: each contains the one before.
SPACES: list[tuple[str, str, Test]] = [
    ("MF", "merge_fixed, scheduled by the hardware", lambda s: natural(s) and tiled(s) and hardware(s)),
    ("NM", "and the other mergings", lambda s: natural(s) and hardware(s)),
    ("MHS", "and the other schedules", natural),
    ("RL", "and reordering", lambda s: True),
]


# One kind of scheme, and another.
CONTRASTS: list[tuple[str, Test, Test]] = [
    (
        "a warp a row over a lane a row (3a)",
        lambda s: natural(s) and s["trans"] == "none",
        lambda s: natural(s) and s["trans"] == "merge_fixed(32)" and s["sw_rnnz"] == "inf",
    ),
    ("16 warps over 4 (3b)", lambda s: s["nw"] == "16", lambda s: s["nw"] == "4"),
    ("32 warps over 16 (3b)", lambda s: s["nw"] == "32", lambda s: s["nw"] == "16"),
    (
        "balance over its absence (4a)",
        lambda s: s["group"] == "rg_balance" or s["warps"] == "ws_balance",
        lambda s: s["group"] == "rg_sequential" and s["warps"] in ("ws_rr", "ws_hardware"),
    ),
    ("reordered over natural (4b)", lambda s: not natural(s), natural),
    (
        "values as flags over fenced flags",
        lambda s: s["signal"] == "value",
        lambda s: s["signal"] == "fenced",
    ),
    ("entries buffered over not", lambda s: s["buffered"] == "yes", lambda s: s["buffered"] == "no"),
    (
        "wide levels alone over one launch",
        lambda s: s["alpha_level"] != "inf",
        lambda s: s["alpha_level"] == "inf",
    ),
]


def gains(systems: Iterable[System], of: Test, over: Test) -> list[float]:
    """How many times as fast the best scheme of one kind is as that of the other."""
    pairs = ((s.best(over), s.best(of)) for s in systems)
    return [a / b for a, b in pairs if a and b]


def spaces(systems: Sequence[System]) -> Section:
    first = SPACES[0][2]
    rows = []
    for s in sorted(systems, key=lambda s: s.rows_per_level):
        rows.append([s.name, significant(s.rows_per_level), *(times(m) for m in speedups(s))])
    means = [geometric_mean(gains(systems, test, first)) for _, _, test in SPACES]
    return Section(
        "Spaces of schemes (Figure 9)",
        "Speed of the best scheme of each space over that of MF. "
        + "; ".join(f"{name}: {text}" for name, text, _ in SPACES)
        + ".",
        Table(
            ["system", "rows per level", *(name for name, _, _ in SPACES)],
            [["geometric mean", "", *(times(m) for m in means)], *rows],
        ),
    )


def speedups(system: System) -> list[float | None]:
    bests = [system.best(test) for _, _, test in SPACES]
    first = bests[0]
    return [first / b if first and b else None for b in bests]


def contrasts(systems: Sequence[System]) -> Section:
    """Figures 3 and 4: one kind of scheme against another, all else free."""
    rows = []
    for name, of, over in CONTRASTS:
        found = sorted(gains(systems, of, over))
        if found:
            better = sum(g > 1 for g in found)
            rows.append(
                [
                    name,
                    times(geometric_mean(found)),
                    times(found[0]),
                    times(found[-1]),
                    f"{better} of {len(found)}",
                ]
            )
    return Section(
        "One choice against another (Figures 3 and 4)",
        "Speed of the best scheme with the choice over that of the best without it.",
        Table(["choice", "mean", "least", "most", "faster"], rows),
    )


def selection(systems: Sequence[System], are_held_out: bool = False) -> Section:
    rows = []
    for name, least, most in [*ROWS_PER_LEVEL, ("all", 0.0, math.inf)]:
        group = [s for s in systems if least <= s.rows_per_level < most and s.best()]
        if not group:
            continue
        best = [s.best() or math.inf for s in group]
        share = [min(b / s.model_ms, 1.0) for b, s in zip(best, group)]
        rows.append(
            [
                name,
                str(len(group)),
                significant(geometric_mean([s.seconds * 1e3 for s in group])),
                significant(geometric_mean([s.model_analysis_ms for s in group])),
                significant(geometric_mean(best)),
                significant(geometric_mean([s.model_ms for s in group])),
                significant(geometric_mean([s.model_analysis_ms / s.model_ms for s in group])),
                f"{100 * sum(v >= SATISFACTORY for v in share) / len(share):.0f} %",
                f"{100 * sum(1 - v for v in share) / len(share):.1f} %",
            ]
        )
    return Section(
        "Search and model (Table 6)",
        "Geometric means in milliseconds: preprocessing by search and by model, a solve with what each found. The "
        "model's preprocessing in its own solves; systems where its scheme is at least 85 per cent as fast as the "
        "best; what is lost on average (MAPE). "
        + (
            "The model: for each system one that was trained without its family."
            if are_held_out
            else "For systems that the model was trained on this flatters; train_schemes.py judges it on others."
        ),
        Table(
            [
                "rows per level",
                "systems",
                "search",
                "model",
                "solve, search",
                "solve, model",
                "solves",
                "within 85 %",
                "MAPE",
            ],
            rows,
        ),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path, nargs="+", help="files of sptrsv_schemes")
    parser.add_argument(
        "-o", "--output", type=pathlib.Path, default=pathlib.Path("report"), help="folder to write into"
    )
    parser.add_argument("--held-out", type=pathlib.Path, help="choices that train_schemes.py wrote")
    parser.add_argument("--tables-only", action="store_true", help="no figures")
    options = parser.parse_args(arguments)
    try:
        held_out = json.loads(options.held_out.read_text(encoding="utf-8")) if options.held_out else None
        device, systems = load(options.results, held_out)
        parts = [selection(systems, held_out is not None), contrasts(systems), spaces(systems)]
        options.output.mkdir(parents=True, exist_ok=True)
        origin = f"{len(systems)} systems on one {device}, fp64, one right-hand side."
        text = f"# Hu et al. 2024: schemes\n\n{origin}\n"
        if not options.tables_only and importlib.util.find_spec("matplotlib") is not None:
            from scheme_figures import draw_all

            text += "".join(
                f"\n![{title}]({file})\n\n{title}. {about}\n"
                for file, title, about in draw_all(systems, origin, options.output)
            )
        for part in parts:
            text += f"\n## {part.title}\n\n{part.text}\n\n{markdown_table(part.table)}\n"
        (options.output / "scheme_study.md").write_text(text, encoding="utf-8")
    except (FormatError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for part in parts[:2]:
        print(markdown_table(part.table))
    print(markdown_table(Table(parts[2].table.header, parts[2].table.rows[:1])))
    print(options.output / "scheme_study.md")
    return 0


if __name__ == "__main__":
    sys.exit(main())
