#!/usr/bin/env bash
# usage: check_tidy.sh
#
# Checks the host's programs with clang-tidy, see .clang-tidy: a source that includes all headers of the library, and
# the sources of the examples, the benchmarks and the acceptance test, which instantiate the policies of the host.
# Several sources are checked as one that holds their text, so that the headers are read and checked once for these.
# clang-tidy names lines of this text; a comment in front of each source there has its name.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_missing build gtest benchmark zlib python clang-tidy
configure host -D CMAKE_EXPORT_COMPILE_COMMANDS=ON > /dev/null
clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy)
"$clang_tidy" --version | grep version

folder="$root/build/host/tidy"
rm -rf "$folder"
mkdir -p "$folder"
cp "$root/.clang-tidy" "$folder"
# Writes each group of sources, with a database of the commands that compile them.
python3 - "$root/build/host/compile_commands.json" "$root" "$folder" << 'END'
import json, pathlib, shlex, sys

database, root, folder = sys.argv[1:]
commands = {}  # by language and name: the text with all headers is compiled as C++17 and as C++20
for entry in json.load(open(database)):
    command = shlex.split(entry["command"])
    name = entry["file"]
    folder_of = name.removeprefix(root + "/")
    if folder_of.startswith(("examples/", "benchmarks/", "tests/acceptance/")) or name.endswith("/together/first.cpp"):
        commands[next(word for word in command if word.startswith("-std=")), name] = command[1:]
# Groups of C++17 that take about as long as each other, one for each core of a small machine. Names of two sources in
# a group must not clash. quickstart.cpp is the last one of its group: it has what only a function main may lack, the
# return.
second = ("/together/first.cpp", "/sptrsv_bench.cpp", "/solve.cpp")
groups = [[], [], []]
for key in sorted(commands, key=lambda key: (key[1].endswith("/quickstart.cpp"), key[1])):
    groups[2 if key[0] != "-std=c++17" else 1 if key[1].endswith(second) else 0].append(key)
entries = []
for number, group in enumerate(groups):
    text = ""
    flags = []
    for key in group:
        name = key[1]
        # A macro hides that there are several functions main. clang-tidy forgets there which files are included.
        is_last = key == group[-1]
        text += f"// {name}\n#define main main_of_{pathlib.Path(name).stem}\n" if not is_last else f"// {name}\n"
        text += pathlib.Path(name).read_text() + ("" if is_last else "#undef main\n")
        words = iter(commands[key])
        for word in words:
            if word in ("-o", "-c", "-MT", "-MF"):
                next(words)
                continue
            flag = [word, next(words)] if word == "-isystem" else [word]
            if word != "-MD" and flag not in flags:
                flags.append(flag)
        flags.append([f"-I{pathlib.Path(name).parent}"])
    source = pathlib.Path(folder, f"group_{number}.cpp")
    source.write_text(text)
    arguments = ["c++", *(word for flag in flags for word in flag), "-c", str(source)]
    entries.append({"directory": folder, "file": str(source), "arguments": arguments})
    print(f"{source.name}: {len(group)} sources")
pathlib.Path(folder, "compile_commands.json").write_text(json.dumps(entries))
END
# The number of warnings that it reports counts those of system headers, which it does not show.
printf '%s\0' "$folder"/group_*.cpp | xargs -0 -P "$cores" -n 1 "$clang_tidy" -p "$folder" --quiet 2>&1 |
  sed '/^[0-9]* warnings\? generated\.$/d'
