"""Tests of k-mers as integers."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
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
