"""Tests of matrices of tables."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import merganser


@pytest.fixture
def tables(reads: list[bytes], tmp_path: Path) -> list[merganser.Table]:
    parts = [reads[:200], reads[100:300], reads[300:]]
    return [
        merganser.count(part, k=21, min_count=1, output=tmp_path / f"s{number}.mgk") for number, part in enumerate(parts)
    ]


def test_matrices_are_the_programs(tables: list[merganser.Table], tmp_path: Path) -> None:
    paths = [str(table.path) for table in tables]
    cases: list[tuple[dict[str, Any], list[str]]] = [
        ({}, []),
        ({"presence": True}, ["--presence"]),
        ({"solid": 3, "min_samples": 2, "rescue": 2}, ["--solid", "3", "--min-samples", "2", "--rescue", "2"]),
    ]
    for given, flags in cases:
        subprocess.run(["merganser", "kmers", "matrix", "-q", *paths, *flags, "-o", str(tmp_path / "a.tsv")], check=True)
        numbers = merganser.matrix(tables, output=tmp_path / "b.tsv", **given)
        assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
        expected = pl.read_csv(tmp_path / "a.tsv", separator="\t")
        rows = merganser.matrix(tables, **given)
        assert rows.columns == ["kmer", "s0", "s1", "s2"] == expected.columns
        assert rows.to_polars().rows() == expected.rows()
        assert numbers["rows"] == len(rows) <= numbers["kmers"]
    subprocess.run(["merganser", "kmers", "matrix", "-q", *paths, "-o", str(tmp_path / "a.mgx")], check=True)
    merganser.matrix(paths, output=tmp_path / "b.mgx")
    assert (tmp_path / "a.mgx").read_bytes() == (tmp_path / "b.mgx").read_bytes()


def test_columns_have_names(tables: list[merganser.Table], reads: list[bytes]) -> None:
    temporary = merganser.count(reads[:9], k=21, min_count=1)
    assert merganser.matrix([tables[0], temporary]).columns == ["kmer", "s0", "table2"]
    assert merganser.matrix(tables, names=["a", "b", "c"]).columns == ["kmer", "a", "b", "c"]


def test_wrong_arguments_are_named(tables: list[merganser.Table], reads: list[bytes], tmp_path: Path) -> None:
    given: list[tuple[dict[str, Any], str]] = [
        ({"names": ["a", "a", "b"]}, "names"),
        ({"names": ["a"]}, "names"),
        ({"names": ["kmer", "b", "c"]}, "names"),
        ({"solid": 0}, "solid"),
        ({"min_samples": 4}, "min_samples"),
        ({"format": "dense"}, "format"),
        ({"format": "parquet", "output": tmp_path / "a"}, "format"),
        ({"output": tables[0].path}, "output"),
        ({"device": "cuda"}, "device"),
    ]
    for options, argument in given:
        with pytest.raises(merganser.ArgumentError) as found:
            merganser.matrix(tables, **options)
        assert found.value.argument == argument, str(found.value)
    other = merganser.count(reads, k=11, min_count=1)
    with pytest.raises(merganser.ArgumentError, match="tables: table2 has canonical 11-mers, and s0 has canonical 21"):
        merganser.matrix([tables[0], other])
    with pytest.raises(merganser.FileNotFound):
        merganser.matrix([tmp_path / "none.mgk"])
    with pytest.raises(merganser.ArgumentError, match="tables: give at least one"):
        merganser.matrix([])
    with pytest.raises(TypeError, match="tables: give a list"):
        merganser.matrix(tables[0])  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="tables: a table must be"):
        merganser.matrix([1])  # type: ignore[list-item]
