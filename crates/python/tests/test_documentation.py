"""Tests of docstring examples, stubs, and the program in the package."""

from __future__ import annotations

import doctest
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import merganser
from merganser import _core


@pytest.mark.filterwarnings("ignore::merganser.ResultWarning")
def test_examples_in_docstrings_run() -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    tried = 0
    for name in dir(_core):
        found = getattr(_core, name, None)
        if inspect.isclass(found) or inspect.isbuiltin(found):
            objects = [found, *(getattr(found, own) for own in dir(found) if not own.startswith("_"))]
            for one in objects:
                text = inspect.getdoc(one)
                if text and ">>>" in text:
                    example = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
                    tried += runner.run(example).attempted
    for example in finder.find(merganser, "merganser"):
        tried += runner.run(example).attempted
    assert runner.failures == 0 and tried > 20


def members() -> Iterator[tuple[str, Any]]:
    """Yields the names and objects of all public functions, methods and attributes."""
    for name, found in vars(_core).items():
        if inspect.isclass(found):
            yield from ((f"{name}.{own}", getattr(found, own)) for own in vars(found) if not own.startswith("_"))
        elif inspect.isbuiltin(found):
            yield name, found


def test_arguments_are_documented() -> None:
    texts = {name: inspect.getdoc(found) or "" for name, found in members()}
    for name, found in members():
        if not getattr(found, "__text_signature__", None):
            continue
        # Also by reference: "the options of `classify`".
        owner = name.rpartition(".")[0]
        others = [texts.get(f"{owner}.{other}", "") for other in re.findall(r"`(\w+)`", texts[name])]
        documented = "\n".join([texts[name], *others])
        for parameter in inspect.signature(found).parameters:
            known = f"    {parameter}: " in documented or f"`{parameter}`" in documented
            assert known or parameter in ("self", "options"), f"{name}: {parameter}"


def test_all_names_are_exported() -> None:
    names = {name for name in vars(_core) if not name.startswith("_")}
    assert names <= set(merganser.__all__)
    assert sorted(merganser.__all__, key=str.lower) == sorted(set(merganser.__all__), key=str.lower)
    assert all(hasattr(merganser, name) for name in merganser.__all__)


def test_the_stub_has_the_documentation() -> None:
    subprocess.run([sys.executable, Path(__file__).parents[1] / "stubs.py", "--check"], check=True)


def test_everything_is_documented_and_in_the_stub() -> None:
    stub = (Path(__file__).parents[1] / "python" / "merganser" / "_core.pyi").read_text()
    for name, found in vars(_core).items():
        if inspect.isclass(found):
            assert f"class {name}:" in stub and found.__doc__, name
            for own in vars(found):
                if not own.startswith("_"):
                    assert f"def {own}(" in stub and getattr(found, own).__doc__, f"{name}.{own}"
        elif inspect.isbuiltin(found):
            assert f"def {name}(" in stub and found.__doc__, name


def test_the_program_is_there() -> None:
    told = subprocess.run(["merganser", "--version"], check=True, capture_output=True, text=True)
    assert told.stdout.split()[1] == merganser.__version__
