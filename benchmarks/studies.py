#!/usr/bin/env python3
"""Makes the tables and figures of a paper's study out of the results of `sptrsv_bench --study NAME`.

li_zhang: Li and Zhang 2020, Figures 5.1 to 5.3, Tables 5.3 to 5.6. liu: Liu et al. 2016, Figure 4 and Table 4.
lu_niu_liu: Lu, Niu and Liu 2020, Tables 1, 2, 4 and 5, Figures 4 and 7; with --published its times beside them.
Several files are taken together. Writes NAME.md and, with matplotlib (Debian: python3-matplotlib), SVG
figures; prints the first table.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib.util
import pathlib
import sys
from collections.abc import Sequence

from report import Picture, caption, facts, markdown, markdown_table
from results_format import FormatError, Results, load_results
from study_blocks import PublishedTimes, against_published, load_published, lu_niu_liu
from study_tables import li_zhang, liu

TITLES = {
    "li_zhang": "Li and Zhang 2020: level scheduling and self-scheduling",
    "liu": "Liu et al. 2016: synchronisation-free solves by columns",
    "lu_niu_liu": "Lu, Niu and Liu 2020: block algorithms",
}
TABLES = {"li_zhang": li_zhang, "liu": liu, "lu_niu_liu": lu_niu_liu}


def together(runs: Sequence[Results]) -> Results:
    """Several runs on one machine, as one."""
    rows = [row for run in runs for row in run.rows]
    if len({(row.problem, row.policy) for row in rows}) < len(rows):
        raise FormatError("two files hold the same measurement")
    command = " and ".join(run.context.command for run in runs)
    return Results(dataclasses.replace(runs[0].context, command=command), rows)


def draw(study: str, results: Results, folder: pathlib.Path) -> list[Picture]:
    from study_figures import DRAWINGS  # needs matplotlib

    made = DRAWINGS[study](results, caption(results.context), folder)
    return [Picture(*one) for one in made]


def make_study(
    study: str,
    results: Results,
    folder: pathlib.Path,
    with_figures: bool,
    published: Sequence[PublishedTimes] = (),
) -> str:
    """Writes the study into a folder; returns its first table."""
    parts = TABLES[study](results)
    if published:
        parts.insert(0, against_published(results, published))
    folder.mkdir(parents=True, exist_ok=True)
    pictures = draw(study, results, folder) if with_figures else []
    text = markdown(
        TITLES[study],
        "Made by the command below; times are medians of warm solves in a batch.",
        caption(results.context),
        facts(results.context),
        pictures,
        parts,
    )
    (folder / f"{study}.md").write_text(text, encoding="utf-8")
    return markdown_table(parts[0].table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("study", choices=sorted(TITLES))
    parser.add_argument("results", type=pathlib.Path, metavar="RESULTS.json", nargs="+")
    parser.add_argument(
        "-o",
        "--output",
        type=pathlib.Path,
        metavar="DIR",
        default=pathlib.Path("report"),
        help="folder to write into (default: report)",
    )
    parser.add_argument("--tables-only", action="store_true", help="no figures")
    parser.add_argument(
        "--published",
        type=pathlib.Path,
        metavar="TIMES.csv",
        help="of lu_niu_liu: times of the published code, with the columns matrix, solve_ms, preprocessing_ms",
    )
    options = parser.parse_args(arguments)
    if options.published and options.study != "lu_niu_liu":
        parser.error("--published goes with lu_niu_liu")
    with_figures = not options.tables_only and importlib.util.find_spec("matplotlib") is not None
    try:
        results = together([load_results(path) for path in options.results])
        published = load_published(options.published) if options.published else ()
        first = make_study(options.study, results, options.output, with_figures, published)
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(first)
    print(options.output / f"{options.study}.md")
    if not with_figures and not options.tables_only:
        print("no figures: no matplotlib (Debian: python3-matplotlib)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
