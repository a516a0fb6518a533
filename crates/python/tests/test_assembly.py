"""Tests of the quality of assemblies."""

from __future__ import annotations

import random
from pathlib import Path

import polars as pl
import pytest
from program import run

import merganser

# The reads are few and without errors.
pytestmark = pytest.mark.filterwarnings("ignore::merganser.ResultWarning")


def fasta(path: Path, *sequences: str) -> Path:
    path.write_text("".join(f">c{number}\n{letters}\n" for number, letters in enumerate(sequences)))
    return path


def reads_of(genome: str) -> list[bytes]:
    return [genome[at : at + 150].encode() for at in range(0, len(genome) - 149, 7)]


@pytest.fixture(scope="module")
def haplotypes() -> tuple[str, str]:
    """Returns two haplotypes that differ at every 200th base."""
    numbers = random.Random(3)
    one = "".join(numbers.choice("ACGT") for _ in range(20_000))
    other = list(one)
    for at in range(100, 20_000, 200):
        other[at] = "ACGT"[("ACGT".index(other[at]) + 1) % 4]
    return one, "".join(other)


def test_results_are_the_programs(haplotypes: tuple[str, str], tmp_path: Path) -> None:
    one, other = haplotypes
    table = merganser.count(reads_of(one) + reads_of(other), k=21, min_count=1, output=tmp_path / "reads.mgk")
    wrong = one[:5000] + "ACGT" + one[5004:]
    first, second = fasta(tmp_path / "first.fa", wrong), fasta(tmp_path / "second.fa", other[:15_000])
    for folder in ("python", "program"):
        (tmp_path / folder).mkdir()
    with pytest.warns(merganser.ResultWarning, match="set the threshold with solid"):
        rows = merganser.qv(table, [first, second], output=tmp_path / "python" / "out")
    run("kmers", "qv", "-q", tmp_path / "reads.mgk", first, second, "-o", tmp_path / "program" / "out", "--no-plots")
    files = sorted(path.name for path in (tmp_path / "program").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "python").iterdir())
    for name in files:
        assert (tmp_path / "python" / name).read_bytes() == (tmp_path / "program" / name).read_bytes(), name
    assert rows["assembly"] == ["first", "second", "both"]
    lines = [line.split("\t") for line in (tmp_path / "python" / "out.qv").read_text().splitlines()]
    assert rows["only_kmers"].tolist() == [int(line[1]) for line in lines]
    assert rows["kmers"].tolist() == [int(line[2]) for line in lines]
    assert rows["only_kmers"][0] > 0 == rows["only_kmers"][1]
    assert rows["qv"][1] is None or rows.to_polars()["qv"].is_null().to_list()[1]
    by_path = merganser.qv(tmp_path / "reads.mgk", [str(first), str(second)])
    assert by_path == rows
    by_reads = merganser.qv(reads_of(one) + reads_of(other), [first, second], k=21)
    assert by_reads == rows


def test_parents_phase_assemblies(haplotypes: tuple[str, str], tmp_path: Path) -> None:
    one, other = haplotypes
    switched = fasta(tmp_path / "switched.fa", one[:10_000] + other[10_000:])
    reads = reads_of(one) + reads_of(other)
    rows = merganser.qv(
        reads, switched, k=21, maternal=reads_of(one) * 2, paternal=reads_of(other) * 2, block_markers=5
    ).to_polars()
    assert rows["phase_blocks"].to_list() == [2]
    assert rows["hamming_rate"][0] == pytest.approx(0.5, abs=0.05)
    assert rows["switch_rate"][0] < 0.01
    assert not list(tmp_path.glob("*qv*"))


def test_wrong_arguments_are_named(haplotypes: tuple[str, str], tmp_path: Path) -> None:
    assembly = fasta(tmp_path / "a.fa", haplotypes[0])
    reads = reads_of(haplotypes[0])
    table = merganser.count(reads, k=21, min_count=2)
    with pytest.raises(merganser.InputError, match="reads: .*count with min_count=1"):
        merganser.qv(table, assembly)
    for options, argument in [
        ({"k": 200}, "k"),
        ({"maternal": reads}, "maternal"),
        ({"hybrid": True}, "hybrid"),
        ({"block_markers": 0}, "block_markers"),
    ]:
        with pytest.raises(merganser.ArgumentError) as found:
            merganser.qv(reads, assembly, **options)  # type: ignore[arg-type]
        assert found.value.argument == argument, str(found.value)
    with pytest.raises(merganser.ArgumentError, match="two assemblies are a: "):
        merganser.qv(reads, [assembly] * 3)
    with pytest.raises(merganser.FileNotFound):
        merganser.qv(reads, tmp_path / "none.fa", k=21)
    with pytest.raises(TypeError, match="assemblies"):
        merganser.qv(reads, [b"ACGT"])  # type: ignore[list-item]


def test_rows_are_read_by_polars(haplotypes: tuple[str, str], tmp_path: Path) -> None:
    assembly = fasta(tmp_path / "a.fa", haplotypes[0])
    frame = pl.DataFrame(merganser.qv(reads_of(haplotypes[0]), assembly, k=21, solid=1))
    assert frame["completeness"].to_list() == [pytest.approx(100, abs=1)]
