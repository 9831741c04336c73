#!/usr/bin/env python3
"""Checks the C++ sources: formatting, file lengths, rooms, clang-tidy.

A file that passed clang-tidy is skipped until it, one of its headers, or the list of checks changes;
stamps lie in build/lint. Run through `./dev lint`.
"""
import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys

import rooms

MAX_LINES = 450
STAMPS = pathlib.Path("build/lint")


def sources(*folders):
    return sorted(p for folder in folders for p in pathlib.Path(folder).rglob("*.[ch]pp"))


def check_lengths(files):
    for path in files:
        lines = path.read_text().count("\n")
        if lines > MAX_LINES:
            yield f"{path}: {lines} lines, {MAX_LINES} at most; perhaps it is two units"


def check_format(files):
    run = subprocess.run(
        ["clang-format-19", "--dry-run", "-Werror", *map(str, files)], stderr=subprocess.PIPE, text=True
    )
    for name in sorted({line.split(":")[0] for line in run.stderr.splitlines() if ": error:" in line}):
        yield f"{name}: not formatted; run clang-format-19 -i {name}"
    if run.returncode and not run.stderr:
        yield "clang-format-19 failed"


def own_headers(path, seen=None):
    """The project's headers that a file includes, directly or not."""
    seen = set() if seen is None else seen
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
        for header in (pathlib.Path("src") / name, pathlib.Path("tests") / name):
            if header.exists() and header not in seen:
                seen.add(header)
                own_headers(header, seen)
    return seen


def tidy_key(path, command, tool):
    digest = hashlib.sha256(tool)
    digest.update(command.encode())
    for part in [path, *sorted(own_headers(path))]:
        digest.update(part.read_bytes())
    return digest.hexdigest()


def run_tidy(path, build):
    run = subprocess.run(
        ["clang-tidy-19", "-p", build, "--quiet", "--extra-arg=-Wno-unknown-warning-option", str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    told = [line for line in run.stdout.splitlines() if ": error:" in line or ": note:" in line]
    return run.returncode, "\n".join(told) or run.stdout


def check_tidy(build, jobs):
    STAMPS.mkdir(parents=True, exist_ok=True)
    tool = pathlib.Path(".clang-tidy").read_bytes()
    tool += subprocess.check_output(["clang-tidy-19", "--version"])
    database = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    root = pathlib.Path.cwd()
    due = {}
    for entry in database:
        path = pathlib.Path(entry["file"])
        if not path.is_relative_to(root / "src") or not path.exists():
            continue
        path = path.relative_to(root)
        key = tidy_key(path, entry["command"], tool)
        if not (STAMPS / key).exists():
            due[path] = key
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(run_tidy, path, build): path for path in due}
        for done in concurrent.futures.as_completed(running):
            code, output = done.result()
            path = running[done]
            if code:
                yield f"{path}: clang-tidy\n{output}"
            else:
                (STAMPS / due[path]).touch()
    print(f"lint: clang-tidy looked at {len(due)} files; the others had not changed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build/release", help="folder with compile_commands.json")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--no-tidy", action="store_true", help="only the checks that take no time")
    options = parser.parse_args()

    source = sources("src")
    problems = [*check_lengths(source), *rooms.check(source), *check_format(sources("src", "tests"))]
    if not options.no_tidy:
        problems += check_tidy(options.build, options.jobs)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"lint: {len(problems)} problems" if problems else "lint: clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
