#!/usr/bin/env python3
"""Makes a report of the results of sptrsv_bench: tables and SVG figures, in Markdown and as one HTML file.

The figures need matplotlib (Debian: python3-matplotlib).
"""

from __future__ import annotations

import argparse
import base64
import dataclasses
import html
import importlib.util
import pathlib
import re
import sys
from collections.abc import Sequence

from report_tables import Section, Table, sections, vendor
from results_format import Context, FormatError, Results, load_results

SELECTABLE = ("matrix", "source", "kind", "value", "index", "part", "operation", "rhs")


@dataclasses.dataclass(frozen=True)
class Picture:
    file: str
    title: str
    text: str


def caption(context: Context) -> str:
    """What a figure was measured with, in two lines."""
    where = [context.device or f"no GPU ({context.host})"]
    where += [
        f"{what} {version}"
        for what, version in (
            ("driver", context.driver),
            ("CUDA", context.cuda_runtime),
            ("cuSPARSE", context.cusparse),
        )
        if version
    ]
    return f"{context.command}\n{', '.join(where)}; {context.program} {context.version}; {context.date_utc}"


def select(results: Results, conditions: Sequence[str]) -> Results:
    """The rows for which all of `key=value` hold."""
    rows = results.rows
    for condition in conditions:
        key, _, value = condition.partition("=")
        if key not in SELECTABLE:
            raise FormatError(f"--where {condition}: the keys are {', '.join(SELECTABLE)}")
        rows = [row for row in rows if str(getattr(row, key)) == value]
    if not rows:
        raise FormatError(f"no row has {' and '.join(conditions)}")
    return Results(results.context, rows)


def choose_policies(results: Results, wanted: str | None) -> list[str]:
    """Those of a comma-separated list, and the baselines."""
    if wanted is None:
        return results.policies
    names = wanted.split(",")
    for name in names:
        if name not in results.policies:
            raise FormatError(f"no row of the policy \"{name}\"; there are {', '.join(results.policies)}")
    return [policy for policy in results.policies if policy in names or policy in results.baselines]


def overview(results: Results) -> str:
    problems = results.by_problem
    matrices = {row.matrix: row.source for row in results.rows}
    files = sum(source == "file" for source in matrices.values())
    return (
        f"{len(problems)} problems with {len(matrices)} matrices ({files} from files, "
        f"{len(matrices) - files} generated), compared with {vendor(results)}."
    )


def facts(context: Context) -> Table:
    def given(value: object, unit: str = "") -> str:
        return (
            "-"
            if value is None
            else f"{value:,.6g}{unit}" if isinstance(value, (int, float)) else f"{value}{unit}"
        )

    rows = [
        ["command", context.command],
        ["program", f"{context.program} {context.version}"],
        ["date (UTC)", context.date_utc],
        ["host", context.host],
        ["GPU", given(context.device)],
        ["SMs", given(context.sm_count)],
        ["driver", given(context.driver)],
        ["CUDA runtime", given(context.cuda_runtime)],
        ["cuSPARSE", given(context.cusparse)],
        ["bandwidth of a copy", given(context.copy_bandwidth_gb_s, " GB/s")],
        ["hop", given(context.hop_ns, " ns")],
        ["L2 cache", given(context.l2_bytes and context.l2_bytes / 2**20, " MiB")],
    ]
    return Table(["what", "value"], rows, names=2)


def markdown(
    title: str, text: str, made_with: str, table: Table, pictures: Sequence[Picture], parts: Sequence[Section]
) -> str:
    blocks = [f"# {title}", text, markdown_table(table)]
    for picture in pictures:
        blocks += [
            f"## {picture.title}",
            f"![{picture.title}]({picture.file})",
            f"{picture.text} <sub>{escape(made_with)}</sub>",
        ]
    for part in parts:
        blocks += [f"## {part.title}", *([part.text] if part.text else []), markdown_table(part.table)]
    return "\n\n".join(blocks) + "\n"


def escape(cell: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\|<>*`\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(cell.split()))


def markdown_table(table: Table) -> str:
    rule = ["---" if column < table.names else "--:" for column in range(len(table.header))]
    lines = [table.header, rule, *([escape(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


STYLE = """body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c1c1c; background: #fff; }
img { width: 100%; height: auto; } figure { margin: 0; } figcaption { color: #555; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #999; } .name { text-align: left; white-space: normal; }"""


def web_page(
    title: str,
    text: str,
    made_with: str,
    table: Table,
    pictures: Sequence[Picture],
    parts: Sequence[Section],
    folder: pathlib.Path,
) -> str:
    blocks = [f"<h1>{html.escape(title)}</h1>", paragraph(text), html_table(table)]
    for picture in pictures:
        data = base64.b64encode((folder / picture.file).read_bytes()).decode()
        blocks += [
            f"<h2>{html.escape(picture.title)}</h2>",
            f'<figure><img alt="{html.escape(picture.title)}" ' f'src="data:image/svg+xml;base64,{data}">',
            f"<figcaption>{html.escape(picture.text)} <small>"
            f"{html.escape(made_with)}</small></figcaption></figure>",
        ]
    for part in parts:
        blocks += [f"<h2>{html.escape(part.title)}</h2>", paragraph(part.text), html_table(part.table)]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>\n'
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(filter(None, blocks)) + "\n</body></html>\n"
    )


def paragraph(text: str) -> str:
    marked = re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))
    return f"<p>{marked}</p>" if text else ""


def html_table(table: Table) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        return (
            "<tr>"
            + "".join(
                f"<{tag}{' class=name' if column < table.names else ''}>{html.escape(cell)}</{tag}>"
                for column, cell in enumerate(cells)
            )
            + "</tr>"
        )

    return (
        "<div><table>\n"
        + "\n".join([line(table.header, "th"), *(line(row, "td") for row in table.rows)])
        + "\n</table></div>"
    )


def make_report(
    results: Results, policies: Sequence[str], folder: pathlib.Path, tables_only: bool
) -> list[pathlib.Path]:
    folder.mkdir(parents=True, exist_ok=True)
    made_with = caption(results.context)
    pictures = []
    if not tables_only:
        from report_figures import draw_all  # needs matplotlib

        pictures = [Picture(*made) for made in draw_all(results, policies, made_with, folder)]
    content = (
        "Benchmark report",
        overview(results),
        made_with,
        facts(results.context),
        pictures,
        sections(results, policies),
    )
    (folder / "report.md").write_text(markdown(*content), encoding="utf-8")
    (folder / "report.html").write_text(web_page(*content, folder), encoding="utf-8")
    return [folder / name for name in ("report.md", "report.html", *(picture.file for picture in pictures))]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("results", type=pathlib.Path, metavar="RESULTS.json")
    parser.add_argument(
        "-o",
        "--output",
        type=pathlib.Path,
        metavar="DIR",
        default=pathlib.Path("report"),
        help="folder to write into (default: report)",
    )
    parser.add_argument("--policies", metavar="A,B", help="these policies and the baseline only")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"rows with this value only; KEY is one of {', '.join(SELECTABLE)}",
    )
    parser.add_argument("--tables-only", action="store_true", help="no figures; needs no matplotlib")
    options = parser.parse_args(arguments)

    if not options.tables_only and importlib.util.find_spec("matplotlib") is None:
        print(
            f"error: {sys.executable} has no matplotlib (Debian: python3-matplotlib); "
            "--tables-only does without",
            file=sys.stderr,
        )
        return 2
    try:
        results = select(load_results(options.results), options.where)
        policies = choose_policies(results, options.policies)
        made = make_report(results, policies, options.output, options.tables_only)
    except (FormatError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(map(str, made)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
