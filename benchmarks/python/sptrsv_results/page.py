"""Pages of text, tables and pictures, as Markdown and as one HTML file."""

from __future__ import annotations

import base64
import html
import pathlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sptrsv_results.format import Context


@dataclass(frozen=True)
class Table:
    """Cells are plain text; the first `names` columns hold words, the others numbers."""

    header: list[str]
    rows: list[list[str]]
    names: int = 1


@dataclass(frozen=True)
class Section:
    title: str
    text: str
    table: Table


@dataclass(frozen=True)
class Picture:
    """A figure in a file beside the page. Text between backquotes is code, as in Markdown."""

    file: str
    title: str
    text: str


@dataclass(frozen=True)
class Page:
    title: str
    text: str
    facts: Table
    parts: Sequence[Section | Picture]  # in their order


def public_command(context: Context) -> str:
    """Returns the command without the folders of the machine: names of the program and of files, and DIRECTORY.

    Results of several runs have their commands, joined by "and".
    """

    def public(word: str, before: str) -> str:
        path = pathlib.PurePosixPath(word)
        if not path.is_absolute():
            return word
        return context.program if before == "and" else path.name if path.suffix else "DIRECTORY"

    words = context.command.split(" ")
    return " ".join(map(public, words, ["and", *words]))


def caption(context: Context) -> str:
    """Returns what a figure was measured with, in two lines."""
    versions = {"driver": context.driver, "CUDA": context.cuda_runtime, "cuSPARSE": context.cusparse}
    where = [context.device or f"no GPU ({context.host})"]
    where += [f"{name} {version}" for name, version in versions.items() if version]
    return f"{public_command(context)}\n{', '.join(where)}; {context.program} {context.version}; {context.date_utc}"


def facts(context: Context) -> Table:
    """Returns where and how the results were measured."""

    def given(value: object, unit: str = "") -> str:
        if value is None:
            return "-"
        return f"{value:,.6g}{unit}" if isinstance(value, int | float) else f"{value}{unit}"

    rows = [
        ["command", public_command(context)],
        ["program", f"{context.program} {context.version}"],
        ["date (UTC)", context.date_utc],
        ["host", context.host],
        ["GPU", given(context.device)],
        ["SMs", given(context.sm_count)],
        ["driver", given(context.driver)],
        ["CUDA runtime", given(context.cuda_runtime)],
        ["cuSPARSE", given(context.cusparse)],
        ["bandwidth of a copy", given(context.copy_bandwidth_gb_s, " GB/s")],
        ["hop (hand-off of one value between thread blocks)", given(context.hop_ns, " ns")],
        ["L2 cache", given(context.l2_bytes and context.l2_bytes / 2**20, " MiB")],
    ]
    return Table(["what", "value"], rows, names=2)


def markdown(page: Page) -> str:
    blocks = [f"# {page.title}", page.text, markdown_table(page.facts)]
    for part in page.parts:
        if isinstance(part, Picture):
            blocks += [f"## {part.title}", f"![{part.title}]({part.file})", part.text]
        else:
            blocks += [f"## {part.title}", *([part.text] if part.text else []), markdown_table(part.table)]
    return "\n\n".join(blocks) + "\n"


def escape(cell: str) -> str:
    """Returns text that Markdown shows as it is."""
    return re.sub(r"([\\|<>*`\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", " ".join(cell.split()))


def markdown_table(table: Table) -> str:
    rule = ["---" if column < table.names else "--:" for column in range(len(table.header))]
    lines = [table.header, rule, *([escape(cell) for cell in row] for row in table.rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


# The colours follow the mode of the browser, as those of the pictures do.
STYLE = """:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #1f2328; background: #fff; }
img { width: 100%; height: auto; } figure { margin: 0; } figcaption { color: #57606a; }
div { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 0.2rem 0.6rem; border-bottom: 1px solid #8884; text-align: right; white-space: nowrap; }
th { border-bottom: 2px solid #888; } .name { text-align: left; white-space: normal; }
@media (prefers-color-scheme: dark) {
  body { color: #e6edf3; background: #0d1117; } figcaption { color: #9aa4af; }
}"""


def web_page(page: Page, folder: pathlib.Path) -> str:
    """Returns the page with its pictures, which are in `folder`, inside it."""
    blocks = [f"<h1>{html.escape(page.title)}</h1>", paragraph(page.text), html_table(page.facts)]
    for part in page.parts:
        title = html.escape(part.title)
        blocks.append(f"<h2>{title}</h2>")
        if isinstance(part, Picture):
            data = base64.b64encode((folder / part.file).read_bytes()).decode()
            blocks += [
                f'<figure><img alt="{title}" src="data:image/svg+xml;base64,{data}">',
                f"<figcaption>{with_code(part.text)}</figcaption></figure>",
            ]
        else:
            blocks += [paragraph(part.text), html_table(part.table)]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(page.title)}</title>\n'
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(filter(None, blocks)) + "\n</body></html>\n"
    )


def with_code(text: str) -> str:
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text))


def paragraph(text: str) -> str:
    return f"<p>{with_code(text)}</p>" if text else ""


def html_table(table: Table) -> str:
    def line(cells: Sequence[str], tag: str) -> str:
        styles = (" class=name" if column < table.names else "" for column in range(len(cells)))
        return f"<tr>{''.join(f'<{tag}{s}>{html.escape(c)}</{tag}>' for s, c in zip(styles, cells, strict=True))}</tr>"

    lines = [line(table.header, "th"), *(line(row, "td") for row in table.rows)]
    return "<div><table>\n" + "\n".join(lines) + "\n</table></div>"
