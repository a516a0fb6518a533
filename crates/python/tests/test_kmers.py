"""Tests of k-mers as integers."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import merganser

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def word(kmer: str) -> int:
    return int("".join(str("ACGT".index(base)) for base in kmer), 4)


@pytest.mark.parametrize("k", [1, 7, 16, 17, 31, 32])
def test_words_are_those_of_the_definition(k: int) -> None:
    numbers = random.Random(k)
    kmers = ["".join(numbers.choice("ACGT") for _ in range(k)) for _ in range(500)]
    words = [word(kmer) for kmer in kmers]
    given: list[Any] = [
        kmers,
        [kmer.encode() for kmer in kmers],
        pl.Series(kmers),
        pa.array(kmers),
        np.array([kmer.encode() for kmer in kmers]),
        (kmer.lower().replace("t", "u") for kmer in kmers),
    ]
    for one in given:
        found = merganser.encode_kmers(one)
        assert found.dtype == np.uint64 and found.tolist() == words, type(one)
    found = merganser.encode_kmers(kmers, canonical=True)
    smaller = [min(kmer, kmer.translate(COMPLEMENT)[::-1]) for kmer in kmers]
    assert found.tolist() == [word(kmer) for kmer in smaller]
    decoded = merganser.decode_kmers(np.array(words, dtype=np.uint64), k)
    assert decoded.tolist() == kmers == list(decoded) == pl.Series(decoded).to_list()
    assert merganser.decode_kmers(words, k).tolist() == pa.array(decoded).to_pylist() == kmers


def test_words_are_those_of_tables(reads: list[bytes]) -> None:
    table = merganser.count(reads, 21, min_count=1)
    words = merganser.encode_kmers(table.to_polars()["kmer"])
    rows = table.batches(kmers="int", size=len(table)).read_all()
    assert (words == rows["kmer"]).all()
    assert (table.query(words) == rows["count"]).all()
    assert merganser.decode_kmers(rows["kmer"], 21).tolist() == [kmer for kmer, _ in table]


@pytest.mark.parametrize(
    ("kmers", "message"),
    [
        (["ACG", "AC"], "kmers: k-mer 2: 'AC' has 2 letters: expected k-mers of 3"),
        (["ACN"], "kmers: k-mer 1: it has the letter 'N'"),
        (["A" * 33], "kmers: k is 33"),
        ([""], "kmers: k-mer 1: '' has 0 letters"),
    ],
)
def test_other_texts_are_refused(kmers: list[str], message: str) -> None:
    with pytest.raises(merganser.ArgumentError, match=message) as caught:
        merganser.encode_kmers(kmers)
    assert caught.value.argument == "kmers"


def test_wrong_types_are_refused() -> None:
    for given in ("ACGT", b"ACGT", [1], 3):
        with pytest.raises(TypeError):
            merganser.encode_kmers(given)  # type: ignore[arg-type]
    with pytest.raises(merganser.ArgumentError, match="k: 33 is out of range: give 1 to 32"):
        merganser.decode_kmers([1], 33)
    with pytest.raises(merganser.ArgumentError, match="kmers: k-mer 2: 16 has more than 2 bases"):
        merganser.decode_kmers([1, 16], 2)
    assert merganser.encode_kmers([]).tolist() == [] and merganser.decode_kmers([], 3).tolist() == []
    for number in (-1, 2**64):
        with pytest.raises(merganser.ArgumentError, match=f"kmers: {number} is not an integer of 64 bits"):
            merganser.decode_kmers([number], 32)
    with pytest.raises(TypeError, match="kmers: ACGT is not an int"):
        merganser.decode_kmers(["ACGT"], 4)  # type: ignore[list-item]


@pytest.mark.parametrize("kind", ["uint64", "int64", "uint32", "int32"])
def test_integers_of_all_types_are_taken(reads: list[bytes], kind: str) -> None:
    table = merganser.count(reads, 11, min_count=1)
    kmers = list(dict(table))[:100]
    words = merganser.encode_kmers(kmers)
    counts = [table[kmer] for kmer in kmers]
    given: list[Any] = [
        words.astype(kind),
        pl.Series(words.astype(kind)),
        pa.array(words.astype(kind)),
        pd.Series(words.astype(kind)),
        words.tolist(),
        tuple(words.tolist()),
    ]
    for one in given:
        assert table.query(one).tolist() == counts, type(one)
        assert merganser.decode_kmers(one, 11).tolist() == kmers, type(one)


def test_negative_and_missing_integers_are_refused(reads: list[bytes]) -> None:
    table = merganser.count(reads, 11)
    for given in (np.array([3, -1]), pl.Series([3, -1]), pl.Series([3, None]), [3, -1]):
        for use in (table.query, lambda kmers: merganser.decode_kmers(kmers, 11)):
            with pytest.raises(merganser.ArgumentError, match="kmers: ") as caught:
                use(given)
            assert caught.value.argument == "kmers"


def test_kmers_may_be_numpys_texts(reads: list[bytes]) -> None:
    table = merganser.count(reads, 11, min_count=1)
    kmers = np.array(list(dict(table))[:50])
    assert kmers.dtype.kind == "U"
    assert table.query(kmers).tolist() == [table[str(kmer)] for kmer in kmers]
    assert (merganser.encode_kmers(kmers) == merganser.encode_kmers(kmers.astype("S"))).all()
    with pytest.raises(merganser.ArgumentError, match="not ASCII"):
        table.query(np.array(["ACGTACGTAC\u00c4"]))


def test_columns_of_text_are_sequences() -> None:
    kmers = ["ACGT", "CCCC", "TTTT", "GGGG"]
    column = merganser.decode_kmers(merganser.encode_kmers(kmers), 4)
    assert column[0] == "ACGT" and column[-1] == "GGGG" and len(column[1:]) == 3
    for part in (slice(1, 3), slice(None, None, -1), slice(None, None, 2), slice(3, 1)):
        assert column[part].tolist() == kmers[part] == list(column[part])
    for array in (np.array(column), np.asarray(column)):
        assert array.dtype == object and array.tolist() == kmers
    for at in (4, -5):
        with pytest.raises(IndexError, match="the column has 4 values"):
            column[at]
    with pytest.raises(TypeError):
        column["a"]  # type: ignore[call-overload]


def test_lists_are_for_queries(reads: list[bytes]) -> None:
    table = merganser.count(reads, 11)
    for use in (table.get, table.__getitem__, table.__contains__):
        with pytest.raises(TypeError, match="kmer: a k-mer must be str or bytes, not list: use query for several"):
            use(["ACGTACGTACG"])  # type: ignore[arg-type]


def test_rows_of_one_column_are_kmers() -> None:
    table = merganser.count([b"ACGTT"], 5, min_count=1)
    frame = pa.table({"kmer": ["AACGT", "ACGTT"]})
    assert table.query(frame).tolist() == [1, 1]
    with pytest.raises(TypeError, match="the data have 2 columns: give one column"):
        table.query(table)


def test_only_the_k_mers_of_a_panel_are_counted(tmp_path: Path) -> None:
    reads = [b"ACGTTACCA", b"CGTTACGGA", b"TTTTTTTT"]
    everything = merganser.count(reads, k=5, min_count=1)
    panel = tmp_path / "panel.tsv"
    panel.write_text("AAAAA\t7\nAACGT\t1\nCCCCC\t3\n")
    counted = merganser.count(reads, k=5, panel=panel)
    assert {row[0]: row[1] for row in counted} == {kmer: everything[kmer] for kmer in ("AAAAA", "AACGT")}
    sequences = tmp_path / "panel.fa"
    sequences.write_text(">a\nAAAAACGTNCCCCC\n")
    assert len(merganser.count(reads, k=5, panel=sequences)) > 0
    with pytest.raises(merganser.ArgumentError, match="have 5 bases"):
        merganser.count(reads, k=6, panel=panel)
