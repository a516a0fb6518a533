"""Tests of the removal of a host's reads."""

from __future__ import annotations

import gzip
import pickle
from pathlib import Path
from typing import Any

import pytest
from program import run

import merganser


def letters(path: Path) -> bytes:
    """Returns the letters of a genome."""
    return b"".join(gzip.open(path).read().splitlines()[1:])


@pytest.fixture(scope="module")
def host(data: Path, tmp_path_factory: pytest.TempPathFactory) -> merganser.MinimizerSet:
    output = tmp_path_factory.mktemp("host") / "lambda.mgd"
    return merganser.MinimizerSet.build(data / "genomes" / "Escherichia_phage_lambda.fna.gz", output=output)


@pytest.fixture
def pairs(data: Path, tmp_path: Path) -> tuple[Path, Path]:
    """Returns files of pairs of the host and of another genome."""
    files = (tmp_path / "reads_1.fq", tmp_path / "reads_2.fq")
    for mate, file in enumerate(files):
        lines = []
        for name in ("Escherichia_phage_lambda", "SARS-CoV-2_Wuhan-Hu-1"):
            genome = letters(data / "genomes" / f"{name}.fna.gz").decode()
            for at in range(0, len(genome) - 600, 400):
                read = genome[at + 300 * mate : at + 300 * mate + 100]
                lines += [f"@{name}:{at} text", read, "+", "I" * len(read)]
        file.write_text("\n".join(lines) + "\n")
    return files


def test_sets_are_the_programs(host: merganser.MinimizerSet, data: Path, tmp_path: Path) -> None:
    genome = data / "genomes" / "Escherichia_phage_lambda.fna.gz"
    run("deplete", "index", "-q", genome, "-o", tmp_path / "a.mgd")
    assert Path(str(host.path)).read_bytes() == (tmp_path / "a.mgd").read_bytes()
    host.save(tmp_path / "b.idx")
    run("deplete", "index", "-q", genome, "-o", tmp_path / "a.idx")
    assert (tmp_path / "a.idx").read_bytes() == (tmp_path / "b.idx").read_bytes()
    again = merganser.MinimizerSet.open(tmp_path / "b.idx")
    assert again == host and len(again) == len(host) > 1000 and (again.k, again.w) == (31, 15)
    assert pickle.loads(pickle.dumps(again)) == host
    assert "minimizers" in repr(host) and "<table>" in host._repr_html_()


def test_sets_are_combined(host: merganser.MinimizerSet, data: Path, tmp_path: Path) -> None:
    genome = letters(data / "genomes" / "Escherichia_phage_lambda.fna.gz")
    part = merganser.MinimizerSet.build([genome[:20_000]])
    assert part.path is None and len(part) < len(host)
    assert part | host == host == host.union(part, part)
    assert part & host == part
    rest = host.subtract(part, output=tmp_path / "rest.mgd")
    assert len(rest) == len(host) - len(part) and rest == host - part
    assert host != part and host != 1
    empty = part - host
    assert len(empty) == 0 and not empty and host
    assert len(host.intersect(rest)) == len(rest)
    with pytest.raises(merganser.InputError):
        host | merganser.MinimizerSet.build([genome], k=21)


def test_kept_reads_are_the_programs(
    host: merganser.MinimizerSet, pairs: tuple[Path, Path], tmp_path: Path
) -> None:
    for folder in ("python", "program"):
        (tmp_path / folder).mkdir()
    own, other = tmp_path / "python", tmp_path / "program"
    found = host.filter(
        *pairs, output=own / "kept#.fq.gz", output_matching=own / "host.fq", abs_threshold=3, rel_threshold=0.1
    )
    run(
        *("deplete", "filter", "-q", host.path, "-1", pairs[0], "-2", pairs[1], "-o", other / "kept#.fq.gz"),
        *("--output-matching", other / "host.fq", "--abs-threshold", 3, "--rel-threshold", 0.1),
    )
    for name in ("kept1.fq.gz", "kept2.fq.gz", "host.fq"):
        assert (own / name).read_bytes() == (other / name).read_bytes()
    assert found["reads"] > found["kept_reads"] > 0
    assert found["kept_reads"] == 2 * len(gzip.open(own / "kept1.fq.gz").readlines()) // 4
    host.filter(*pairs, output=own / "a.fq", output2=own / "b.fq", keep=True, rename=True)
    run(
        *("deplete", "filter", "-q", host.path, "-1", pairs[0], "-2", pairs[1], "-o", other / "a.fq"),
        *("--output2", other / "b.fq", "--keep", "--rename"),
    )
    for name in ("a.fq", "b.fq"):
        assert (own / name).read_bytes() == (other / name).read_bytes()


