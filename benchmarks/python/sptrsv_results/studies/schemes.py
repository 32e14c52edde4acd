"""Writes the study of schemes from the results of sptrsv_schemes: Hu, Sun, Li and Sun, AG-SpTRSV, ACM TACO 21(4), 2024.

Figure 3 compares warps with lanes, and numbers of warps; Figure 4 compares balance and reordering with their absence;
Figure 9 compares the spaces MF, NM, MHS and RL; Table 6 compares the search with the model. Writes scheme_study.md and
SVG figures, and prints the tables.
"""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sptrsv_results.cli import add_output_folder, add_tables_only, new_parser
from sptrsv_results.format import FormatError, geometric_mean
from sptrsv_results.page import Section, Table, markdown_table
from sptrsv_results.tables import ROWS_PER_LEVEL, significant, times

SATISFACTORY = 0.85  # speed relative to the best scheme
Settings = dict[str, str]
Test = Callable[[Settings], bool]


def settings_of(scheme: str) -> Settings:
    return dict(setting.split("=", 1) for setting in scheme.split())


@dataclass(frozen=True)
class System:
    name: str
    rows: float
    levels: float
    seconds: float  # duration of the search
    model_ms: float
    model_analysis_ms: float
    ms: dict[str, float]  # by scheme

    def best(self, test: Test = lambda _: True) -> float | None:
        """Returns the milliseconds of the fastest scheme that passes the test."""
        return min((ms for scheme, ms in self.ms.items() if test(settings_of(scheme))), default=None)

    @property
    def rows_per_level(self) -> float:
        return self.rows / max(self.levels, 1)


def load(paths: Sequence[pathlib.Path], held_out: dict[str, str] | None = None) -> tuple[str, list[System]]:
    """Returns the device and the systems.

    `held_out`: by system, the scheme that replaces the choice of the model.
    """
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
    """Returns the times of a scheme.

    A scheme without a measurement takes ten times the best time, as in train-schemes, and the mean analysis time.
    """
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


# Section 5.2 of the paper. Each space contains the space before it.
SPACES: list[tuple[str, str, Test]] = [
    ("MF", "merge_fixed, scheduled by the hardware", lambda s: natural(s) and tiled(s) and hardware(s)),
    ("NM", "also with the other mergings", lambda s: natural(s) and hardware(s)),
    ("MHS", "also with the other schedules", natural),
    ("RL", "also with reordering", lambda s: True),
]


# A name, the schemes with a choice, and the schemes without it.
CONTRASTS: list[tuple[str, Test, Test]] = [
    (
        "one warp per row over one lane per row (3a)",
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
    ("buffered entries over unbuffered entries", lambda s: s["buffered"] == "yes", lambda s: s["buffered"] == "no"),
    (
        "own launches for wide levels over one launch",
        lambda s: s["alpha_level"] != "inf",
        lambda s: s["alpha_level"] == "inf",
    ),
]


def gains(systems: Iterable[System], of: Test, over: Test) -> list[float]:
    """Returns the speed of the best scheme of one kind over that of the best scheme of the other, for each system."""
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
        "Speed of the best scheme of each space over that of the best scheme of MF. "
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
    """Compares one kind of scheme with another, with all other settings free (Figures 3 and 4)."""
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
        "Speed of the best scheme with the choice over that of the best scheme without it.",
        Table(["choice", "mean", "least", "most", "faster"], rows),
    )


def selection(systems: Sequence[System], are_held_out: bool = False) -> Section:
    rows = []
    for name, least, most in [*ROWS_PER_LEVEL, ("all", 0.0, math.inf)]:
        group = [s for s in systems if least <= s.rows_per_level < most and s.best()]
        if not group:
            continue
        best = [s.best() or math.inf for s in group]
        share = [min(b / s.model_ms, 1.0) for b, s in zip(best, group, strict=True)]
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
        "Geometric means in milliseconds of the preprocessing by search and by model, and of a solve with the scheme "
        "that each of them found. `solves`: the model's preprocessing over one of its solves. `within 85 %`: share of "
        "the systems for which the model's scheme is at least 85 % as fast as the best scheme. `MAPE`: mean share of "
        "the speed that is lost. "
        + (
            "The model of each system was trained without the family of the system."
            if are_held_out
            else "The model may have been trained on these systems, which makes it look better than it is; "
            "train-schemes measures it on other systems."
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
    parser = new_parser("scheme-study", __doc__)
    parser.add_argument(
        "results", type=pathlib.Path, metavar="SCHEMES.json", nargs="+", help="written by sptrsv_schemes"
    )
    add_output_folder(parser)
    parser.add_argument(
        "--held-out",
        type=pathlib.Path,
        metavar="CHOICES.json",
        help="written by train-schemes --held-out: the choice of the model for each system",
    )
    add_tables_only(parser)
    options = parser.parse_args(arguments)
    try:
        held_out = json.loads(options.held_out.read_text(encoding="utf-8")) if options.held_out else None
        device, systems = load(options.results, held_out)
        sections = [selection(systems, held_out is not None), contrasts(systems), spaces(systems)]
        options.output.mkdir(parents=True, exist_ok=True)
        origin = f"{len(systems)} systems on one {device}, fp64, one right-hand side."
        text = f"# Hu et al. 2024: schemes\n\n{origin}\n"
        if not options.tables_only:
            from sptrsv_results.studies.scheme_figures import draw_all  # needs matplotlib

            for picture in draw_all(systems, origin, options.output):
                text += f"\n![{picture.title}]({picture.file})\n\n{picture.title}. {picture.text}\n"
        for section in sections:
            text += f"\n## {section.title}\n\n{section.text}\n\n{markdown_table(section.table)}\n"
        (options.output / "scheme_study.md").write_text(text, encoding="utf-8")
    except (FormatError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for section in sections[:2]:
        print(markdown_table(section.table))
    last = sections[2].table
    print(markdown_table(Table(last.header, last.rows[:1])))
    print(options.output / "scheme_study.md")
    return 0
