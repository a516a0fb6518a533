"""Tests of the extraction of reads."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from program import run

import merganser


@pytest.fixture(scope="module")
def pairs(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("reads")
    files = (folder / "reads_1.fq", folder / "reads_2.fq")
    for mate, file in enumerate(files):
        lines = []
        for path in sorted((data / "genomes").glob("*.fna.gz")):
            genome = "".join(gzip.open(path, "rt").read().splitlines()[1:])
            for at in range(0, len(genome) - 500, 700):
                read = genome[at + 300 * mate : at + 300 * mate + 100]
                lines += [f"@{path.name}:{at}", read, "+", "I" * len(read)]
        file.write_text("\n".join(lines) + "\n")
    return files


@pytest.fixture(scope="module")
def classified(
    database: merganser.Database, pairs: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("classified")
    database.classify_to(*pairs, output=folder / "lines.tsv", report=folder / "a.kreport")
    return folder / "lines.tsv", folder / "a.kreport"


def test_extracted_reads_are_the_programs(
    database: merganser.Database, pairs: tuple[Path, Path], classified: tuple[Path, Path], data: Path, tmp_path: Path
) -> None:
    lines, report = classified
    counts = database.classify(*pairs).to_polars()["taxid"].value_counts(sort=True)
    taxid, number = int(counts["taxid"][0]), int(counts["count"][0])
    common = ["extract", "reads", "--lines", lines, "-1", pairs[0], "-2", pairs[1], "--taxid", taxid]
    run(*common, "-o", tmp_path / "a#.fq.gz")
    found = merganser.extract(lines, pairs[0], taxid, pairs[1], output=tmp_path / "b#.fq.gz")
    assert found == {"reads": len(lines.read_text().splitlines()), "extracted": number, "lines": found["lines"], "without_line": 0}
    for mate in "12":
        assert (tmp_path / f"a_{mate}.fq.gz").read_bytes() == (tmp_path / f"b_{mate}.fq.gz").read_bytes()
    run(*common, "--exclude", "--format", "fasta", "-o", tmp_path / "a.txt")
    merganser.extract(lines, pairs[0], [taxid], pairs[1], output=tmp_path / "b.txt", exclude=True, format="fasta")
    assert (tmp_path / "a.txt").read_bytes() == (tmp_path / "b.txt").read_bytes() != b""
    run(*common, "-o", tmp_path / "a.sam")
    merganser.extract(lines, pairs[0], taxid, pairs[1], output=tmp_path / "b.sam")
    records = [[line for line in (tmp_path / name).read_text().splitlines() if line[0] != "@"] for name in ("a.sam", "b.sam")]
    assert records[0] == records[1] and len(records[0]) == 2 * number
    run(*common, "--include-parents", "--report", report, "-o", tmp_path / "a.fq", "--output2", tmp_path / "a2.fq")
    sources: list[dict[str, Any]] = [
        {"report": report},
        {"report": merganser.Report.open(report)},
        {"database": database},
        {"database": database.path},
        {"taxonomy": data / "taxonomy"},
    ]
    for source in sources:
        merganser.extract(
            lines, pairs[0], taxid, pairs[1], output=tmp_path / "b.fq", output2=tmp_path / "b2.fq", include_parents=True, **source
        )
        assert (tmp_path / "a.fq").read_bytes() == (tmp_path / "b.fq").read_bytes() != b""
        assert (tmp_path / "a2.fq").read_bytes() == (tmp_path / "b2.fq").read_bytes()


def test_sequences_have_numbers(database: merganser.Database, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    reads = [line.encode() for line in pairs[0].read_text().splitlines()[1::4]] + [b"T" * 100]
    database.classify_to(reads, output=tmp_path / "lines.tsv")
    merganser.extract(tmp_path / "lines.tsv", reads, 0, output=tmp_path / "rest.fa")
    assert (tmp_path / "rest.fa").read_text() == f">{len(reads)}\n{'T' * 100}\n"


def test_wrong_arguments_are_named(
    pairs: tuple[Path, Path], classified: tuple[Path, Path], data: Path, tmp_path: Path
) -> None:
    lines, report = classified
    given: list[tuple[dict[str, Any], str]] = [
        ({"include_children": True}, "include_children"),
        ({"report": report, "taxonomy": data / "taxonomy"}, "report"),
        ({"output2": tmp_path / "b.fq"}, "output2"),
        ({"format": "table"}, "format"),
        ({"output": pairs[0]}, "output"),
        ({"output": lines}, "output"),
        ({"device": "cuda"}, "device"),
    ]
    for options, argument in given:
        with pytest.raises(merganser.ArgumentError) as found:
            merganser.extract(lines, pairs[0], 1, **{"output": tmp_path / "a.fq", **options})
        assert found.value.argument == argument, str(found.value)
    with pytest.raises(TypeError, match="taxids: give"):
        merganser.extract(lines, pairs[0], "1", output=tmp_path / "a.fq")  # type: ignore[arg-type]
    with pytest.raises(merganser.FileNotFound):
        merganser.extract(tmp_path / "none.tsv", pairs[0], 1, output=tmp_path / "a.fq")
    assert not (tmp_path / "a.fq").exists()


def test_doubts_are_warnings(pairs: tuple[Path, Path], classified: tuple[Path, Path], tmp_path: Path) -> None:
    lines, report = classified
    some = tmp_path / "some.tsv"
    some.write_text("\n".join(lines.read_text().splitlines()[:-2]) + "\n")
    with pytest.warns(merganser.ResultWarning, match="2 reads have no line"):
        merganser.extract(some, pairs[0], 0, output=tmp_path / "a.fq")
    with pytest.warns(merganser.ResultWarning, match="not in the taxonomy: 1 taxid, first 999999"):
        merganser.extract(lines, pairs[0], [999_999], output=tmp_path / "a.fq", report=report, include_children=True)
