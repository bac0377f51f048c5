#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which tests stand for which case: cases.py ROOT [write].

Every case of the engine, [E1] to [E21], is the tag of a test; those of exporters, [X1] to [X14],
may be. A test in Python has its case as its docstring. docs/test-cases.md lists them; `write`
writes that list anew. Without it: exit 1, and a line for each thing that is wrong."""

import pathlib
import re
import sys

REQUIRED = [f"E{number}" for number in range(1, 22)]
CASES = REQUIRED + [f"X{number}" for number in range(1, 15)]
TEST_CASE = re.compile(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),\s*"((?:\[[^\]]+\])+)"\s*\)')
PYTHON_TEST = re.compile(r'def test_(\w+)\(self\):\n\s+"""((?:[EX]\d+ ?)+)"""')
HEAD = """# Cases and their tests

Faults that provers and exporters have had, by the number of the case, and the tests that show that
this one does not. A test's tag is its case: `build/release/bin/engine_cancel_test [E14]`; a test in
Python says it in its first line. Written by `python3 tests/tidy/cases.py . write`; a test compares.

| case | test program | tests |
|---|---|---|
"""


def tagged_tests(root):
    """{case: {test program: [name]}} in the order of the files."""
    found = {case: {} for case in CASES}
    for path in sorted((root / "tests").glob("*/*_test.cc")):
        program = f"{path.parent.name}_{path.stem}"
        for match in TEST_CASE.finditer(path.read_text(encoding="utf-8")):
            name = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
            for tag in re.findall(r"\[([EX]\d+)\]", match[2]):
                found.setdefault(tag, {}).setdefault(program, []).append(name)
    for path in sorted((root / "tests").glob("*/*_test.py")):
        for match in PYTHON_TEST.finditer(path.read_text(encoding="utf-8")):
            for tag in match[2].split():
                program = f"{path.parent.name}/{path.name}"
                found.setdefault(tag, {}).setdefault(program, []).append(
                    match[1].replace("_", " "))
    return found


def document(found):
    lines = [f"| {case} | `{program}` | {'; '.join(names)} |"
             for case in CASES for program, names in found[case].items()]
    return HEAD + "\n".join(lines) + "\n"


def main():
    root = pathlib.Path(sys.argv[1])
    found = tagged_tests(root)
    faults = [f"no test has the tag [{case}]" for case in REQUIRED if not found[case]]
    faults += [f"[{tag}] is no case" for tag in found if tag not in CASES]
    path = root / "docs/test-cases.md"
    if sys.argv[2:] == ["write"]:
        path.write_text(document(found), encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != document(found):
        faults.append("docs/test-cases.md is not what the tests say: run cases.py ROOT write")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
