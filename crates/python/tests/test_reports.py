"""Tests of reports."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from program import run

import merganser


@pytest.fixture(scope="module")
def samples(
    database: merganser.Database, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[Path, Path]]:
    """Returns the reports and the partial results of two samples, made of every second genome's reads."""
    folder, found = tmp_path_factory.mktemp("samples"), []
    for sample in range(2):
        reads = [b"T" * 100]
        for number, path in enumerate(sorted((data / "genomes").glob("*.fna.gz"))):
            genome = b"".join(gzip.open(path).read().splitlines()[1:])
            step = 200 + 300 * sample + 100 * number
            reads += [genome[at : at + 100] for at in range(0, len(genome) - 100, step)]
        files = (folder / f"s{sample}.kreport", folder / f"s{sample}.partial")
        database.classify_to(reads, report=files[0], partial=files[1], report_minimizer_data=sample == 0)
        found.append(files)
    return found


def test_reports_have_rows(samples: list[tuple[Path, Path]]) -> None:
    report = merganser.Report.open(samples[0][0])
    rows = report.rows
    assert rows.columns[:8] == ["percent", "clade_reads", "taxon_reads", "rank", "rank_name", "taxid", "name", "depth"]
    assert rows.columns[8:] == ["minimizers", "distinct_minimizers"]
    lines = [line.split("\t") for line in samples[0][0].read_text().splitlines()]
    assert rows["clade_reads"].tolist() == [int(line[1]) for line in lines]
    assert rows["name"] == [line[-1].strip() for line in lines]
    assert (report.reads, report.unclassified, len(report)) == (sum(rows["taxon_reads"]), 1, len(lines))
    assert report.text() == str(report) == samples[0][0].read_text()
    assert pickle.loads(pickle.dumps(report)) == report == merganser.Report.parse(report.text())
    with pytest.raises(merganser.InputError):
        merganser.Report.parse("text")
    assert "<table>" in report._repr_html_() and "reads" in repr(report)
    assert pl.DataFrame(merganser.Report.open(samples[1][0]).rows).columns == rows.columns[:8]


def test_conversions_are_the_programs(samples: list[tuple[Path, Path]], tmp_path: Path) -> None:
    path = samples[1][0]
    report = merganser.Report.open(path)
    for name, text in [("mpa", report.mpa()), ("krona", report.krona())]:
        run("report", name, path, "-o", tmp_path / "a.txt")
        assert (tmp_path / "a.txt").read_text() == text
    run("report", "html", path, "-o", tmp_path / "a.html")
    page = report.html("s1")
    assert len(page) == pytest.approx(len((tmp_path / "a.html").read_text()), abs=100)
    both = report.html("s1", s2=merganser.Report.open(samples[0][0]))
    assert len(both) > len(page) and '"s2"' in both
    report.save(tmp_path / "b.kreport")
    assert (tmp_path / "b.kreport").read_bytes() == path.read_bytes()
    report.save(tmp_path / "b.kreport.gz")
    assert merganser.Report.open(tmp_path / "b.kreport.gz") == report
    with pytest.raises(merganser.OutputError):
        report.save(tmp_path / "none" / "b.kreport")


def test_clades_are_selected_as_by_the_program(samples: list[tuple[Path, Path]], tmp_path: Path) -> None:
    path = samples[1][0]
    report = merganser.Report.open(path)
    first = next(int(taxid) for rank, taxid in zip(report.rows["rank"], report.rows["taxid"]) if rank == "S")
    run("report", "filter", path, "--taxid", first, "-o", tmp_path / "a.txt")
    assert report.filter(taxid=first).text() == (tmp_path / "a.txt").read_text()
    run("report", "filter", path, "--taxid", f"{first},0", "--exclude", "-o", tmp_path / "a.txt")
    assert report.filter(taxid=[first, 0], exclude=True).text() == (tmp_path / "a.txt").read_text()
    run("report", "filter", path, "--rank", "S", "--min-reads", "30", "-o", tmp_path / "a.txt")
    assert report.filter(rank="S", min_reads=30).text() == (tmp_path / "a.txt").read_text()
    with pytest.warns(merganser.ResultWarning, match="not in the report"):
        report.filter(taxid=999_999)
    with pytest.raises(merganser.ArgumentError) as found:
        report.filter(min_percent=101)
    assert found.value.argument == "min_percent"
    with pytest.raises(merganser.ArgumentError) as found:
        report.filter(exclude=True)
    assert found.value.argument == "exclude"
    with pytest.raises(TypeError, match="taxid: give"):
        report.filter(taxid="many")  # type: ignore[arg-type]


def merged_reads(path: Path) -> int:
    return merganser.Report.open(path).reads


