#!/usr/bin/env python3
"""Checks what the Markdown files of this repository say about each other.

- Relative links lead to files and headings that exist.
- A measured figure that stands on several pages comes from one file: docs/measured.json names the figures, each with
  its pages and how they say it. The first page is the source, and the others agree with it, as far as they have digits.
  If a page that the file does not name says the same sentence, its figure must agree, too.
- The tables of speed-ups by rows per level agree with docs/benchmark/report.md, with its figure and with each other.
"""

import json
import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*<?([^\s>]+)", re.MULTILINE)
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
MEASURED = "docs/measured.json"
REPORT = "docs/benchmark/report.md"
FIGURE = "docs/benchmark/speedup_rows_per_level.svg"
# The names of the classes of rows per level in the report, and on the pages.
CLASSES = {"fewer than 4": "under 4", "10,000 or more": "above 10,000"}


def anchors(path):
    """Returns the names that GitHub gives the headings of a file."""
    names = set()
    for heading in HEADING.findall(FENCED.sub("", path.read_text())):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        repeated = [n for n in names if n == name or re.fullmatch(re.escape(name) + r"-\d+", n)]
        names.add(f"{name}-{len(repeated)}" if repeated else name)
    return names


def broken_links(path):
    """Yields the relative links of a file that lead nowhere, each with the reason."""
    text = CODE.sub("", FENCED.sub("", path.read_text()))
    for inline, reference in LINK.findall(text):
        link = inline or reference
        if re.match(r"[a-z][a-z0-9+.-]*:", link):  # https:, mailto:, ...
            continue
        file, _, anchor = urllib.parse.unquote(link).partition("#")
        target = (path.parent / file).resolve() if file else path
        if not target.is_relative_to(ROOT) or not target.exists():
            yield f"{link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            yield f"{link}: no such heading"


def agree(first, second):
    """Returns whether two texts have the same numbers, each as far as the one with fewer decimals goes."""
    pairs = [NUMBER.findall(text) for text in (first, second)]
    if len(pairs[0]) != len(pairs[1]):
        return False
    for one, other in zip(*pairs, strict=True):
        decimals = [len(number.partition(".")[2]) for number in (one, other)]
        # A number of d decimals stands for all that are at most half a unit of its last place away.
        room = sum(0.5 * 10.0**-d for d in decimals) if decimals[0] != decimals[1] else 0
        if abs(float(one.replace(",", "")) - float(other.replace(",", ""))) > room * (1 + 1e-9):
            return False
    return True


def said(pattern, text):
    """Returns what the groups of a pattern match in a page, whose lines may be broken anywhere: one text a match."""
    found = re.finditer(pattern.replace(" ", r"\s+"), text.replace("**", ""))
    return [" and ".join(match.groups()) for match in found]


def differing_figures(pages, figures):
    """Yields what differs. `pages`: the text of each page by its name. `figures`: what docs/measured.json holds."""
    for figure in figures:
        expected = None
        for page, pattern in figure["pages"].items():
            found = said(pattern, pages.get(page, ""))
            if not found:
                yield f"{page}: {MEASURED} expects '{pattern}' ({figure['figure']})"
                continue
            if expected is None:
                expected, source = found[0], page
            elsewhere = [(name, text) for name in pages if name != page for text in said(pattern, pages[name])]
            for name, text in [(page, text) for text in found] + elsewhere:
                if not agree(text, expected):
                    yield f"{name}: {figure['figure']} is {text}, but {expected} in {source}"


def tables(text):
    """Yields each table of a page: the cells of its rows, the header first."""
    rows = []
    for line in [*text.replace("**", "").replace("`", "").splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            yield rows[:1] + rows[2:]
            rows = []


def report_speedups(text):
    """Returns the mean speed-ups of the report by (class of rows per level, policy); the summary has the class all."""
    found = {}
    for header, *rows in tables(text):
        if header[0] == "policy" and "mean speed-up" in header:
            found |= {("all", row[0]): row[header.index("mean speed-up")] for row in rows}
        if header[:3] == ["rows per level", "policy", "what"]:
            found |= {(CLASSES.get(row[0], row[0]), row[1]): row[4] for row in rows if row[2] == "solves back to back"}
    return found


def differing_tables(pages, figure):
    """Yields the cells of tables of speed-ups by rows per level that differ from the report, from the labels of
    dataflow in its `figure` (the text of the SVG file), or from each other."""
    report = report_speedups(pages.get(REPORT, ""))
    labels = re.findall(r">([\d.]+x)<", figure)
    first = {}
    for page, text in pages.items():
        for header, *rows in tables(text):
            policies = [policy for policy in header[2:] if ("all", policy) in report]
            if page == REPORT or header[0].lower() != "rows per level" or len(policies) < 2:
                continue
            for row in rows:
                for policy in policies:
                    cell = row[header.index(policy)].split("x")[0] + "x"
                    what = f"{page}: {policy}, {row[0]} rows per level, is {cell}"
                    others = {REPORT: report.get((row[0], policy), "none"), **first.get((row[0], policy), {})}
                    yield from (
                        f"{what}, but {there} in {name}" for name, there in others.items() if not agree(cell, there)
                    )
                    if policy == "dataflow" and row[0] != "all" and cell not in labels:
                        yield f"{what}, which is no label of {FIGURE}"
                    first.setdefault((row[0], policy), {page: cell})


def main():
    files = [p for p in sorted(ROOT.rglob("*.md")) if not p.relative_to(ROOT).parts[0].startswith(("build", ".git"))]
    faults = [f"{path.relative_to(ROOT)}: {link}" for path in files for link in broken_links(path)]
    # The log keeps what older versions gave.
    pages = {str(p.relative_to(ROOT)): p.read_text() for p in files if "lab_log" not in p.parts}
    differing = [
        *dict.fromkeys(differing_figures(pages, json.loads((ROOT / MEASURED).read_text()))),
        *differing_tables(pages, (ROOT / FIGURE).read_text()),
    ]
    print("\n".join([*faults, *differing, ""]), end="")
    print(f"{len(files)} Markdown files, {len(faults)} broken links, {len(differing)} figures that differ")
    return 1 if faults or differing else 0


if __name__ == "__main__":
    sys.exit(main())
