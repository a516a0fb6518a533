"""The program, which the tests compare the package with."""

from __future__ import annotations

import subprocess


def run(*arguments: object) -> None:
    """Runs the program."""
    subprocess.run(["merganser", *map(str, arguments)], check=True)
