"""Runs the cells of the book's chapter on the package, and compares the outputs that the pages show.

A page's cells run in order, in one namespace and in a folder with the inputs of `inputs.py`. `# → VALUE` after an expression shows
its `repr`; a text block after a cell shows the printed text and the last value. `...` matches any text.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from inputs import fill

CHAPTER = Path(__file__).resolve().parents[3] / "docs" / "python"
PAGES = sorted(CHAPTER.glob("*.md"))
CELL = re.compile(r"^```python\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
ARROW = "# → "
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


class Cell(NamedTuple):
    """A cell of a page, and the output that the page shows, if any."""

    code: str
    output: str
    line: int


def cells(page: str) -> list[Cell]:
    """Returns the cells of a page."""
    found = CELL.finditer(page)
    return [Cell(cell[1], cell[2] or "", page.count("\n", 0, cell.start()) + 2) for cell in found]


def differences(shown: str, got: str) -> Iterator[str]:
    """Yields a message if an output is not as shown."""
    if not doctest.OutputChecker().check_output(shown.strip(), got.strip(), FLAGS):
        yield f"shown:\n{shown.strip()}\ngot:\n{got.strip()}"


def run(cell: Cell, names: dict[str, Any], place: str) -> Iterator[str]:
    """Runs a cell and yields what differs from the page."""
    tree = ast.parse(cell.code, place)
    ast.increment_lineno(tree, cell.line - 1)
    lines = cell.code.split("\n")
    printed, compared, last = io.StringIO(), 0, None
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("error")
        for statement in tree.body:
            last = None
            if not isinstance(statement, ast.Expr):
                exec(compile(ast.Module([statement], []), place, "exec"), names)
                continue
            last = eval(compile(ast.Expression(statement.value), place, "eval"), names)
            end = lines[(statement.end_lineno or 0) - cell.line]
            if ARROW in end:
                compared += 1
                yield from differences(end.split(ARROW)[1], repr(last))
                last = None
    assert compared == cell.code.count(ARROW), f"{place}:{cell.line}: only values of expressions can be compared"
    shown = "" if last is None or not cell.output else str(last)
    yield from differences(cell.output, printed.getvalue() + shown)


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with the inputs of the pages."""
    folder = tmp_path_factory.mktemp("inputs")
    fill(folder)
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: Path, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(shutil.copytree(inputs, tmp_path / "inputs"))
    text = page.read_text()
    found, names = cells(text), {"__name__": "page"}
    assert len(found) == text.count("```python") > 0
    assert sum(bool(cell.output) for cell in found) == text.count("```text"), "each text block follows a cell"
    problems = [f"{page.name}:{cell.line}: {it}" for cell in found for it in run(cell, names, page.name)]
    assert not problems, "\n".join(problems)


def test_the_chapter_has_its_pages() -> None:
    assert len(PAGES) > 10


@pytest.mark.parametrize("code", ["1 + 1  # → 3", "print(1)", "x = 2  # → 2"])
def test_wrong_outputs_are_found(code: str) -> None:
    with pytest.raises(AssertionError):
        assert not list(run(Cell(code, "", 1), {}, "page"))


def test_shown_outputs_are_accepted() -> None:
    cell = Cell("x = 2\nx * 2  # → 4\nprint(x)\n[x]", "2\n[2]", 1)
    assert not list(run(cell, {}, "page"))
