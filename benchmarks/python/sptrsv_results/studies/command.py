"""Writes the tables and figures of a study from the results of `sptrsv_bench --study NAME`.

The studies are those of papers, and one of complete factors:
  li_zhang          Li and Zhang 2020: Figures 5.1 to 5.3, Tables 5.3 to 5.6
  liu               Liu et al. 2016: Figure 4, Table 4
  lu_niu_liu        Lu, Niu and Liu 2020: Tables 1, 2, 4 and 5, Figures 4, 6 and 7; --published adds the times of the
                    published code
  complete_factors  forward and backward solves beside cuDSS; from the results of `sptrsv_complete_factors`

Writes NAME.md and SVG figures, and prints the first table. Several files count as one run.
"""

from __future__ import annotations

import dataclasses
import pathlib
import sys
from collections.abc import Sequence

from sptrsv_results.cli import add_output_folder, add_tables_only, new_parser
from sptrsv_results.format import FormatError, Results, load_results
from sptrsv_results.page import Page, caption, facts, markdown, markdown_table
from sptrsv_results.studies.blocks import PublishedTimes, against_published, load_published, lu_niu_liu
from sptrsv_results.studies.complete_factors import complete_factors
from sptrsv_results.studies.triangles import li_zhang, liu

TITLES = {
    "li_zhang": "Li and Zhang 2020: level scheduling and self-scheduling",
    "liu": "Liu et al. 2016: synchronisation-free solves by columns",
    "lu_niu_liu": "Lu, Niu and Liu 2020: block algorithms",
    "complete_factors": "Complete factors",
}
TABLES = {"li_zhang": li_zhang, "liu": liu, "lu_niu_liu": lu_niu_liu, "complete_factors": complete_factors}


def together(runs: Sequence[Results]) -> Results:
    """Returns several runs on one machine as one."""
    rows = [row for run in runs for row in run.rows]
    if len({(row.problem, row.policy) for row in rows}) < len(rows):
        raise FormatError("two files hold the same measurement")
    command = " and ".join(run.context.command for run in runs)
    return Results(dataclasses.replace(runs[0].context, command=command), rows)


def make_study(
    study: str,
    results: Results,
    folder: pathlib.Path,
    with_figures: bool,
    published: Sequence[PublishedTimes] = (),
) -> str:
    """Writes the study into a folder; returns its first table."""
    sections = TABLES[study](results)
    if published:
        sections.insert(0, against_published(results, published))
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    if with_figures:
        from sptrsv_results.studies.figures import DRAWINGS  # needs matplotlib

        pictures = DRAWINGS[study](results, caption(results.context), folder)
    text = (
        "The command below measured these results. Times are medians of solves in a batch, with a warm L2 cache; `nnz` "
        "are the stored entries of the triangle."
    )
    page = Page(TITLES[study], text, facts(results.context), [*pictures, *sections])
    (folder / f"{study}.md").write_text(markdown(page), encoding="utf-8")
    return markdown_table(sections[0].table)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("study", __doc__)
    parser.add_argument("study", choices=sorted(TITLES), help="the study that the results are of")
    parser.add_argument(
        "results",
        type=pathlib.Path,
        metavar="RESULTS.json",
        nargs="+",
        help="written by sptrsv_bench --study, or by sptrsv_complete_factors",
    )
    add_output_folder(parser)
    add_tables_only(parser)
    parser.add_argument(
        "--published",
        type=pathlib.Path,
        metavar="TIMES.csv",
        help="for lu_niu_liu: times of the published code, with the columns matrix, solve_ms, preprocessing_ms",
    )
    options = parser.parse_args(arguments)
    if options.published and options.study != "lu_niu_liu":
        parser.error("--published needs the study lu_niu_liu")
    try:
        results = together([load_results(path) for path in options.results])
        published = load_published(options.published) if options.published else ()
        first = make_study(options.study, results, options.output, not options.tables_only, published)
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(first)
    print(options.output / f"{options.study}.md")
    return 0
