#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the source to its own rules: layering, limits, names, licence lines.

Usage: tidy.py [ROOT]. Prints one `path:line: rule` per fault; exit 1 when there is any.
Why: a limit that a test enforces is never a matter of opinion in a review.
"""

import pathlib
import re
import subprocess
import sys

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
PARAMETERS_MAX = 5
LINE_COLUMNS_MAX = 100

# Which folders each folder may include from. Nobody includes tests.
MAY_INCLUDE = {
    "shm": {"shm"},
    "kernels": {"kernels"},
    "engine": {"engine", "shm", "kernels"},
    "exporters": {"exporters", "shm"},
    "plugins": {"plugins", "shm"},
    "tools": {"tools", "shm"},
    "tests": {"tests", "engine", "shm", "kernels", "exporters", "plugins", "tools"},
}
# Only these may use the write side of the segment.
WRITE_SIDE_USERS = {"shm", "engine", "tests"}
# And of the other folders these files alone: a replay is a live segment.
WRITE_SIDE_FILES = {"tools/command_replay.cc"}
BANNED_NAMES = {"util", "utils", "common", "base", "helper", "helpers", "manager", "misc", "types"}

CPP_SUFFIXES = {".h", ".cc", ".cu", ".cuh", ".c"}
TEXT_SUFFIXES = CPP_SUFFIXES | {".py", ".sh", ".mjs", ".js", ".css", ".cmake", ".html"}
CONTROL_WORDS = {"if", "for", "while", "switch", "catch", "return", "sizeof", "do", "else"}


def is_source(path):
    return (path.suffix in TEXT_SUFFIXES or path.name in {"CMakeLists.txt", "dev", "run"}) and not (
        path.parts[:2] == ("tests", "data"))


def blank_out(text):
    """The code with comments and the insides of literals replaced by spaces, lines kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'", re.S)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def signature_before(code, brace):
    """(name, parameter text, offset of the declaration) when the brace opens a function."""
    start = max(code.rfind(c, 0, brace) for c in ";}{") + 1
    head = code[start:brace]
    head = re.sub(r"^\s*(#[^\n]*\n\s*)+", "", head)
    match = re.search(r"(~?[A-Za-z_]\w*|operator[^\s\w(]+|operator\(\))\s*\(", head)
    if not match or re.match(r"\s*(namespace|struct|class|enum|union)\b", head):
        return None
    if match.group(1) in CONTROL_WORDS or re.search(r"=\s*$", head) or "=" in head[:match.start()]:
        return None
    depth, end = 0, match.end() - 1
    for end in range(match.end() - 1, len(head)):
        depth += {"(": 1, ")": -1}.get(head[end], 0)
        if depth == 0:
            break
    declared = start + (len(code[start:brace]) - len(code[start:brace].lstrip()))
    return match.group(1), head[match.end():end], declared


def count_parameters(text):
    text = re.sub(r"<[^<>]*>", "", re.sub(r"<[^<>]*>", "", text))
    depth, count = 0, 1 if text.strip() and text.strip() != "void" else 0
    for char in text:
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(char, 0)
        count += char == "," and depth == 0
    return count


def closing_brace(code, opening):
    depth = 0
    for at in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        if depth == 0:
            return at
    return len(code) - 1


def functions(code):
    """Every function definition: (first line, number of lines, name, parameters)."""
    at = 0
    while (opening := code.find("{", at)) >= 0:
        signature = signature_before(code, opening)
        if signature is None:
            at = opening + 1
            continue
        name, parameters, declared = signature
        end = closing_brace(code, opening)
        # A member initialiser in braces comes before the body: go on to the last group.
        while (after := re.match(r"\s*(?:,[^{};]*)?\{", code[end + 1:])):
            end = closing_brace(code, end + after.end())
        first = code.count("\n", 0, declared) + 1
        yield first, code.count("\n", 0, end) + 1 - first + 1, name, count_parameters(parameters)
        at = end + 1


def check_includes(path, text):
    folder = path.parts[0]
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
        if not match:
            continue
        target = match.group(1)
        other = target.split("/")[0]
        if other not in MAY_INCLUDE.get(folder, set()):
            yield number, f"{folder} may not include {target}"
        elif other == "shm" and "writer" in target and (
                folder not in WRITE_SIDE_USERS and path.as_posix() not in WRITE_SIDE_FILES):
            yield number, f"{folder} may not include the write side {target}"


def check_text(path, text):
    lines = text.rstrip("\n").split("\n")
    if len(lines) > FILE_LINES_MAX:
        yield len(lines), f"file of {len(lines)} lines (at most {FILE_LINES_MAX})"
    for number, line in enumerate(lines, 1):
        if len(line) > LINE_COLUMNS_MAX:
            yield number, f"line of {len(line)} columns (at most {LINE_COLUMNS_MAX})"
    if "SPDX-License-Identifier:" not in "\n".join(lines[:3]):
        yield 1, "no SPDX licence line"


def check_test_names(text):
    """ctest splits a name at a semicolon into two that match no test, and both pass."""
    for case in re.finditer(r'TEST_CASE\(\s*"((?:[^"]|"\s*")*)"', text):
        name = case.group(1)
        if ";" in name or name.startswith("-"):
            number = text.count("\n", 0, case.start()) + 1
            yield number, f"test name with a semicolon or a leading dash: {name}"


def check_file(path, text):
    yield from check_text(path, text)
    for part in path.parts:
        if part.split(".")[0] in BANNED_NAMES:
            yield 1, f"a name that says nothing: {part}"
    if path.suffix not in CPP_SUFFIXES:
        return
    yield from check_includes(path, text)
    yield from check_test_names(text)
    for first, lines, name, parameters in functions(blank_out(text)):
        if lines > FUNCTION_LINES_MAX:
            yield first, f"function {name} of {lines} lines (at most {FUNCTION_LINES_MAX})"
        if parameters > PARAMETERS_MAX:
            yield first, f"function {name} of {parameters} parameters (at most {PARAMETERS_MAX})"


def tracked_files(root):
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        names = sorted(set(listed.stdout.decode().rstrip("\0").split("\0")))
        return [pathlib.Path(name) for name in names]
    skipped = {"build", "node_modules", ".git"}
    return sorted(path.relative_to(root) for path in root.rglob("*")
                  if path.is_file() and not skipped & set(path.relative_to(root).parts))


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    faults = files = 0
    for path in tracked_files(root):
        if not is_source(path) or not (root / path).is_file():
            continue
        files += 1
        for line, rule in check_file(path, (root / path).read_text(encoding="utf-8")):
            print(f"{path}:{line}: {rule}")
            faults += 1
    print(f"tidy: {files} files, {faults} faults")
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())
