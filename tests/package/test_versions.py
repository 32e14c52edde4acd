"""The version of the library: include/sptrsv/version.hpp says it, and what repeats it says the same.

SPTRSV_LIBRARY is the path of the compiled shared library in an installation with its links; without it, the names in
the library are not checked.
"""

import ctypes
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = os.environ.get("SPTRSV_LIBRARY")
HEADER = (ROOT / "include/sptrsv/version.hpp").read_text()
MAJOR, MINOR, PATCH = (int(re.search(rf"_{part} (\d+)", HEADER)[1]) for part in ("MAJOR", "MINOR", "PATCH"))
VERSION = f"{MAJOR}.{MINOR}.{PATCH}"


class Texts(unittest.TestCase):
    def test_the_changelog_begins_with_the_version(self):
        text = (ROOT / "CHANGELOG.md").read_text()
        heading = text.split("\n## ")[1].split("\n")[0]
        self.assertRegex(heading, rf"^{re.escape(VERSION)} \((unreleased|\d+-\d\d-\d\d)\)$")

    def test_the_python_package_reads_the_header(self):
        project = (ROOT / "python/pyproject.toml").read_text()
        self.assertNotRegex(project, r"(?m)^version")
        given = dict(re.findall(r"""(?m)^(input|regex|result) = (?:'''|")(.*?)(?:'''|")$""", project))
        found = re.search(given["regex"], (ROOT / "python" / given["input"]).read_text())
        self.assertEqual(given["result"].format(**found.groupdict()), VERSION)

    def test_no_file_of_the_build_or_of_the_packages_has_another_version(self):
        places = ("CMakeLists.txt", "cmake", "src", "python", "packaging", "plugins", ".github", "common", "examples")
        files = [path for place in places for path in [ROOT / place, *(ROOT / place).rglob("*")] if path.is_file()]
        self.assertGreater(len(files), 50)
        for path in files:
            if path.suffix in (".so", ".pyc"):
                continue
            for found in re.findall(r"(?<![\w.])0\.\d+\.\d+(?![\w.])", path.read_text()):
                self.assertEqual(found, VERSION, path)

    def test_pages_ask_for_this_version(self):
        pages = [page for pattern in ("*.md", "docs/*.md", "plugins/*/*.md") for page in ROOT.glob(pattern)]
        text = "\n".join(page.read_text() for page in pages)
        asked = re.findall(r"find_package\(sptrsv ([\d.]*\d)", text)
        self.assertTrue(asked)
        for version in asked:
            self.assertEqual(version, f"{MAJOR}.{MINOR}")


@unittest.skipUnless(LIBRARY, "needs SPTRSV_LIBRARY")
class Library(unittest.TestCase):
    def run_on_library(self, *command):
        return subprocess.run([*command, LIBRARY], capture_output=True, text=True, check=True).stdout

    def test_says_the_version(self):
        self.assertEqual(ctypes.CDLL(LIBRARY).sptrsv_version(), MAJOR * 10000 + MINOR * 100 + PATCH)

    def test_soname_and_files_have_the_parts_that_change_with_the_interface(self):
        soname = f"libsptrsv.so.{MAJOR}.{MINOR}"
        self.assertEqual(re.search(r"SONAME\s+(\S+)", self.run_on_library("objdump", "-p"))[1], soname)
        folder = Path(LIBRARY).parent
        self.assertEqual(
            sorted(path.name for path in folder.glob("libsptrsv.so*")),
            ["libsptrsv.so", soname, f"libsptrsv.so.{VERSION}"],
        )
        self.assertEqual((folder / soname).resolve(), Path(LIBRARY).resolve())

    def test_names_of_cpp_are_in_the_inline_namespace(self):
        names = re.findall(r" [TWV] (.*)$", self.run_on_library("nm", "-D", "--defined-only", "-C"), re.MULTILINE)
        inner = {found for name in names for found in re.findall(r"\bsptrsv::(\w+)", name)}
        self.assertEqual(inner, {f"v{MAJOR}_{MINOR}"})

    def test_exports_the_functions_of_the_header(self):
        exported = re.findall(r" T (sptrsv_\w+)$", self.run_on_library("nm", "-D", "--defined-only"), re.MULTILINE)
        header = (ROOT / "include/sptrsv.h").read_text()
        declared = re.findall(r"^(?!static)[\w* ]+?\b(sptrsv_\w+)\(", header, re.MULTILINE)
        self.assertEqual(sorted(exported), sorted(set(declared)))


if __name__ == "__main__":
    unittest.main()
