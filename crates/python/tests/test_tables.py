"""Compares tables of k-mers with the definition in plain Python."""

from __future__ import annotations

import multiprocessing
import pickle
import random
import subprocess
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import merganser

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def canonical(kmer: str) -> str:
    return min(kmer, kmer.translate(COMPLEMENT)[::-1])


def counts(reads: list[bytes], k: int) -> Counter[str]:
    texts = [read.decode() for read in reads]
    kmers = (read[at : at + k] for read in texts for at in range(len(read) - k + 1))
    return Counter(canonical(kmer) for kmer in kmers if "N" not in kmer)


def rows(table: merganser.Table) -> dict[str, int]:
    return dict(table)


def fasta(reads: list[bytes]) -> bytes:
    return b"".join(b">%d\n%s\n" % (number, read) for number, read in enumerate(reads))


def word(kmer: str) -> int:
    return int("".join(str("ACGT".index(base)) for base in kmer), 4)


@pytest.mark.parametrize("k", [7, 21, 32, 41, 70])
def test_counts_are_those_of_the_definition(reads: list[bytes], k: int) -> None:
    expected = counts(reads, k)
    table = merganser.count(reads, k, min_count=1, threads=2)
    assert rows(table) == expected
    assert list(rows(table)) == sorted(expected)
    assert (len(table), table.k, table.canonical) == (len(expected), k, True)
    kept = merganser.count(reads, k, min_count=3)
    assert rows(kept) == {kmer: count for kmer, count in expected.items() if count >= 3}


