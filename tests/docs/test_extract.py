"""Tests of extract.py and run.py with small pages."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest
import unittest.mock

import extract
import run

PAGE = """\
# A page

```cpp
// prints: 1 2
// prints: 3
#include <sptrsv/policy/host_serial.hpp>
int main() {}
```

```cpp
int main() { sptrsv::to_device(1); }
```

- An item:

  ```cpp fragment
  #include <vector>
  solver.solve(b, x);

    indented();
  ```

  ```text output
  solved
  ```

```cpp declaration
struct tuning {};
```

```sh
for i in 1 2; do echo $i; done
```

```text
no code
```
"""


class Extract(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def blocks(self, text):
        page = self.folder / "Page.md"
        page.write_text(text)
        return extract.read_blocks(page)

    def mistakes(self, text):
        return [mistake for block in self.blocks(text) for mistake in extract.mistakes(block)]

    def test_reads_each_form(self):
        blocks = self.blocks(PAGE)
        self.assertEqual(
            [block.form for block in blocks], ["program", "program", "fragment", None, "declaration", "sh", None]
        )
        self.assertEqual([block.line for block in blocks][:3], [4, 11, 17])

    def test_removes_the_indentation_of_a_list_only(self):
        self.assertEqual(self.blocks(PAGE)[2].code, "#include <vector>\nsolver.solve(b, x);\n\n  indented();\n")

    def test_reads_the_expected_output(self):
        self.assertEqual([block.output for block in self.blocks(PAGE)][:3], ["1 2\n3\n", None, "solved\n"])

    def test_makes_a_program_of_each_main_and_one_of_all_fragments(self):
        made = {
            name: (extension, source, expected)
            for name, extension, source, expected in extract.programs(self.blocks(PAGE))
        }
        self.assertEqual(
            {name: extension for name, (extension, _, _) in made.items()},
            {"docs_page_program_1": "cpp", "docs_page_program_2": "cu", "docs_page": "cu"},
        )
        self.assertEqual(made["docs_page_program_1"][2], {"": "1 2\n3\n"})
        _, source, expected = made["docs_page"]
        self.assertEqual(expected, {"Page.md:17": "solved\n"})
        self.assertLess(source.index("#include <vector>"), source.index("struct tuning"))
        self.assertLess(source.index("struct tuning"), source.index("int main"))
        self.assertIn('#line 17 "Page.md"\n\nsolver.solve(b, x);\n', source)

    def test_names_a_block_without_a_form(self):
        for text in ("```cpp\nsolver.solve(b, x);\n```\n", "```cpp no-run\nint main() {}\n```\n"):
            self.assertRegex(self.mistakes(text)[0], "cpp fragment")

    def test_names_a_script_that_bash_does_not_accept(self):
        self.assertEqual(len(self.mistakes("```sh\nif true; then\n```\n")), 1)

    def test_accepts_the_page(self):
        self.assertEqual(self.mistakes(PAGE), [])

    def test_accepts_a_page_without_blocks(self):
        self.assertEqual(self.blocks("# A page\n"), [])

    def test_refuses_a_block_without_an_end(self):
        with self.assertRaises(SystemExit):
            self.blocks("```cpp\nint main() {}\n")

    def test_leaves_an_unchanged_source_alone(self):
        page = self.folder / "Page.md"
        page.write_text(PAGE)
        command = [sys.executable, "-B", extract.__file__, "--output", self.folder / "out", page]
        names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(len(names), 3)
        source = self.folder / "out/docs_page.cu"
        before = source.stat().st_mtime_ns
        subprocess.run(command, check=True, capture_output=True)
        self.assertEqual(source.stat().st_mtime_ns, before)


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, script, expected, *options):
        program, expected_file = self.folder / "program", self.folder / "expected.json"
        program.write_text("#!/bin/sh\n" + textwrap.dedent(script))
        program.chmod(0o700)
        expected_file.write_text(expected)
        with contextlib.redirect_stdout(io.StringIO()):
            return run.main(program, expected_file, *options)

    def test_compares_the_output_of_each_fragment(self):
        script = "printf '=== guide.md:3\\na\\n=== guide.md:9\\nb \\n'\n"
        self.assertEqual(self.run_program(script, '{"guide.md:9": "b\\n", "guide.md:3": "a"}'), 0)
        self.assertEqual(self.run_program(script, '{"guide.md:3": "b\\n"}'), 1)
        self.assertEqual(self.run_program(script, '{"guide.md:5": "a\\n"}'), 1)

    def test_compares_the_output_of_a_program(self):
        self.assertEqual(self.run_program("echo 1 2\n", '{"": "1 2\\n"}'), 0)
        self.assertEqual(self.run_program("echo 1 3\n", '{"": "1 2\\n"}'), 1)

    def test_a_program_for_the_gpu_says_what_is_missing(self):
        line = "echo no GPU: host_serial or host_parallel; "
        for gpu, script, status in (
            (False, line + "exit 1", 0),
            (False, line + "exit 0", 1),
            (False, line + "kill -ABRT $$", 1),
            (False, line + line + "exit 1", 1),
            (False, "echo no GPU; exit 1", 1),
            (True, line + "exit 1", 1),
        ):
            with unittest.mock.patch.object(run, "has_gpu", return_value=gpu):
                self.assertEqual(self.run_program(script + "\n", "{}", "--gpu"), status, script)

    def test_fails_where_the_program_fails(self):
        self.assertEqual(self.run_program("exit 3\n", "{}"), 1)


if __name__ == "__main__":
    unittest.main()