def test_merged_reports_are_the_programs(samples: list[tuple[Path, Path]], tmp_path: Path) -> None:
    reports, partials = zip(*samples)
    run("report", "merge", "--format", "kreport", *reports, "-o", tmp_path / "a.txt")
    opened = [merganser.Report.open(reports[0]), reports[1]]
    with pytest.warns(merganser.ResultWarning, match="minimizers are left out"):
        merged = merganser.Report.merge(opened)
    assert merged.text() == (tmp_path / "a.txt").read_text()
    run("report", "merge", "--format", "kreport", *partials[1:], "-o", tmp_path / "b.txt")
    assert merganser.Report.merge(partials[1:]).text() == (tmp_path / "b.txt").read_text()
    assert merganser.Report.open(partials[1]).text() == (tmp_path / "b.txt").read_text()
    with pytest.raises(merganser.Error):
        merganser.Report.merge(partials)
    with pytest.raises(merganser.ArgumentError, match="reports: give at least one"):
        merganser.Report.merge([])
    with pytest.raises(TypeError, match="reports: give a list"):
        merganser.Report.merge(str(partials[0]))
    with pytest.raises(TypeError, match="reports: a report must be"):
        merganser.Report.merge([1])  # type: ignore[list-item]
    with pytest.warns(merganser.ResultWarning, match="count twice"):
        assert merganser.Report.merge([reports[1], reports[1]]).reads == 2 * merged_reads(reports[1])


def test_brackens_estimates_are_the_programs(
    database: merganser.Database, samples: list[tuple[Path, Path]], tmp_path: Path, data: Path
) -> None:
    path, shares = samples[1][0], Path(f"{database.path}.100mers.kmer_distrib")
    run("db", "bracken", "-q", "--read-lengths", "100", database.path, data / "genomes")
    report = merganser.Report.open(path)
    run("report", "bracken", path, "-d", shares, "-o", tmp_path / "a.tsv", "--out-report", tmp_path / "a.kreport")
    rows, estimated = report.bracken(shares)
    lines = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()[1:]]
    assert rows["name"] == [line[0] for line in lines] != []
    assert rows["estimated"].tolist() == [int(line[5]) for line in lines]
    assert rows["fraction"].tolist() == [float(line[6]) for line in lines]
    assert estimated.text() == merganser.Report.open(tmp_path / "a.kreport").text()
    with pytest.warns(merganser.ResultWarning, match="no taxon of level S"):
        assert len(report.bracken(shares, threshold=10**9)[0]) == 0
    with pytest.raises(merganser.ArgumentError) as found:
        report.bracken(shares, level="X")
    assert found.value.argument == "level"
    with pytest.raises(merganser.InputError):
        report.bracken(path)


def test_other_files_are_no_reports(tmp_path: Path) -> None:
    with pytest.raises(merganser.FileNotFound):
        merganser.Report.open(tmp_path / "none.kreport")
    (tmp_path / "a.txt").write_text("hello\n")
    with pytest.raises(merganser.InputError) as found:
        merganser.Report.open(tmp_path / "a.txt")
    assert found.value.file == str(tmp_path / "a.txt")
    (tmp_path / "empty.txt").write_text("")
    with pytest.warns(merganser.ResultWarning):
        assert merganser.Report.open(tmp_path / "empty.txt").reads == 0


TEXT = "25.00\t1\t1\tU\t0\tunclassified\n75.00\t3\t0\tR\t1\troot\n75.00\t3\t1\tS\t562\t  E. coli\n50.00\t2\t2\tS1\t83333\t    K-12\n"


def test_ranks_have_names_and_codes() -> None:
    report = merganser.Report.parse(TEXT)
    assert report.rows["rank_name"] == [None, None, "species", None]
    assert report.filter(rank="species") == report.filter(rank="S") != report
    assert report.filter(rank="S1").reads == 2
    for rank in ("x", "Species", "SS", "", "genera", "subspecies"):
        with pytest.raises(merganser.ArgumentError, match="rank: '.*' is unknown") as caught:
            report.filter(rank=rank)
        assert caught.value.argument == "rank"
    with pytest.raises(merganser.ArgumentError, match="taxid: give at least one taxid"):
        report.filter(taxid=[])


def test_large_taxids_are_not_changed() -> None:
    report = merganser.Report.parse(TEXT.replace("562", "5000000000"))
    assert report.rows["taxid"].tolist() == [0, 1, 5_000_000_000, 83333]


def test_reports_are_taken_as_their_rows() -> None:
    report = merganser.Report.parse(TEXT)
    assert list(report) == list(report.rows) and report.to_dict() == report.rows.to_dict()
    names = report.rows["name"]
    frames: list[Any] = [report.to_pandas(), report.to_polars(), pd.DataFrame(report), pl.DataFrame(report)]
    assert all(list(frame["name"]) == names for frame in frames)
    assert report.to_arrow()["name"].to_pylist() == names == pa.table(report)["name"].to_pylist()
