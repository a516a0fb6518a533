"""Tests of docstring examples, stubs, and the program in the package."""

from __future__ import annotations

import doctest
import inspect
import subprocess
import sys
from pathlib import Path

import merganser
from merganser import _core


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
