"""Runs the examples unchanged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, *args: object) -> str:
    command = [sys.executable, str(EXAMPLES / name), *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_spectra(data: Path, tmp_path: Path) -> None:
    said = run("spectra.py", tmp_path, *(data / f"ERR1438863_{mate}.fastq.gz" for mate in (1, 2)))
    assert "count" in said and "ERR1438863_1" in said


def test_classify_with_polars(data: Path) -> None:
    said = run("classify_with_polars.py", data)
    assert "unclassified" in said and "Lambdavirus" in said


def test_amplicon_pairs() -> None:
    assert "reads have the primer" in run("amplicon_pairs.py")


def test_without_host(data: Path, tmp_path: Path) -> None:
    said = run("without_host.py", data, tmp_path)
    assert "reads are not the host's" in said and "reads of " in said
    assert (tmp_path / "sample.krona").read_text()


def test_assembly_errors(tmp_path: Path) -> None:
    assert "qv" in run("assembly_errors.py", tmp_path)
