"""Tests of rows and streams of rows in pandas, Polars, pyarrow, DuckDB and NumPy of today."""

from __future__ import annotations

import builtins
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import merganser

DATA = Path(__file__).resolve().parents[3] / "tests" / "data"


@pytest.fixture
def table(reads: list[bytes]) -> merganser.Table:
    return merganser.count(reads, 21, min_count=1)


def queried(given: Any, query: str = "FROM given") -> Any:
    """Returns DuckDB's answer to a query of `given`, which it finds by its name."""
    return duckdb.sql(query)


def columns_of(frame: Any) -> tuple[list[str], list[int]]:
    """Returns the columns of a data frame of any kind."""
    columns = frame.to_pydict() if isinstance(frame, pa.Table) else frame
    return [str(kmer) for kmer in columns["kmer"]], [int(count) for count in columns["count"]]


def test_rows_have_columns_and_tuples(table: merganser.Table) -> None:
    rows = table.histogram()
    assert rows.columns == ["count", "kmers"] and len(rows) == len(list(rows))
    assert isinstance(rows["count"], np.ndarray) and rows["count"].dtype == np.uint32
    assert not rows["count"].flags.writeable
    first = next(iter(rows))
    assert first == (rows["count"][0], rows["kmers"][0]) and first.kmers == first[1]
    assert rows.to_dict() == {name: rows[name].tolist() for name in rows.columns}
    assert rows == table.histogram() and rows != table.batches().read_all() and rows != 3
    with pytest.raises(KeyError, match="kmer: the columns are count, kmers"):
        rows["kmer"]
    with pytest.raises(TypeError, match="unhashable"):
        hash(rows)


def test_all_libraries_read_tables_and_rows(table: merganser.Table) -> None:
    expected = columns_of({"kmer": [pair[0] for pair in table], "count": [pair[1] for pair in table]})
    rows = table.batches(size=len(table)).read_all()
    for given in (table, rows):
        frames = [
            given.to_pandas(),
            given.to_polars(),
            given.to_arrow(),
            pd.DataFrame(given),
            pl.DataFrame(given),
            pa.table(given),
            queried(given).fetchnumpy(),
            queried(given).pl(),
            queried(given).df(),
        ]
        for frame in frames:
            assert columns_of(frame) == expected, type(frame)
    assert given.to_pandas()["count"].dtype == np.uint32
    found = queried(table, "SELECT max(count), count(*) FROM given WHERE count > 0").fetchall()
    assert found == [(max(expected[1]), len(table))]


def test_all_libraries_read_streams(table: merganser.Table) -> None:
    expected = columns_of(table.to_polars())
    for read in (
        lambda stream: stream.to_pandas(),
        lambda stream: stream.to_polars(),
        lambda stream: stream.to_arrow(),
        pl.DataFrame,
        pa.table,
        pa.RecordBatchReader.from_stream,
        lambda stream: queried(stream).pl(),
        lambda stream: stream.read_all().to_dict(),
    ):
        stream = table.batches(size=100)
        frame = read(stream)
        if isinstance(frame, pa.RecordBatchReader):
            frame = frame.read_all()
        assert columns_of(frame) == expected
        with pytest.raises(RuntimeError, match="the rows of this stream were read before"):
            pl.DataFrame(stream)
        assert list(stream) == []


def test_schemas_take_no_rows(table: merganser.Table) -> None:
    stream = table.batches(size=100)
    assert stream.columns == ["kmer", "count"]
    for _ in range(3):
        assert pa.schema(stream).names == ["kmer", "count"]
        assert pa.RecordBatchReader.from_stream(stream).schema.names == ["kmer", "count"]
        relation = queried(stream)
        assert relation.columns == ["kmer", "count"]
        del relation
        gc.collect()
    first = next(stream)
    assert len(first) == 100
    # The rest.
    assert len(stream.read_all()) == len(table) - 100
    assert pa.schema(table).names == ["kmer", "count"]


def test_streams_do_not_become_cells(table: merganser.Table) -> None:
    stream = table.batches()
    uses: list[Callable[[Any], object]] = [pd.DataFrame, np.asarray]
    for use in uses:
        with pytest.raises(TypeError, match="use to_pandas"):
            use(stream)
    assert len(stream.read_all()) == len(table)


