#!/usr/bin/env python3
"""Counts the tests of a CTest run, the cases of GoogleTest programs one by one.

usage: count_tests.py FOLDER TIER

FOLDER holds ctest.xml (ctest --output-junit) and, for each GoogleTest program, <name of the test>.json
(--gtest_output). The output names the tests that failed and those that were skipped, with the reason; then a line with
the name TIER of this choice of tests and all counts. Its last line is "N passed, N failed"; the exit status is 1 if one
failed or none ran.
"""

import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree


def gtest_cases(report):
    """Yields (name, outcome) of the cases that a GoogleTest program ran."""
    for suite in json.loads(report.read_text())["testsuites"]:
        for case in suite["testsuite"]:
            if case["status"] == "NOTRUN":
                continue
            outcome = "failed" if "failures" in case else "skipped" if case["result"] == "SKIPPED" else "passed"
            yield f"{suite['name']}.{case['name']}", outcome


def ctest_outcome(test):
    """Returns the outcome of a test of CTest's report."""
    skipped = test.find("skipped")
    if skipped is not None:  # also the state of a program that CTest could not start
        return "skipped" if skipped.get("message", "").startswith("SKIP_") else "failed"
    return "passed" if test.get("status") == "run" else "failed"


def skip_reason(test):
    """Returns the reasons that Python's unittest gives, else the last line of the test's output."""
    output = test.findtext("system-out") or ""
    reasons = re.findall(r" \.\.\. skipped '(.*)'$", output, re.MULTILINE)
    return ", ".join(dict.fromkeys(reasons)) or output.strip().rpartition("\n")[2]


def main(folder, tier):
    outcomes = []
    for test in ElementTree.parse(folder / "ctest.xml").getroot().iter("testcase"):
        name, outcome = test.get("name"), ctest_outcome(test)
        report = folder / f"{name}.json"
        cases = list(gtest_cases(report)) if report.exists() else []
        outcomes += [(f"{name}: {case}", result) for case, result in cases]
        # A program that crashed after its report, or before it, failed as a whole.
        crashed = outcome == "failed" and not any(result == "failed" for _, result in cases)
        if crashed or not report.exists():
            outcomes.append((f"{name}: {skip_reason(test)}" if outcome == "skipped" else name, outcome))

    count = {which: [n for n, o in outcomes if o == which] for which in ("passed", "failed", "skipped")}
    for which in ("skipped", "failed"):
        for name in count[which]:
            print(f"{which}: {name}")
    numbers = {which: len(names) for which, names in count.items()}
    print(f"tier {tier}: {sum(numbers.values())} tests, {numbers['skipped']} skipped (see above)")
    print(f"{numbers['passed']} passed, {numbers['failed']} failed")
    return 1 if count["failed"] or not count["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2]))
