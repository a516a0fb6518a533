#!/usr/bin/env python3
"""Writes the tables of docs/evidence/*.md from docs/evidence/measurements.tsv.

    bench/tables.py            rewrites the tables in the pages
    bench/tables.py --check    changes nothing; exits with 1 if a page differs

A page marks the place of a table:

    <!-- table NAME -->
    <!-- end -->

Between the marks come the rows of the TSV file whose `page` is the page's name without `.md`, whose `table` is
NAME, and whose `current` is `yes`, in the order of the file. Rows with `current` = `no` are the history.

Columns of the TSV file:

    page, table     where the row belongs
    work            what was measured
    ours, peer      the figures: one text, or several as `NAME=VALUE; NAME=VALUE`, which become columns
    peer_version    name and version of the other program (empty: no other program)
    our_version     version of merganser
    ratio           the peer's figure divided by ours, where a larger figure is worse
    machine, day    see docs/evidence/speed.md; days are YYYY-MM-DD, `by` a day, or `not recorded`
    command         our command
    current         yes or no
    note            what a reader of the row must know

Version, machine, day, note and command are below the table if they are the same in all its rows. Otherwise version,
machine and day are one column, notes are another, and the commands are only in the TSV file. Columns without any cell
are left out.
"""

import csv
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "evidence"
DATA = FOLDER / "measurements.tsv"
COLUMNS = "page table work ours peer peer_version our_version ratio machine day command current note".split()
MARKED = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fail(message: str) -> None:
    sys.exit(f"{DATA.name}: {message}")


def read_rows() -> list[dict[str, str]]:
    """Reads and checks the data file."""
    with DATA.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    for number, row in enumerate(rows, start=2):
        if list(row) != COLUMNS or None in row.values():
            fail(f"line {number}: the columns must be {' '.join(COLUMNS)}")
        if row["current"] not in ("yes", "no"):
            fail(f"line {number}: current is '{row['current']}', neither yes nor no")
        for column in ("page", "table", "work", "our_version", "machine", "day", "command"):
            if not row[column]:
                fail(f"line {number}: {column} is empty")
    return rows


def split_figures(cells: list[str], name: str, prefix: bool) -> list[tuple[str, list[str]]]:
    """Makes columns of figures: one named `name`, or one for each NAME of `NAME=VALUE; NAME=VALUE`."""
    if not all("=" in part for cell in cells if cell for part in cell.split("; ")):
        return [(name, cells)]
    figures = [dict(part.split("=", 1) for part in cell.split("; ")) if cell else {} for cell in cells]
    heads = list(dict.fromkeys(head for row in figures for head in row))
    return [(f"{name}: {head}" if prefix else head, [row.get(head, "") for row in figures]) for head in heads]


def format_table(rows: list[dict[str, str]]) -> str:
    """Formats the rows of one table as Markdown, with the line below it."""
    column = {name: [row[name].replace("|", "\\|") for row in rows] for name in COLUMNS}
    column["day"] = [re.sub("^by ", "until ", day) for day in column["day"]]
    shared = {name: cells[0] for name, cells in column.items() if len(set(cells)) == 1}
    compared = any(column["peer"])
    table = [("work", column["work"]), *split_figures(column["ours"], "merganser", compared)]
    if compared and "peer_version" in shared:
        table += split_figures(column["peer"], shared["peer_version"], True)
    elif compared:
        figures = split_figures(column["peer"], "other program", True)
        table += [("compared with", column["peer_version"]), *figures]
    table.append(("ratio", column["ratio"]))
    origin = {"our_version": "version", "machine": "machine", "day": "day"}
    varying = [name for name in origin if name not in shared]
    if varying:
        cells = [", ".join(parts) for parts in zip(*(column[name] for name in varying))]
        table.append((", ".join(origin[name] for name in varying), cells))
    if "note" not in shared:
        table.append(("note", column["note"]))
    table = [(head, cells) for head, cells in table if any(cells)]
    lines = [[head for head, _ in table], *zip(*(cells for _, cells in table))]
    lines = ["|" + "|".join(cells) + "|\n" for cells in lines]
    text = "".join([lines[0], "|---" * len(table), "|\n", *lines[1:]])
    machines = "#machines" if rows[0]["page"] == "speed" else "speed.md#machines"
    link = "machine {}" if shared.get("machine") == "not recorded" else f"[machine {{}}]({machines})"
    below = []
    for name, words in (("our_version", "merganser {}"), ("machine", link), ("day", "{}"), ("note", "{}")):
        if shared.get(name):
            below.append(words.format(shared[name]))
    if shared.get("command", "not recorded") != "not recorded":
        below.append("`" + shared["command"].replace("\\|", "|") + "`")
    return f"{text}\nSetup: {'; '.join(below)}.\n" if below else text


def main() -> int:
    arguments = sys.argv[1:]
    if arguments not in ([], ["--check"]):
        sys.exit("usage: bench/tables.py [--check]")
    wanted: dict[tuple[str, str], list[dict[str, str]]] = {}
    for row in read_rows():
        if row["current"] == "yes":
            wanted.setdefault((row["page"], row["table"]), []).append(row)
    placed, differ = set(), []
    for page in sorted(FOLDER.glob("*.md")):

        def fill(mark: re.Match[str], name: str = page.stem) -> str:
            key = (name, mark[2])
            if key not in wanted:
                fail(f"{page.name} has a place for the table {mark[2]}, which has no current row")
            placed.add(key)
            return f"{mark[1]}\n{format_table(wanted[key])}\n{mark[3]}"

        old = page.read_text(encoding="utf-8")
        new = MARKED.sub(fill, old)
        if new != old:
            differ.append(page)
            if not arguments:
                page.write_text(new, encoding="utf-8")
    for name, table in wanted.keys() - placed:
        fail(f"{name}.md has no place for the table {table}: add <!-- table {table} --> and <!-- end -->")
    if arguments:
        for page in differ:
            print(f"{page.name}: its tables differ from {DATA.name}: run bench/tables.py", file=sys.stderr)
        return 1 if differ else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