def test_empty_results_have_columns() -> None:
    table = merganser.count([b"ACGTT"], 5, min_count=1).reduce(9)
    assert list(table) == [] and not table and len(table) == 0
    for frame in (table.to_polars(), table.to_pandas(), table.batches().to_polars()):
        assert list(frame.columns) == ["kmer", "count"]
    assert table.batches().read_all().columns == ["kmer", "count"]
    assert "<table>" in table._repr_html_()


def test_streams_may_be_dropped(table: merganser.Table) -> None:
    before = threading.active_count()
    for _ in range(50):
        stream = table.batches(size=1)
        next(stream)
        del stream
    gc.collect()
    assert threading.active_count() == before


def test_threads_share_a_stream(table: merganser.Table) -> None:
    stream = table.batches(size=7)
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.extend(len(rows) for rows in stream)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found) == len(table)


def test_notebooks_show_tables(table: merganser.Table) -> None:
    html = table._repr_html_()
    assert html.count("<tr>") == 12 and f"{len(table)} 21-mers, canonical" in html
    rows = table.histogram()
    html = rows._repr_html_()
    assert html.count("<tr>") == 1 + min(len(rows), 10) + (len(rows) > 10)
    assert f"<caption>{len(rows)} rows</caption>" in html


def test_missing_packages_are_named(table: merganser.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any, **others: Any) -> Any:
        if name.split(".")[0] in ("pandas", "polars", "pyarrow"):
            raise ImportError(name)
        return imported(name, *rest, **others)

    for package in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(builtins, "__import__", without)
    for method, package in (("to_pandas", "pandas"), ("to_polars", "polars"), ("to_arrow", "pyarrow")):
        with pytest.raises(ImportError, match=f"{method} needs the package {package}: pip install {package}"):
            getattr(table, method)()


def test_errors_of_a_run_keep_their_class(table: merganser.Table, tmp_path: Path) -> None:
    table.save(tmp_path / "t.mgk")
    content = bytearray((tmp_path / "t.mgk").read_bytes())
    middle = len(content) // 2
    content[middle : middle + 64] = bytes(64)
    (tmp_path / "t.mgk").write_bytes(content)
    damaged = merganser.Table.open(tmp_path / "t.mgk")
    uses: list[Callable[[], object]] = [
        damaged.to_polars,
        damaged.to_arrow,
        damaged.to_pandas,
        lambda: list(damaged),
        lambda: damaged.batches().to_polars(),
        lambda: damaged.batches().read_all(),
    ]
    for use in uses:
        with pytest.raises(merganser.InputError, match="t.mgk"):
            use()
    with pytest.raises(Exception, match="InputError.*t.mgk"):
        pa.table(damaged)


def test_an_interrupt_ends_waiting_for_rows(tmp_path: Path) -> None:
    fifo = tmp_path / "reads.fifo"
    os.mkfifo(fifo)
    script = f"""
import merganser, os, signal, threading, sys
from pathlib import Path
data = Path({str(DATA)!r})
database = merganser.Database.build([data / "genomes"], data / "taxonomy", map=[data / "genomes" / "seqid2taxid.map"])
stream = database.classify({str(fifo)!r})
writer = open({str(fifo)!r}, "w")
threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    stream.to_polars()
except KeyboardInterrupt:
    os._exit(7)
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 7


def test_rows_are_read_as_streams_are(reads: list[bytes]) -> None:
    table = merganser.count(reads, 21)
    rows = table.histogram()
    assert rows.read_all() == rows


def test_numpy_makes_no_arrays_of_rows(reads: list[bytes]) -> None:
    table = merganser.count(reads, 21)
    for rows in (table, table.histogram(), merganser.Report.parse("100.00\t1\t1\tR\t1\troot\n")):
        for make in (np.asarray, np.array):
            with pytest.raises(TypeError, match="cannot become one array: use to_pandas"):
                make(rows)
    assert np.asarray(table.histogram()["count"]).ndim == 1


def test_numbers_have_their_nouns() -> None:
    assert repr(merganser.count([b"ACGTT"], 5, min_count=1)) == "<merganser.Table of 1 5-mer>"
    assert repr(merganser.Report.parse("100.00\t1\t1\tR\t1\troot\n")) == "<merganser.Report of 1 read, 1 row>"