def test_kept_reads_are_alignments(host: merganser.MinimizerSet, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours.sam", tmp_path / "theirs.sam"
    host.filter(*pairs, output=ours)
    run("deplete", "filter", "-q", host.path, "-1", pairs[0], "-2", pairs[1], "-o", theirs)

    def records(path: Path) -> list[str]:
        return [line for line in path.read_text().splitlines() if not line.startswith("@PG\t")]

    assert records(ours) == records(theirs) and len(records(ours)) > 100
    assert {line.split("\t")[1] for line in records(ours)[1:]} == {"77", "141"}
    with pytest.raises(merganser.ArgumentError, match="alignments require output"):
        host.filter(*pairs, output_matching=tmp_path / "host.bam")


def test_kept_reads_are_rows(host: merganser.MinimizerSet, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    rows = host.filter(*pairs)
    host.filter(*pairs, output=tmp_path / "kept.fq")
    lines = (tmp_path / "kept.fq").read_text().splitlines()
    assert rows["read"] == [line[1:].split()[0] for line in lines[::4]]
    assert rows["sequence"] == lines[1::4] and rows["quality"] == lines[3::4]
    assert set(name.split(":")[0] for name in rows["read"]) == {"SARS-CoV-2_Wuhan-Hu-1"}
    reads = [line.encode() for line in pairs[0].read_text().splitlines()[1::4]]
    kept = host.filter(reads)
    assert set(kept["quality"]) == {None}
    assert [reads[int(name) - 1].decode() for name in kept["read"]] == kept["sequence"]


def test_masked_reads_are_the_programs(
    host: merganser.MinimizerSet, pairs: tuple[Path, Path], tmp_path: Path
) -> None:
    counts = host.filter(pairs[0], output=tmp_path / "a.fq", mask="lower")
    assert counts["kept_reads"] == counts["reads"] > 100
    run("deplete", "filter", host.path, pairs[0], "-o", tmp_path / "b.fq", "--mask", "lower")
    assert (tmp_path / "a.fq").read_bytes() == (tmp_path / "b.fq").read_bytes()
    reads = pairs[0].read_text().splitlines()[1::4]
    masked = (tmp_path / "a.fq").read_text().splitlines()[1::4]
    assert [read.upper() for read in masked] == reads and any(read.islower() for read in masked)


def test_wrong_arguments_are_named(host: merganser.MinimizerSet, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    given: list[tuple[dict[str, Any], str]] = [
        ({"rel_threshold": 2.0}, "rel_threshold"),
        ({"output": tmp_path / "a.fq", "output2": tmp_path / "b.fq"}, "output2"),
        ({"output2": tmp_path / "b.fq"}, "output2"),
        ({"output": tmp_path / "a.fq", "output_matching": tmp_path / "b.fq", "keep": True}, "output_matching"),
        ({"output": pairs[0]}, "output"),
        ({"output": host.path}, "output"),
    ]
    for options, argument in given:
        with pytest.raises(merganser.ArgumentError) as found:
            host.filter(pairs[0], **options)
        assert found.value.argument == argument, str(found.value)
    with pytest.raises(merganser.ArgumentError) as found:
        merganser.MinimizerSet.build([b"ACGT"], k=30)
    assert found.value.argument == "k"
    with pytest.raises(merganser.InputError, match="minimizers"):
        merganser.MinimizerSet.build([b"ACGT"])
    with pytest.raises(merganser.FileNotFound):
        merganser.MinimizerSet.open(tmp_path / "none.mgd")
    with pytest.raises(merganser.InputError):
        merganser.MinimizerSet.open(pairs[0])
    assert pairs[0].read_text().startswith("@")


def test_sets_are_closed(data: Path) -> None:
    genome = letters(data / "genomes" / "Hepatitis_A_virus.fna.gz")
    with merganser.MinimizerSet.build([genome]) as host:
        assert len(host.filter([genome[:200]])) == 0
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(host)
    with pytest.raises(ValueError, match="closed"):
        host.filter([genome[:200]])
