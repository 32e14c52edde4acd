"""Writes a report of the results of sptrsv_bench: tables and SVG figures, as Markdown and as report.html.

report.md begins with all that is slower than the peer, has the summaries and shows the SVG files of its folder;
systems.md has the tables by system; report.html holds all of it, figures too. With --factors the report compares
incomplete factorisations, too. The figures compare `dataflow`, the default
policy, with the best of the other policies and with the baseline; the tables have every policy.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence

from sptrsv_results.cli import add_output_folder, add_tables_only, new_parser
from sptrsv_results.format import Factorisation, FormatError, Results, load_factorisations, load_results
from sptrsv_results.page import Page, caption, facts, markdown, web_page
from sptrsv_results.tables import sections, slower_section, system_sections, vendor

SELECTABLE = ("matrix", "source", "kind", "value", "index", "part", "operation", "rhs")


def select(results: Results, conditions: Sequence[str]) -> Results:
    """Returns the rows for which every `key=value` holds."""
    rows = results.rows
    for condition in conditions:
        key, _, value = condition.partition("=")
        if key not in SELECTABLE:
            raise FormatError(f"--where {condition}: the key must be one of {', '.join(SELECTABLE)}")
        rows = [row for row in rows if str(getattr(row, key)) == value]
    if not rows:
        raise FormatError(f"no row has {' and '.join(conditions)}")
    return Results(results.context, rows)


def choose_policies(results: Results, wanted: str | None) -> list[str]:
    """Returns the policies of a comma-separated list (None: all), and the baselines."""
    if wanted is None:
        return results.policies
    names = wanted.split(",")
    for name in names:
        if name not in results.policies:
            raise FormatError(f'no row of the policy "{name}"; the policies are {", ".join(results.policies)}')
    return [policy for policy in results.policies if policy in names or policy in results.baselines]


def overview(results: Results) -> str:
    problems = results.by_problem
    matrices = {row.matrix: row.source for row in results.rows}
    files = sum(source == "file" for source in matrices.values())
    return (
        f"{len(problems)} problems with {len(matrices)} matrices ({files} from files, {len(matrices) - files} "
        f"generated). Each policy is compared with {vendor(results)} on the same problem: a matrix, its types, "
        "triangle and operation, and the number of right-hand sides."
    )


def make_report(
    results: Results,
    policies: Sequence[str],
    folder: pathlib.Path,
    with_figures: bool,
    factorisations: Sequence[Factorisation] = (),
) -> list[pathlib.Path]:
    """Writes the report into a folder; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = []
    if with_figures:
        from sptrsv_results.figures import draw_all  # needs matplotlib

        pictures = draw_all(results, policies, caption(results.context), folder)
    facts_of_run = facts(results.context)
    summaries = [slower_section(results, policies, factorisations), *pictures]
    summaries += sections(results, policies, factorisations)
    by_system = system_sections(results, policies)
    text = overview(results)
    made = {
        "report.md": markdown(Page("Benchmark report", text, facts_of_run, summaries)),
        "systems.md": markdown(Page("Benchmark by system", text, facts_of_run, by_system)),
        "report.html": web_page(Page("Benchmark report", text, facts_of_run, [*summaries, *by_system]), folder),
    }
    for name, content in made.items():
        (folder / name).write_text(content, encoding="utf-8")
    return [folder / name for name in (*made, *(picture.file for picture in pictures))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = new_parser("report", __doc__)
    parser.add_argument("results", type=pathlib.Path, metavar="RESULTS.json", help="written by sptrsv_bench --json")
    add_output_folder(parser)
    parser.add_argument("--policies", metavar="A,B", help="report these policies and the baseline only")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"use the rows with this value only; KEY is one of {', '.join(SELECTABLE)}; may be repeated",
    )
    parser.add_argument(
        "--factors",
        type=pathlib.Path,
        metavar="FACTORS.json",
        help="compare these factorisations, too; written by sptrsv_incomplete_factors --json",
    )
    add_tables_only(parser)
    options = parser.parse_args(arguments)
    try:
        results = select(load_results(options.results), options.where)
        policies = choose_policies(results, options.policies)
        factorisations = load_factorisations(options.factors).factorisations if options.factors else ()
        made = make_report(results, policies, options.output, not options.tables_only, factorisations)
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(map(str, made)))
    return 0
