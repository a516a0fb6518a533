#!/usr/bin/env python3
"""Compares the tables of docs/develop/dependencies.md with the manifests: every direct dependency of the workspace must
have a row in the right table, with its licence and whether it has unsafe code."""

import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Packages for tests and benchmarks.
FOR_DEVELOPERS = {"merganser-bench", "merganser-test-forms", "merganser-test-random", "merganser-test-support"}
PAGE = ROOT / "docs" / "develop" / "dependencies.md"
# Matches only the keyword, not names such as `unsafe_code`.
UNSAFE = re.compile(r"\bunsafe\s*(\{|fn\b|impl\b|trait\b|extern\b)")

# Dependencies that only macros name, or that only select features.
UNNAMED = {"bstr", "getrandom", "thiserror"}


def metadata() -> dict:
    command = ["cargo", "metadata", "--format-version", "1", "--all-features", "--locked"]
    return json.loads(subprocess.check_output(command, cwd=ROOT))


def has_unsafe(package: dict) -> bool:
    sources = Path(package["manifest_path"]).parent.joinpath("src").rglob("*.rs")
    lines = (line for source in sources for line in source.read_text(errors="replace").splitlines())
    return any(UNSAFE.search(line.split("//")[0]) for line in lines)


def direct(data: dict) -> dict[str, dict[str, tuple[str, str]]]:
    """Returns licence and use of unsafe code by name, for dependencies of the product and for those of tests and benchmarks only."""
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    built, tests = {}, {}
    for member in data["workspace_members"]:
        for dependency in nodes[member]["deps"]:
            package = packages[dependency["pkg"]]
            if not package["source"]:
                continue
            kinds = {kind["kind"] for kind in dependency["dep_kinds"]}
            shipped = packages[member]["name"] not in FOR_DEVELOPERS and kinds != {"dev"}
            licence = package["license"].replace("/", " OR ")
            row = (licence, "yes" if has_unsafe(package) else "no")
            (built if shipped else tests)[package["name"]] = row
    return {"built": built, "tests": {name: row for name, row in tests.items() if name not in built}}


def written() -> dict[str, dict[str, tuple[str, str]]]:
    tables, found = {"## In what is built": "built", "## In tests and measurements": "tests"}, {}
    table = None
    for line in PAGE.read_text().splitlines():
        if line.startswith("## "):
            table = tables.get(line)
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if table and len(cells) == 5 and cells[0].startswith("`"):
            found.setdefault(table, {})[cells[0].strip("`")] = (cells[2], cells[4].split(",")[0])
    return found


def sources(package: Path) -> set[Path]:
    """Returns the sources of a package, with those of others that it includes by their paths."""
    found = {*package.rglob("*.rs")}
    # The tests of the program are in a folder beside the crates.
    if package.name == "merganser":
        found |= {*(ROOT / "tests").rglob("*.rs")}
    for source in [*found]:
        for path in re.findall(r'#\[path = "([^"]+)"\]', source.read_text()):
            # In a module within a file, the path begins at the folder of the file's own modules.
            included = [folder / path for folder in (source.parent, source.with_suffix(""))]
            found |= {path for path in included if path.is_file()}
    return found


def unused(data: dict) -> list[str]:
    """Returns the dependencies that a manifest of the workspace has and no source of its package names."""
    packages = {package["id"]: package for package in data["packages"]}
    found = []
    for node in (node for node in data["resolve"]["nodes"] if node["id"] in data["workspace_members"]):
        manifest = Path(packages[node["id"]]["manifest_path"])
        text = "\n".join(source.read_text() for source in sources(manifest.parent))
        names = {dependency["name"] for dependency in node["deps"]} - UNNAMED
        found += [f"{manifest}: no source names `{name}`" for name in names if not re.search(rf"\b{name}\b", text)]
    return sorted(found)


def main() -> int:
    data = metadata()
    wanted, there, idle = direct(data), written(), unused(data)
    print(*idle, sep="\n", end="\n" * bool(idle), file=sys.stderr)
    wrong = len(idle)
    for table, rows in wanted.items():
        for name in sorted(rows.keys() | there[table].keys()):
            expected, found = rows.get(name), there[table].get(name)
            if expected != found:
                print(f"docs/develop/dependencies.md: {table}: `{name}` has {found} instead of {expected}", file=sys.stderr)
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
