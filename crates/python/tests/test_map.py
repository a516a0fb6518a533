"""Tests of indexes and mapping."""

from __future__ import annotations

import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from program import run

import merganser

Genome = tuple[Path, str]


def reverse(read: str) -> str:
    return read[::-1].translate(str.maketrans("ACGT", "TGCA"))


@pytest.fixture(scope="module")
def genome(tmp_path_factory: pytest.TempPathFactory) -> Genome:
    """Returns a file with two contigs, and their letters."""
    numbers = random.Random(5)
    letters = "".join(numbers.choice("ACGT") for _ in range(20_000))
    path = tmp_path_factory.mktemp("genome") / "g.fa"
    path.write_text(f">c1 text\n{letters[:12_000]}\n>c2\n{letters[12_000:]}\n")
    return path, letters


@pytest.fixture(scope="module")
def index(genome: Genome) -> merganser.Index:
    return merganser.Index.build(genome[0], output=genome[0].with_suffix(".mgi"))


@pytest.fixture
def pairs(genome: Genome, tmp_path: Path) -> tuple[Path, Path]:
    """Returns files of pairs: concordant ones, ones that are too far apart, and one without a place."""
    letters = genome[1]
    lines: tuple[list[str], list[str]] = ([], [])
    for number, at in enumerate(range(0, 10_000, 97)):
        far = 300 if number % 5 else 1500
        mates = [letters[at : at + 100], reverse(letters[at + far : at + far + 100])]
        if number == 7:
            mates = ["T" * 100, "A" * 100]
        for mate, read in enumerate(mates, 1):
            changed = read[:50] + ("A" if read[50] != "A" else "C") + read[51:]
            lines[mate - 1].extend([f"@r{number}/{mate}", changed, "+", "I" * 100])
    files = (tmp_path / "reads_1.fq", tmp_path / "reads_2.fq")
    for file, own in zip(files, lines):
        file.write_text("\n".join(own) + "\n")
    return files


def records(path: Path) -> list[list[str]]:
    """Returns the records of a SAM file."""
    return [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("@")]


def without_program(path: Path) -> bytes:
    """Returns a SAM file without the line of the program."""
    return b"".join(line for line in path.read_bytes().splitlines(True) if not line.startswith(b"@PG"))


def test_reads_are_where_they_were_taken(genome: Genome, index: merganser.Index) -> None:
    numbers = random.Random(6)
    assert index.contigs == [("c1", 12_000), ("c2", 8_000)] and index.bases == 20_000
    assert index.info["contigs"] == 2 and "c1, c2" in index._repr_html_()
    places = [numbers.randrange(11_900) for _ in range(1500)]
    reads = []
    for at in places:
        read = list(genome[1][at : at + 100])
        read[50] = "ACGT"[("ACGT".index(read[50]) + 1) % 4]
        reads.append("".join(read).encode())
    given: list[Any] = [reads, pl.Series(reads), np.array(reads), np.array(reads).view(np.uint8).reshape(1500, 100)]
    for each in given:
        for e in (2, "2%"):
            hits = index.map(each, e=e, best=True, threads=2)
            assert hits.columns == ["read", "contig", "position", "reverse", "edits", "mapq", "cigar"]
            assert hits["read"].tolist() == list(range(1500))
            assert hits["position"].tolist() == places
            assert set(hits["contig"]) == {"c1"} and set(hits["edits"].tolist()) == {1}
            assert hits["cigar"][0] == "50=1X49="
    again = pickle.loads(pickle.dumps(index))
    assert len(again.map([b"T" * 100], e=2)) == 0
    assert len(index.map(reads[:1], e="0%")) == 0
    assert set(index.map([reverse(reads[0].decode()).encode()], e=2)["reverse"]) == {True}
    assert len(index.map([reverse(reads[0].decode()).encode()], e=2, strand="forward")) == 0


