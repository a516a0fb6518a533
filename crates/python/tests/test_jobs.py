"""Tests of classification, filtering and mapping."""

from __future__ import annotations

import pickle
import random
import subprocess
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import merganser


@pytest.fixture(scope="module")
def database(data: Path, tmp_path_factory: pytest.TempPathFactory) -> merganser.Database:
    genomes = data / "genomes"
    output = tmp_path_factory.mktemp("database") / "g.mgdb"
    return merganser.Database.build(
        [genomes], data / "taxonomy", map=[genomes / "seqid2taxid.map"], output=output
    )


def test_classified_files_are_the_programs(
    database: merganser.Database, data: Path, tmp_path: Path
) -> None:
    pair = [data / f"ERR1438863_{mate}.fastq.gz" for mate in (1, 2)]
    again = pickle.loads(pickle.dumps(database))
    report = again.classify_to(tmp_path / "a.tsv", *pair, report=tmp_path / "a.report")
    path = database.path
    assert path is not None
    subprocess.run(
        ["merganser", "classify", "-q", str(path), "-1", str(pair[0]), "-2", str(pair[1])]
        + ["-o", str(tmp_path / "b.tsv"), "--report", str(tmp_path / "b.report")],
        check=True,
    )
    assert (tmp_path / "a.tsv").read_bytes() == (tmp_path / "b.tsv").read_bytes()
    assert (tmp_path / "a.report").read_bytes() == (tmp_path / "b.report").read_bytes()
    frame = pl.DataFrame(report)
    assert frame["taxon_reads"].sum() == len((tmp_path / "a.tsv").read_text().splitlines())
    streamed = pl.DataFrame(again.classify(*pair))
    lines = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()]
    assert streamed["read"].to_list() == [line[1] for line in lines]
    assert streamed["taxid"].to_list() == [int(line[2]) for line in lines]
    assert streamed["length"].to_list() == [line[3] for line in lines]
    assert (streamed["name"].is_null() == (streamed["taxid"] == 0)).all()


def test_sequences_are_classified(database: merganser.Database) -> None:
    read = (
        "ATTAAAGGTTTATACCTTCCCAGGTAACAAACCAACCAACTTTCGATCTCTTGTAGATCTGTTCTCTAAACGAACTTTAAAATCTGTGTGGCTGTCACTC"
    )
    [batch] = list(database.classify([read, "T" * 100]))
    assert batch["name"] == ["Severe acute respiratory syndrome-related coronavirus", None]
    assert batch["read"] == ["1", "2"]
    taken = database.classify([read])
    assert pa.table(taken).num_rows == 1
    with pytest.raises(RuntimeError, match="before"):
        pa.table(taken)
    with pytest.raises(merganser.Error):
        list(database.classify("/none.fq"))
    with pytest.raises(merganser.ConfigError, match="confidence"):
        database.classify([read], confidence=2.0)


def test_runs_end_when_nobody_takes_rows(database: merganser.Database, data: Path) -> None:
    rows = iter(database.classify(data / "ERR1438863_1.fastq.gz"))
    del rows


def distance(one: str, other: str) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for column, base in enumerate(other, 1):
            before, row[column] = row[column], min(before + (letter != base), row[column] + 1, row[column - 1] + 1)
    return row[-1]


def test_pairs_are_decided_by_their_distance() -> None:
    numbers = random.Random(3)
    reads, segments = [], []
    for _ in range(300):
        read = "".join(numbers.choice("ACGT") for _ in range(40))
        segment = list(read)
        for _ in range(numbers.randrange(9)):
            segment[numbers.randrange(40)] = numbers.choice("ACGT")
        reads.append(read)
        segments.append("".join(segment))
    distances = [distance(one, other) for one, other in zip(reads, segments)]
    expected = [edits if edits <= 4 else -1 for edits in distances]
    as_bytes = [np.array([text.encode() for text in texts]) for texts in (reads, segments)]
    as_rows = [texts.view(np.uint8).reshape(300, 40) for texts in as_bytes]
    given: list[tuple[Any, Any]] = [
        (reads, segments),
        (pl.Series(reads), pa.array(segments)),
        (as_bytes[0], as_bytes[1]),
        (as_rows[0], as_rows[1]),
    ]
    for one, other in given:
        assert merganser.filter(one, other, 4, threads=2).tolist() == expected, type(one)
    snake = merganser.filter(reads, segments, 4, method="snake")
    assert all(edits == -1 or guess != -1 for edits, guess in zip(expected, snake.tolist()))


def test_pairs_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="1 reads and 2 segments"):
        merganser.filter(["ACGT"], ["ACGT", "ACGT"], 1)
    with pytest.raises(ValueError, match="pair 2"):
        merganser.filter(["ACGT", "AC!T"], ["ACGT", "ACGT"], 1)
    with pytest.raises(ValueError, match="method"):
        merganser.filter(["ACGT"], ["ACGT"], 1, method="guess")  # type: ignore[arg-type]


def test_reads_lie_where_they_were_taken(tmp_path: Path) -> None:
    numbers = random.Random(5)
    genome = "".join(numbers.choice("ACGT") for _ in range(20_000))
    (tmp_path / "g.fa").write_text(f">c1 text\n{genome[:12_000]}\n>c2\n{genome[12_000:]}\n")
    index = merganser.Index.build(tmp_path / "g.fa", output=tmp_path / "g.mgi")
    assert index.contigs == [("c1", 12_000), ("c2", 8_000)] and index.bases == 20_000
    places = [numbers.randrange(11_900) for _ in range(1500)]
    reads = []
    for at in places:
        read = list(genome[at : at + 100])
        read[50] = "ACGT"[("ACGT".index(read[50]) + 1) % 4]
        reads.append("".join(read))
    for given in (reads, pl.Series(reads)):
        hits = index.map(given, 2, best=True, threads=2)
        assert hits["read"].tolist() == list(range(1500))
        assert hits["position"].tolist() == places
        assert set(hits["contig"]) == {"c1"} and set(hits["edits"].tolist()) == {1}
        assert hits["cigar"][0] == "50=1X49="
    again = pickle.loads(pickle.dumps(index))
    assert len(again.map(["T" * 100], 2)) == 0
    with pytest.raises(merganser.Error, match="read 1"):
        index.map(["AC!T" * 20], 2)
    with pytest.raises(ValueError, match="best and best_strata"):
        index.map(reads, 2, best=True, best_strata=True)


def test_devices_have_a_processor() -> None:
    assert merganser.devices()[0]["usable"]


def test_doubts_are_warnings(tmp_path: Path) -> None:
    empty = tmp_path / "empty.fa"
    empty.write_bytes(b"")
    with pytest.warns(UserWarning, match="no k-mers: the input has no records"):
        merganser.count(empty, k=5)
    with pytest.warns(UserWarning, match="; min_count 1 keeps all"):
        merganser.count(["ACGTTA"], k=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merganser.count(["ACGTTA"], k=5, min_count=1)
        with pytest.raises(UserWarning):
            merganser.count(["ACGTTA"], k=5)
