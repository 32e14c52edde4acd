#!/usr/bin/env python3
"""Checks that each header compiles without anything before it, and when it is included twice.

COMMAND compiles a source without making code; `SOURCE` is appended to it. The headers are read from LIST, one a line,
as a user includes them. What has compiled before with the same files is not compiled again (scripts/passed.py). Exit
status: 0, 1 if a header does not compile, 2 for wrong arguments.
"""

import argparse
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PASSED = Path(__file__).resolve().parents[2] / "scripts/passed.py"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", type=Path, required=True, help="a file that names the headers")
    parser.add_argument("--folder", type=Path, required=True, help="where sources and results are written")
    parser.add_argument("--extension", default="cpp", help="of the sources: cpp or cu")
    parser.add_argument("--jobs", type=int, default=1, help="how many compilers run at a time")
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    headers = arguments.list.read_text(encoding="utf-8").split()
    arguments.folder.mkdir(parents=True, exist_ok=True)

    def compile_one(header: str) -> bool:
        source = arguments.folder / f"{header.replace('/', '.')}.{arguments.extension}"
        source.write_text(2 * f'#include "{header}"\n', encoding="utf-8")
        depfile = source.with_suffix(".d")
        command = [*arguments.command, "-MD", "-MF", depfile, source]
        check = [sys.executable, "-B", PASSED, "--depfile", depfile, "--input", source, "--", *command]
        done = subprocess.run(check, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            print(f"{' '.join(map(str, command))}\n{done.stdout}", flush=True)
            return False
        # Without this header, the name of the inline namespace would be that of its macro.
        if "sptrsv/version.hpp" not in depfile.read_text(encoding="utf-8"):
            print(f"{header} does not include sptrsv/version.hpp", flush=True)
            return False
        return True

    with ThreadPoolExecutor(arguments.jobs) as pool:
        good = list(pool.map(compile_one, headers))
    print(f"{len(headers)} headers; {good.count(False)} do not compile")
    return 0 if headers and all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
