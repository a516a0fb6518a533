"""Compares tables of k-mers with the definition in plain Python."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import merganser

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def canonical(kmer: str) -> str:
    return min(kmer, kmer.translate(COMPLEMENT)[::-1])


def counts(reads: list[str], k: int) -> Counter[str]:
    kmers = (read[at : at + k] for read in reads for at in range(len(read) - k + 1))
    return Counter(canonical(kmer) for kmer in kmers if "N" not in kmer)


def rows(table: merganser.Table) -> dict[str, int]:
    return {kmer: count for batch in table for kmer, count in zip(batch["kmer"], batch["count"].tolist())}


def word(kmer: str) -> int:
    return int("".join(str("ACGT".index(base)) for base in kmer), 4)


@pytest.mark.parametrize("k", [7, 21, 32, 41, 70])
def test_counts_are_those_of_the_definition(reads: list[str], k: int) -> None:
    expected = counts(reads, k)
    table = merganser.count(reads, k, min_count=1, threads=2)
    assert rows(table) == expected
    assert list(rows(table)) == sorted(expected)
    assert (len(table), table.k, table.canonical) == (len(expected), k, True)
    kept = merganser.count(reads, k, min_count=3)
    assert rows(kept) == {kmer: count for kmer, count in expected.items() if count >= 3}


def test_files_sequences_and_arrow_are_the_same(reads: list[str], tmp_path: Path) -> None:
    file = tmp_path / "reads.fa"
    file.write_text("".join(f">{number}\n{read}\n" for number, read in enumerate(reads)))
    expected = rows(merganser.count(reads, 21, min_count=1))
    given: list[object] = [
        file,
        str(file),
        [file],
        (read.encode() for read in reads),
        pl.Series(reads),
        pl.DataFrame({"read": reads}),
        pa.array(reads),
        pa.chunked_array([reads[:100], reads[100:]]),
        pa.array(reads, pa.large_string()),
        pa.array([read.encode() for read in reads]),
    ]
    for one in given:
        assert rows(merganser.count(one, 21, min_count=1)) == expected, type(one)  # type: ignore[arg-type]


def test_the_table_is_the_programs(reads: list[str], tmp_path: Path) -> None:
    file = tmp_path / "reads.fa"
    file.write_text("".join(f">{number}\n{read}\n" for number, read in enumerate(reads)))
    by_program = tmp_path / "program.mgk"
    subprocess.run(["merganser", "count", "-q", "-k", "21", "-o", by_program, file], check=True)
    merganser.count(file, 21, output=tmp_path / "python.mgk")
    assert (tmp_path / "python.mgk").read_bytes() == by_program.read_bytes()


def test_queries_take_what_there_is(reads: list[str]) -> None:
    for k in (11, 32, 41):
        expected = counts(reads, k)
        table = merganser.count(reads, k, min_count=1)
        kmers = [*expected, "A" * k, "ACGT" * (k // 4) + "C" * (k % 4)]
        answers = [expected.get(canonical(kmer), 0) for kmer in kmers]
        assert table.query(kmers).tolist() == answers
        assert table.query(pl.Series(kmers), threads=3).tolist() == answers
        assert table.query(kmer.encode() for kmer in kmers).tolist() == answers
        assert [table.get(kmer) for kmer in kmers] == answers
        if k <= 32:
            words = np.array([word(kmer) for kmer in kmers], dtype=np.uint64)
            assert table.query(words).tolist() == answers
            # Words of more than k bases.
            if k < 32:
                assert table.query(words + np.uint64(4**k)).tolist() == [0] * len(words)
        one = next(iter(expected))
        assert one in table and one.lower() in table and table[one.encode()] == expected[one]
        assert one.translate(COMPLEMENT)[::-1] in table
        with pytest.raises(KeyError):
            table["A" * k]
        with pytest.raises(ValueError, match="letters"):
            table.query(["ACG"])
        with pytest.raises(ValueError, match="the letter 'N'"):
            table.get("N" * k)
    with pytest.raises(merganser.ConfigError, match="64 bits"):
        table.query(np.zeros(3, dtype=np.uint64))


def test_arrays_that_are_no_flat_words_are_refused(reads: list[str]) -> None:
    table = merganser.count(reads, 21)
    with pytest.raises(ValueError, match="ascontiguousarray"):
        table.query(np.zeros(10, dtype=np.uint64)[::2])
    with pytest.raises(ValueError, match="one dimension"):
        table.query(np.zeros((2, 2), dtype=np.uint64))
    with pytest.raises(TypeError):
        table.query(np.zeros(3, dtype=np.int32))


def test_batches_are_arrows_and_numpys(reads: list[str]) -> None:
    table = merganser.count(reads, 21, min_count=1)
    expected = counts(reads, 21)
    frame = pl.DataFrame(table)
    assert dict(zip(frame["kmer"], frame["count"])) == expected
    assert pa.table(table).num_rows == len(expected)
    batches = list(table.batches(size=100, kmers="int"))
    assert {len(batch) for batch in batches[:-1]} == {100}
    words = np.concatenate([batch["kmer"] for batch in batches])
    assert words.dtype == np.uint64 and words.tolist() == [word(kmer) for kmer in sorted(expected)]
    assert not batches[0]["kmer"].flags.writeable
    batch = batches[0]
    del batches
    assert pa.record_batch(batch).column_names == ["kmer", "count"]
    with pytest.raises(KeyError):
        batch["none"]
    wide = next(iter(merganser.count(reads, 41, min_count=1).batches(kmers="int")))
    both = [int(high) << 64 | int(low) for high, low in zip(wide["kmer_high"], wide["kmer_low"])]
    assert both == [word(kmer) for kmer in sorted(counts(reads, 41))]
    # The other batches are not consumed.
    del wide


def test_operations_are_those_of_sets(reads: list[str]) -> None:
    one, other = counts(reads[:250], 15), counts(reads[150:], 15)
    a = merganser.count(reads[:250], 15, min_count=1)
    b = merganser.count(reads[150:], 15, min_count=1)
    assert rows(a | b) == one + other
    assert rows(a & b) == one & other
    assert rows(a - b) == {kmer: count for kmer, count in one.items() if kmer not in other}
    assert rows(a.union(b, counts="max")) == one | other
    assert rows(a.reduce(2, 5)) == {kmer: count for kmer, count in one.items() if 2 <= count <= 5}
    shared = len(one.keys() & other.keys())
    assert a.jaccard(b) == pytest.approx(shared / len(one.keys() | other.keys()))
    with pytest.raises(merganser.Error, match="its k is"):
        a | merganser.count(reads, 17)


def test_histograms_and_spectra(reads: list[str]) -> None:
    table = merganser.count(reads, 21, min_count=1)
    histogram = table.histogram()
    expected = Counter(counts(reads, 21).values())
    assert dict(zip(histogram["count"].tolist(), histogram["kmers"].tolist())) == expected
    spectrum = table.spectrum(ploidy=1)
    assert spectrum.genome_size == pytest.approx(3000, rel=0.1)
    assert spectrum.svg().startswith("<svg") and spectrum.to_dict()["ploidy"] == 1


def test_tables_are_saved_opened_and_pickled(reads: list[str], tmp_path: Path) -> None:
    table = merganser.count(reads, 21, min_count=1)
    with pytest.raises(TypeError, match="save it"):
        pickle.dumps(table)
    for name in ("t.mgk", "t.tsv", "t.tsv.gz", "t.kff", "t.fasta"):
        table.save(tmp_path / name)
        assert rows(merganser.Table.open(tmp_path / name)) == rows(table), name
    table.save(tmp_path / "kmc", format="kmc")
    opened = merganser.Table.open(tmp_path / "t.mgk")
    assert rows(pickle.loads(pickle.dumps(opened))) == rows(table)
    assert opened.path == tmp_path / "t.mgk"


def test_temporary_tables_go_with_their_objects(reads: list[str], tmp_path: Path) -> None:
    table = merganser.count(reads, 21, tmp_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    del table
    assert list(tmp_path.iterdir()) == []


def size_of(path: str) -> int:
    table = merganser.Table.open(path)
    return len(table) + int(table.query(["A" * 21])[0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_work(reads: list[str], tmp_path: Path, method: str) -> None:
    table = merganser.count(reads, 21, output=tmp_path / "t.mgk")
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(size_of, [str(tmp_path / "t.mgk")] * 4) == [len(table)] * 4


def test_threads_share_a_table(reads: list[str]) -> None:
    table = merganser.count(reads, 21, min_count=1)
    expected = counts(reads, 21)
    found: list[list[int]] = []
    work = lambda: found.append(table.query(list(expected), threads=1).tolist())  # noqa: E731
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [list(expected.values())] * 4


def test_errors_say_where(tmp_path: Path) -> None:
    bad = tmp_path / "bad.fq"
    bad.write_text("@a\nACGT\n+\nIIII\n@b\nACGT\n+\nIII\n")
    with pytest.raises(merganser.InputError) as caught:
        merganser.count(bad, 3)
    assert (caught.value.file, caught.value.record) == (str(bad), 2)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.record) == (str(caught.value), 2)
    with pytest.raises(OSError, match="no such file"):
        merganser.count(tmp_path / "none.fq", 21)
    with pytest.raises(ValueError, match="k 200 is out of range"):
        merganser.count(["ACGT"], 200)
    with pytest.raises(merganser.ConfigError, match="device"):
        merganser.count(["ACGT"], 3, device="tpu")
    with pytest.raises(merganser.ConfigError, match="memory"):
        merganser.count(["ACGT"], 3, memory="much")
    with pytest.raises(TypeError, match="str"):
        merganser.count([1, 2], 3)  # type: ignore[arg-type]
    with pytest.raises(merganser.InputError):
        merganser.Table.open(bad)
    with pytest.raises(merganser.InputError):
        merganser.count(["ACGTACGT"], 3, output=tmp_path / "none" / "t.mgk")


def test_progress_is_told_and_ends_what_it_dislikes(data: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    reads = data / "ERR1438863_1.fastq.gz"
    merganser.count(reads, 21, progress=lambda *event: told.append(event))
    assert told and told[0][0]

    def refuse(*event: object) -> None:
        raise RuntimeError("enough")

    many = ("ACGTTGCA" * 25 for _ in range(300_000))
    with pytest.raises(RuntimeError, match="enough"):
        merganser.count(many, 31, progress=refuse, output=tmp_path / "t.mgk", threads=1)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_a_run(tmp_path: Path) -> None:
    script = f"""
import merganser, os, signal, sys
sent = []
def interrupt(*event):
    if not sent:
        sent.append(os.kill(os.getpid(), signal.SIGINT))
try:
    merganser.count((("ACGT" * 50) for _ in range(300_000)), 31, progress=interrupt, output={str(tmp_path / "t.mgk")!r},
                    threads=1)
except KeyboardInterrupt:
    sys.exit(7)
"""
    assert subprocess.run([sys.executable, "-c", script]).returncode == 7
    assert list(tmp_path.iterdir()) == []


def test_all_works_without_numpy() -> None:
    script = """
import sys
sys.modules["numpy"] = None
import merganser
table = merganser.count(["ACGTTA", "CGTTAC"], 5, min_count=1)
assert table.query(["CGTTA", "AAAAA"]).tolist() == [2, 0]
assert list(table.histogram()["kmers"]) == [2, 1]
assert list(merganser.filter(["ACGT"], ["ACGA"], 1)) == [1]
"""
    subprocess.run([sys.executable, "-c", script], check=True)
