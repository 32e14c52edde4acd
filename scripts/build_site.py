#!/usr/bin/env python3
"""Builds the documentation site in build/site/html: all pages and the references of C++, C and Python, with search.

usage: build_site.py

It stages the pages in build/site/source as they lie in the repository, installs Sphinx, its theme and its extensions
into build/site/venv if they are not there, and fails with any warning. It needs Doxygen.
"""

import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SITE = ROOT / "build/site"
SOURCE = SITE / "source"
PACKAGES = ("sphinx==9.0.4", "furo==2025.12.19", "myst-parser==5.2.0", "breathe==5.1.0", "numpy", "scipy")
GUIDES = ("getting_started", "guide", "python", "krylov", "orderings", "complete_factors", "distributed")
MORE = ("coming_from_cusparse", "other_libraries", "performance", "reliability", "studies")
INSIDE = ("architecture", "algorithms", "adding_a_policy", "glossary")
# Doxygen describes private members in XML, but not in HTML; the site leaves them out, too.
PRIVATE = re.compile(
    r'<sectiondef kind="(?:private|protected)[^"]*">.*?</sectiondef>|<innerclass [^>]*prot="private"[^>]*>.*?</innerclass>',
    re.DOTALL,
)
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)")
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")


def pages() -> list[Path]:
    """Returns the pages of the site, as paths in the repository."""
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listed.split() if not name.startswith(("tests/", ".github/", "include/"))]


def stage(page: Path, staged: set[Path]) -> None:
    """Copies a page and its images. Links to what the site does not have become plain text."""

    def link(match: re.Match[str]) -> str:
        target, _, anchor = match[2].partition("#")
        if not target or "://" in target:
            return match[0]
        path = (ROOT / page).parent.joinpath(target).resolve().relative_to(ROOT)
        if path == Path("README.md"):  # the first page
            return f"[{match[1]}]({'../' * (len(page.parts) - 1)}index.md{'#' + anchor if anchor else ''})"
        if (path / "README.md") in staged:
            return f"[{match[1]}]({target.rstrip('/')}/README.md)"
        return match[0] if path in staged else match[1]

    text = (ROOT / page).read_text(encoding="utf-8")
    made = SOURCE / page
    made.parent.mkdir(parents=True, exist_ok=True)
    made.write_text(LINK.sub(link, text), encoding="utf-8")
    for image in IMAGE.findall(text):
        to = made.parent / image
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile((ROOT / page).parent / image, to)


def toctree(caption: str, names: list[str]) -> str:
    return "\n".join(["```{toctree}", f":caption: {caption}", ":maxdepth: 1", "", *names, "```", "", ""])


def write_references() -> list[str]:
    """Writes a page for each public header, and those of C and Python; returns the names of the pages."""
    headers = [
        path.relative_to(ROOT / folder)
        for folder, pattern in (("include", "*.h*"), ("plugins/interop", "*.h*"), ("include", "*.cuh"))
        for path in sorted((ROOT / folder / "sptrsv").rglob(pattern))
    ]
    made = []
    for header in [header for header in headers if "detail" not in header.parts]:
        name = f"cpp/{'_'.join(header.with_suffix('').parts[1:])}"
        made.append(name)
        write(f"{name}.rst", title(str(header)) + f".. doxygenfile:: {header}\n")
    write("cpp/index.md", "# C++\n\n" + toctree("Headers", [name.removeprefix("cpp/") for name in made]))
    write("c.rst", title("C") + ".. doxygenfile:: sptrsv.h\n")
    modules = (("sptrsv", "   :imported-members:\n"), ("sptrsv.torch", ""), ("sptrsv.jax", ""))
    write(
        "python_reference.rst",
        title("Python")
        + "".join(
            f"{name}\n{'-' * len(name)}\n\n.. automodule:: {name}\n   :members:\n{more}\n" for name, more in modules
        ),
    )
    return ["cpp/index", "c", "python_reference"]


def title(text: str) -> str:
    return f"{text}\n{'=' * len(text)}\n\n"


def write(name: str, text: str) -> None:
    path = SOURCE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def install() -> Path:
    """Returns the interpreter that has Sphinx; installs it first if it is not there in these versions."""
    python = SITE / "venv/bin/python"
    stamp = SITE / "venv/installed"
    if not stamp.exists() or stamp.read_text() != str(PACKAGES):
        venv.create(SITE / "venv", with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *PACKAGES], check=True)
        stamp.write_text(str(PACKAGES))
    return python


def make_xml() -> None:
    """Runs Doxygen, which writes what Breathe reads."""
    settings = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8")
    settings += f"\nGENERATE_HTML = NO\nGENERATE_XML = YES\nOUTPUT_DIRECTORY = {SOURCE}\n"
    subprocess.run(["doxygen", "-"], cwd=ROOT, input=settings, text=True, check=True, stderr=subprocess.DEVNULL)
    for described in (SOURCE / "xml").glob("*.xml"):
        described.write_text(PRIVATE.sub("", described.read_text(encoding="utf-8")), encoding="utf-8")
    index = SOURCE / "xml/index.xml"

    def location_of(compound: str) -> str:
        described = (SOURCE / f"xml/{compound}.xml").read_text(encoding="utf-8")
        return re.findall(r'<location file="([^"]*)"/>', described)[-1]

    # Doxygen lists files without their folders; two headers have the same name.
    names = re.compile(r'(?<=<compound refid=")(\w+)(" kind="file"><name>)[^<]*<')
    text = index.read_text(encoding="utf-8")
    index.write_text(names.sub(lambda m: f"{m[1]}{m[2]}{location_of(m[1])}<", text), encoding="utf-8")


def main() -> int:
    if shutil.which("doxygen") is None:
        sys.exit("build_site.py: needs Doxygen (Debian: doxygen)")
    python = install()
    shutil.rmtree(SOURCE, ignore_errors=True)
    shutil.rmtree(SITE / "html", ignore_errors=True)
    staged = set(pages())
    for page in staged:
        stage(page, staged)
    shutil.copyfile(ROOT / "docs/site/conf.py", SOURCE / "conf.py")
    shutil.copytree(ROOT / "python/sptrsv", SOURCE / "python/sptrsv")
    make_xml()
    references = write_references()
    rest = sorted(str(page.with_suffix("")) for page in staged)
    named = [f"docs/{name}" for name in (*GUIDES, *MORE, *INSIDE)]
    lab_log = [name for name in rest if name.startswith("docs/lab_log/")]
    other = [name for name in rest if name not in (*named, *lab_log, "README")]
    trees = [
        toctree("Guides", named[: len(GUIDES)]),
        toctree("References", references),
        toctree("Beside others", [name for name in named if name.removeprefix("docs/") in MORE]),
        toctree("Inside", [*(name for name in named if name.removeprefix("docs/") in INSIDE), *other]),
        toctree("Lab log", lab_log),
    ]
    hidden = "".join(trees).replace(":maxdepth: 1\n", ":maxdepth: 1\n:hidden:\n")
    write("index.md", (SOURCE / "README.md").read_text(encoding="utf-8") + "\n" + hidden)
    (SOURCE / "README.md").unlink()
    command = [python, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", SOURCE, SITE / "html"]
    return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
