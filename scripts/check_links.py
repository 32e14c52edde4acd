#!/usr/bin/env python3
"""Checks that relative links in the Markdown files of this repository lead to files and headings that exist."""

import pathlib
import re
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent
FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")
LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s*<?([^\s>]+)", re.MULTILINE)
HEADING = re.compile(r"^#+\s+(.*?)\s*#*$", re.MULTILINE)


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


def main():
    files = [p for p in sorted(ROOT.rglob("*.md")) if not p.relative_to(ROOT).parts[0].startswith(("build", ".git"))]
    broken = [f"{path.relative_to(ROOT)}: {link}" for path in files for link in broken_links(path)]
    print("\n".join([*broken, f"{len(files)} Markdown files, {len(broken)} broken links"]))
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