def test_files_sequences_and_arrow_are_the_same(reads: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "reads.fa"
    file.write_bytes(fasta(reads))
    texts = [read.decode() for read in reads]
    expected = rows(merganser.count(reads, 21, min_count=1))
    given: list[object] = [
        file,
        str(file),
        [file],
        reads,
        (read for read in reads),
        pl.Series(reads),
        pl.Series(texts),
        pl.DataFrame({"read": texts}),
        pd.Series(texts),
        pa.array(reads),
        pa.array(texts),
        pa.chunked_array([texts[:100], texts[100:]]),
        pa.array(texts, pa.large_string()),
        np.array(reads),
        np.array(reads).view(np.uint8).reshape(len(reads), 100),
    ]
    for one in given:
        assert rows(merganser.count(one, 21, min_count=1)) == expected, type(one)  # type: ignore[arg-type]


def test_the_table_is_the_programs(reads: list[bytes], tmp_path: Path) -> None:
    file = tmp_path / "reads.fa"
    file.write_bytes(fasta(reads))
    by_program = tmp_path / "program.mgk"
    subprocess.run(["merganser", "count", "-q", "-k", "21", "-o", by_program, file], check=True)
    merganser.count(file, 21, output=tmp_path / "python.mgk")
    assert (tmp_path / "python.mgk").read_bytes() == by_program.read_bytes()


def test_queries_take_what_there_is(reads: list[bytes]) -> None:
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
        with pytest.raises(merganser.ArgumentError, match="kmers: k-mer 1: 'ACG' has 3 letters"):
            table.query(["ACG"])
        for single in ("ACG", b"ACG"):
            with pytest.raises(TypeError, match="kmers: a single k-mer: give a list"):
                table.query(single)
        with pytest.raises(ValueError, match="the letter 'N'"):
            table.get("N" * k)
    with pytest.raises(merganser.ArgumentError, match="64 bits"):
        table.query(np.zeros(3, dtype=np.uint64))


def test_arrays_that_are_no_flat_words_are_refused(reads: list[bytes]) -> None:
    table = merganser.count(reads, 21)
    with pytest.raises(ValueError, match="ascontiguousarray"):
        table.query(np.zeros(10, dtype=np.uint64)[::2])
    with pytest.raises(ValueError, match="one dimension"):
        table.query(np.zeros((2, 2), dtype=np.uint64))
    with pytest.raises(TypeError, match="dtype f8"):
        table.query(np.zeros(3))


def test_batches_are_arrows_and_numpys(reads: list[bytes]) -> None:
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


def test_operations_are_those_of_sets(reads: list[bytes]) -> None:
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
    with pytest.raises(merganser.ArgumentError, match="others: a table of canonical 17-mers: this table has canonical 15"):
        a | merganser.count(reads, 17)
    with pytest.raises(merganser.ArgumentError, match="other: a table of forward 15-mers") as caught:
        a.jaccard(merganser.count(reads, 15, forward_only=True))
    assert caught.value.argument == "other"


def test_histograms_and_spectra(reads: list[bytes]) -> None:
    table = merganser.count(reads, 21, min_count=1)
    histogram = table.histogram()
    expected = Counter(counts(reads, 21).values())
    assert dict(zip(histogram["count"].tolist(), histogram["kmers"].tolist())) == expected
    with pytest.warns(merganser.ResultWarning, match="where the model has none"):
        spectrum = table.spectrum(ploidy=1)
    assert spectrum.genome_size == pytest.approx(3000, rel=0.1)
    assert spectrum.svg().startswith("<svg") and spectrum.to_dict()["ploidy"] == 1
    html = spectrum._repr_html_()
    assert "<svg" in html and "<th>genome_size</th>" in html and "<th>doubt</th>" in html


def test_tables_are_saved_opened_and_pickled(reads: list[bytes], tmp_path: Path) -> None:
    table = merganser.count(reads, 21, min_count=1)
    with pytest.raises(TypeError, match="save it"):
        pickle.dumps(table)
    for name in ("t.mgk", "t.tsv", "t.tsv.gz", "t.kff", "t.jf", "t.fasta"):
        table.save(tmp_path / name)
        assert rows(merganser.Table.open(tmp_path / name)) == rows(table), name
    table.save(tmp_path / "kmc", format="kmc")
    opened = merganser.Table.open(tmp_path / "t.mgk")
    assert rows(pickle.loads(pickle.dumps(opened))) == rows(table)
    assert opened.path == tmp_path / "t.mgk"


def test_temporary_tables_go_with_their_objects(reads: list[bytes], tmp_path: Path) -> None:
    table = merganser.count(reads, 21, tmp_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    del table
    assert list(tmp_path.iterdir()) == []


def size_of(path: str) -> int:
    table = merganser.Table.open(path)
    return len(table) + int(table.query(["A" * 21])[0])


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_work(reads: list[bytes], tmp_path: Path, method: str) -> None:
    table = merganser.count(reads, 21, output=tmp_path / "t.mgk")
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(size_of, [str(tmp_path / "t.mgk")] * 4) == [len(table)] * 4


def test_threads_share_a_table(reads: list[bytes]) -> None:
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


def test_progress_is_told_and_ends_what_it_dislikes(data: Path, tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    reads = data / "ERR1438863_1.fastq.gz"
    merganser.count(reads, 21, progress=lambda *event: told.append(event))
    assert told and told[0][0]

    def refuse(*event: object) -> None:
        raise RuntimeError("enough")

    many = (b"ACGTTGCA" * 25 for _ in range(300_000))
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
    merganser.count(((b"ACGT" * 50) for _ in range(300_000)), 31, progress=interrupt, output={str(tmp_path / "t.mgk")!r},
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
table = merganser.count([b"ACGTTA", b"CGTTAC"], 5, min_count=1)
assert table.query(["CGTTA", "AAAAA"]).tolist() == [2, 0]
assert list(table.histogram()["kmers"]) == [2, 1]
assert list(merganser.filter([b"ACGT"], [b"ACGA"], 1)) == [1]
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_iteration_agrees_with_look_up(reads: list[bytes]) -> None:
    table = merganser.count(reads, 21, min_count=1)
    pairs = list(table)
    assert len(pairs) == len(table) and dict(table) == counts(reads, 21)
    assert all(kmer in table and table[kmer] == count for kmer, count in pairs[:50])
    assert pairs[0].kmer == pairs[0][0] and pairs[0].count == pairs[0][1]
    assert pairs[0] in table and (pairs[0].kmer, pairs[0].count + 1) not in table
    assert table.get("A" * 21, None) is None


def test_tables_are_equal_by_content(reads: list[bytes], tmp_path: Path) -> None:
    table = merganser.count(reads, 21, min_count=1)
    table.save(tmp_path / "t.tsv")
    assert table == merganser.Table.open(tmp_path / "t.tsv")
    assert table == merganser.count(list(reversed(reads)), 21, min_count=1)
    for other in (
        merganser.count(reads, 21),
        merganser.count(reads, 22, min_count=1),
        merganser.count(reads, 21, min_count=1, forward_only=True),
        merganser.count(reads[1:], 21, min_count=1),
        len(table),
    ):
        assert table != other
    assert merganser.count([b"ACGTT"], 5, min_count=1) != merganser.count([b"ACGTA"], 5, min_count=1)


def test_closed_tables_are_gone(reads: list[bytes], tmp_path: Path) -> None:
    with merganser.count(reads, 21, tmp_dir=tmp_path) as table:
        assert len(list(tmp_path.iterdir())) == 1
        table.get("A" * 21)
    assert list(tmp_path.iterdir()) == []
    assert repr(table) == "<merganser.Table, closed>"
    uses: list[Callable[[], object]] = [
        lambda: len(table),
        lambda: table["A" * 21],
        lambda: list(table),
        lambda: table.k,
        lambda: table.histogram(),
        lambda: table | table,
        lambda: table.save(tmp_path / "t.mgk"),
        lambda: pl.DataFrame(table),
        lambda: table.__enter__(),
    ]
    for use in uses:
        with pytest.raises(ValueError, match="the table is closed"):
            use()
    kept = merganser.count(reads, 21, output=tmp_path / "t.mgk")
    kept.close()
    kept.close()
    assert (tmp_path / "t.mgk").exists()


def test_outputs_are_mgk(reads: list[bytes], tmp_path: Path) -> None:
    with pytest.raises(merganser.ArgumentError, match="output: .*t.tsv: the table is an .mgk file"):
        merganser.count(reads, 21, output=tmp_path / "t.tsv")
    table = merganser.count(reads, 21, output=tmp_path / "t.mgk")
    assert table.reduce(3, output=tmp_path / "r.mgk").path == tmp_path / "r.mgk"
    for name in ("t.txt", "t", "t.mgk.gz"):
        with pytest.raises(merganser.ArgumentError, match="output: .*the table is an .mgk file"):
            table.reduce(3, output=tmp_path / name)


@pytest.mark.parametrize("name", ["t.txt", "t", "t.parquet", "t.csv", "t.mgk.gz", "t.jf.gz"])
def test_the_name_of_a_saved_table_tells_its_format(reads: list[bytes], tmp_path: Path, name: str) -> None:
    table = merganser.count(reads, 21)
    with pytest.raises(merganser.ArgumentError, match="path: .*: give .mgk, .kff, .jf, .tsv, .tsv.gz, .fa or .fasta, or format") as caught:
        table.save(tmp_path / name)
    assert caught.value.argument == "path" and not (tmp_path / name).exists()
    table.save(tmp_path / name, "tsv")
    assert merganser.Table.open(tmp_path / name) == table
    with pytest.raises(merganser.ArgumentError, match="format: 'parquet' is unknown: give mgk"):
        table.save(tmp_path / "t.tsv", "parquet")  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::merganser.ResultWarning")
def test_empty_tables_are_not_saved_as_text(tmp_path: Path) -> None:
    table = merganser.count([b"ACGT"], 7, min_count=1)
    for name in ("t.tsv", "t.fa", "t.tsv.gz"):
        with pytest.raises(merganser.ArgumentError, match="path: .*the table is empty, and its k would be lost in text"):
            table.save(tmp_path / name)
    for name, format in (("t.mgk", None), ("t.kff", None), ("t.jf", None), ("t", "kmc")):
        table.save(tmp_path / name, format)  # type: ignore[arg-type]
        assert merganser.Table.open(tmp_path / name) == table, name


def test_doubts_of_spectra_are_warnings() -> None:
    numbers = random.Random(1)
    genome = "".join(numbers.choice("ACGT") for _ in range(2000))
    few = [genome[at : at + 100].encode() for at in range(0, 1900, 9)]
    table = merganser.count(few, 21, min_count=1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            doubts = table.spectrum(ploidy=1).doubts
        except merganser.InputError as error:
            assert "no model" in str(error)
        else:
            assert [str(one.message) for one in told] == doubts
            assert all(one.category is merganser.ResultWarning for one in told)
    wrong: list[dict[str, Any]] = [
        {"ploidy": 9},
        {"ploidy": -1},
        {"topology": 3},
        {"coverage": 0.5},
        {"max_count": 19},
        {"exclude_above": 3},
    ]
    for given in wrong:
        with pytest.raises(merganser.ArgumentError) as caught:
            table.spectrum(**given)
        assert caught.value.argument in given


def test_doubts_are_warnings(tmp_path: Path) -> None:
    empty = tmp_path / "empty.fa"
    empty.write_bytes(b"")
    with pytest.warns(merganser.ResultWarning, match="no k-mers: the input has no records"):
        merganser.count(empty, k=5)
    with pytest.warns(merganser.ResultWarning, match="; min_count 1 keeps all"):
        merganser.count([b"ACGTTA"], k=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merganser.count([b"ACGTTA"], k=5, min_count=1)
        with pytest.raises(merganser.ResultWarning):
            merganser.count([b"ACGTTA"], k=5)


def test_tables_do_not_depend_on_resources(reads: list[bytes], tmp_path: Path) -> None:
    expected = merganser.count(reads, 21, output=tmp_path / "a.mgk")
    options: list[dict[str, Any]] = [{"storage": "ram", "bins": 4}, {"storage": "disk", "bins": 64}, {"threads": 3}]
    for given in options:
        table = merganser.count(reads, 21, memory="300M", output=tmp_path / "b.mgk", **given)
        assert table == expected
        assert (tmp_path / "a.mgk").read_bytes() == (tmp_path / "b.mgk").read_bytes()
    with pytest.raises(merganser.ArgumentError, match="storage: 'tape' is not one of auto, ram, disk"):
        merganser.count(reads, 21, storage="tape")  # type: ignore[arg-type]
    with pytest.raises(merganser.ArgumentError, match="bins") as caught:
        merganser.count(reads, 21, bins=0)
    assert caught.value.argument == "bins"