def test_files_have_names(index: merganser.Index, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    hits = index.map(pairs[0], e=3)
    run("map", "-q", index.path, pairs[0], "-e", 3, "--eqx", "-o", tmp_path / "a.sam")
    expected = [each for each in records(tmp_path / "a.sam") if each[2] != "*"]
    assert hits["name"] == [each[0] for each in expected]
    assert hits["contig"] == [each[2] for each in expected]
    assert hits["position"].tolist() == [int(each[3]) - 1 for each in expected]
    assert hits["mapq"].tolist() == [int(each[4]) for each in expected]
    assert hits["cigar"] == [each[5] for each in expected]
    names = {name: number for number, name in enumerate(dict.fromkeys(each[0] for each in records(tmp_path / "a.sam")))}
    assert hits["read"].tolist() == [names[name] for name in hits["name"]]


def test_pairs_are_mapped_together(index: merganser.Index, pairs: tuple[Path, Path]) -> None:
    hits = index.map(pairs[0], pairs[1], e="3%", max_insert=600).to_polars()
    assert set(hits["mate"]) == {1, 2} and 7 not in hits["read"].to_list()
    by_pair = hits.group_by("read").agg(pl.len(), pl.col("concordant").all())
    concordant = by_pair.filter(pl.col("concordant"))["read"]
    assert set(concordant) == {number for number in range(104) if number % 5 and number != 7}
    reads = [[line.encode() for line in path.read_text().splitlines()[1::4]] for path in pairs]
    in_memory = index.map(reads[0], reads[1], e="3%", max_insert=600).to_polars()
    assert in_memory.equals(hits.drop("name"))
    assert len(index.map(pairs[0], pairs[1], e="3%")) == len(hits)


@pytest.mark.parametrize("end", ["sam", "bam", "cram"])
def test_written_files_are_the_programs(
    end: str, index: merganser.Index, genome: Genome, pairs: tuple[Path, Path], tmp_path: Path
) -> None:
    own, other = tmp_path / f"python.{end}", tmp_path / f"program.{end}"
    options: dict[str, Any] = {"best": True, "clip": True, "rescue": "20%", "max_insert": 1000}
    group = "@RG\\tID:{}\\tSM:s1"
    flags = ["--best", "--clip", "--rescue", "20%", "--max-insert", "1000", "-R", group]
    if end != "sam":
        options["sort"] = True
        flags.append("--sort")
    found = index.map_to(*pairs, e="5%", output=own, read_group=group, unmapped=tmp_path / "python.fq", **options)
    run(
        *("map", "-q", index.path, "-1", pairs[0], "-2", pairs[1], "-e", "5%", *flags),
        *("--reference", genome[0], "--unmapped", tmp_path / "program.fq", "-o", other),
    )
    assert found["reads"] == 208 and found["pairs"] == 104
    assert (tmp_path / "python.fq").read_bytes() == (tmp_path / "program.fq").read_bytes() != b""
    if end == "sam":
        assert without_program(own) == without_program(other)
        return
    assert own.read_bytes() == other.read_bytes()
    suffix = {"bam": "bai", "cram": "crai"}[end]
    assert Path(f"{own}.{suffix}").read_bytes() == Path(f"{other}.{suffix}").read_bytes()
    reference = genome[0] if end == "cram" else None
    with pytest.raises(merganser.InputError, match="mates by their flags.*samtools collate"):
        index.map(own, e="5%", best=True, reference=reference)
    index.map_to(pairs[0], e="5%", output=own, best=True, sort=True)
    again = index.map(own, e="5%", best=True, reference=reference).to_polars()
    rows = ["name", "contig", "position", "reverse", "edits"]
    assert again.select(rows).sort(rows).equals(index.map(pairs[0], e="5%", best=True).to_polars().select(rows).sort(rows))


def test_tags_of_reads_are_kept(index: merganser.Index, genome: Genome, tmp_path: Path) -> None:
    _, reference = genome
    read = reference[100:200]
    reads, output = tmp_path / "reads.sam", tmp_path / "a.sam"
    line = f"a\t4\t*\t0\t0\t*\t*\t0\t0\t{read}\t{'I' * 100}\tBC:Z:AC\tAS:i:3\tRG:Z:g\n"
    reads.write_text(f"@HD\tVN:1.6\n@RG\tID:g\tSM:s\n{line}")
    index.map_to(reads, e=1, output=output, tags="*")
    text = output.read_text()
    assert "@RG\tID:g\tSM:s\n" in text and text.endswith("\tBC:Z:AC\tRG:Z:g\n")


def test_indexes_are_the_programs(index: merganser.Index, genome: Genome, tmp_path: Path) -> None:
    run("index", "-q", genome[0], "-o", tmp_path / "a.mgi")
    assert Path(str(index.path)).read_bytes() == (tmp_path / "a.mgi").read_bytes()


def test_wrong_arguments_are_named(index: merganser.Index, pairs: tuple[Path, Path], tmp_path: Path) -> None:
    read = [b"ACGT" * 25]
    for options, argument in [
        ({"e": "many"}, "e"),
        ({"e": "100%"}, "e"),
        ({"e": -1}, "e"),
        ({"e": 1, "best": True, "best_strata": True}, "best"),
        ({"e": 1, "strand": "left"}, "strand"),
        ({"e": 1, "max_insert": 100}, "max_insert"),
        ({"e": 1, "rescue": 2}, "rescue"),
        ({"e": 1, "mates": read, "strand": "forward"}, "strand"),
        ({"e": 1, "mates": read, "min_insert": 900}, "min_insert"),
        ({"e": 1, "crop": 0}, "crop"),
        ({"e": 1, "n_mode": "pass"}, "n_mode"),
    ]:
        with pytest.raises(merganser.ArgumentError) as found:
            index.map(read, **options)  # type: ignore[arg-type]
        assert found.value.argument == argument, str(found.value)
    with pytest.raises(TypeError, match="e: give an int"):
        index.map(read, e=2.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="reads: a str|reads: 'ACGT' is a str"):
        index.map("ACGT", e=1)
    with pytest.raises(TypeError, match="reads: one bytes object"):
        index.map(b"ACGT", e=1)  # type: ignore[arg-type]
    for options, argument in [
        ({"output": tmp_path / "a.sam", "sort": True}, "sort"),
        ({"output": tmp_path / "a.bam", "level": 13}, "level"),
        ({"output": tmp_path / "a.sam", "xa": 3}, "xa"),
        ({"output": tmp_path / "a.sam", "index_format": "csi"}, "index_format"),
        ({"output": tmp_path / "a.sam", "read_group": "ID:a"}, "read_group"),
        ({"output": tmp_path / "a.sam", "tags": "BCX"}, "tags"),
        ({"output": tmp_path / "a.sam", "tags": "NM"}, "tags"),
        ({"output": pairs[0]}, "output"),
        ({"output": tmp_path / "a.sam", "unmapped": tmp_path / "a.sam"}, "unmapped"),
    ]:
        with pytest.raises(merganser.ArgumentError) as found:
            index.map_to(reads=pairs[0], e=1, **options)  # type: ignore[arg-type]
        assert found.value.argument == argument, str(found.value)
    with pytest.raises(merganser.FileNotFound):
        index.map(tmp_path / "none.fq", e=1)
    with pytest.raises(merganser.OutputError):
        index.map_to(read, e=1, output=tmp_path / "none" / "a.sam")
    assert pairs[0].read_text().startswith("@r0/1")


def test_malformed_reads_have_a_number(index: merganser.Index, tmp_path: Path) -> None:
    path = tmp_path / "bad.fq"
    path.write_text("@a\nACGT\n+\nIIII\n@b\nACGT\n+\nII\n")
    with pytest.raises(merganser.InputError) as found:
        index.map(path, e=1)
    assert found.value.file == str(path) and found.value.record == 2


def test_malformed_sequences_have_the_name_of_their_argument(index: merganser.Index) -> None:
    with pytest.raises(merganser.InputError) as found:
        index.map([b"ACGT" * 10, b"AC-T" * 10], e=1)
    assert str(found.value) == "reads: record 2: '-' at base 3 is no letter of DNA"
    assert found.value.argument == "reads" and found.value.file is None
    with pytest.raises(merganser.InputError) as found:
        index.map([b"ACGT" * 10] * 2, [b"ACGT" * 10], e=1)
    assert str(found.value).startswith("mates: ends after 1 records, but reads has more")
    assert found.value.argument == "mates" and found.value.file is None


def test_indexes_are_closed(genome: Genome, index: merganser.Index) -> None:
    with merganser.Index.open(str(index.path)) as opened:
        assert opened.bases == 20_000
    with pytest.raises(ValueError, match="closed"):
        opened.map([b"ACGT"], e=1)
    with pytest.raises(ValueError, match="closed"):
        with opened:
            pass
    kept = merganser.Index.build(genome[0])
    assert kept.path is None and kept.bases == 20_000
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(kept)


def test_doubts_are_warnings(index: merganser.Index, genome: Genome) -> None:
    with pytest.warns(merganser.ResultWarning, match="no reads"):
        index.map([], e=1)
    with pytest.warns(merganser.ResultWarning, match="than e allows edits"):
        index.map([b"AC"], e=5)


def test_mates_among_single_reads_are_noticed(index: merganser.Index, pairs: tuple[Path, Path]) -> None:
    with pytest.warns(merganser.ResultWarning, match="look like mates"):
        index.map(list(pairs), e=3)
