"""Compares the filter of pairs with the edit distance in plain Python."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import merganser


def distance(one: bytes, other: bytes) -> int:
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        before, row[0] = row[0], at
        for column, base in enumerate(other, 1):
            before, row[column] = row[column], min(before + (letter != base), row[column] + 1, row[column - 1] + 1)
    return row[-1]


@pytest.fixture(scope="module")
def pairs() -> tuple[list[bytes], list[bytes]]:
    numbers = random.Random(3)
    reads, segments = [], []
    for _ in range(300):
        read = "".join(numbers.choice("ACGT") for _ in range(50))
        segment = list(read)
        for _ in range(numbers.randrange(9)):
            segment[numbers.randrange(50)] = numbers.choice("ACGT")
        reads.append(read.encode())
        segments.append("".join(segment).encode())
    return reads, segments


def test_pairs_are_decided_by_their_distance(pairs: tuple[list[bytes], list[bytes]]) -> None:
    reads, segments = pairs
    distances = [distance(one, other) for one, other in zip(reads, segments)]
    expected = [edits if edits <= 4 else merganser.REJECTED for edits in distances]
    arrays = [np.array(all) for all in pairs]
    matrices = [array.view(np.uint8).reshape(300, 50) for array in arrays]
    texts = [[one.decode() for one in all] for all in pairs]
    given: list[tuple[Any, Any]] = [
        (reads, segments),
        (iter(reads), tuple(segments)),
        (pl.Series(texts[0]), pa.array(texts[1])),
        (pl.Series(reads), pa.array(segments)),
        (arrays[0], arrays[1]),
        (matrices[0], matrices[1]),
    ]
    for one, other in given:
        found = merganser.filter(one, other, 4, threads=2)
        assert found.dtype == np.int32 and found.tolist() == expected, type(one)
    snake = merganser.filter(reads, segments, 4, method="snake")
    assert all(edits == -1 or guess != -1 for edits, guess in zip(expected, snake.tolist()))


def test_edits_may_be_per_cent(pairs: tuple[list[bytes], list[bytes]]) -> None:
    reads, segments = pairs
    for percent, edits in (("4%", 2), ("9%", 4), ("0%", 0), ("3", 3)):
        found = merganser.filter(reads, segments, percent)
        assert found.tolist() == merganser.filter(reads, segments, edits).tolist()
    for wrong in ("4.5", "x%", "-1", "", -1):
        with pytest.raises(merganser.ArgumentError, match="e: ") as caught:
            merganser.filter(reads, segments, wrong)
        assert caught.value.argument == "e"
    with pytest.raises(TypeError, match="e: "):
        merganser.filter(reads, segments, 2.5)  # type: ignore[arg-type]


def test_passed_pairs_are_undefined() -> None:
    found = merganser.filter([b"ACGTN"], [b"ACGTA"], 1, n_mode="pass")
    assert found.tolist() == [merganser.UNDEFINED] == [-2]
    assert merganser.filter([b"ACGTN"], [b"ACGTA"], 1).tolist() == [1]
    assert merganser.filter([], [], 1).tolist() == []


def test_other_pairs_are_refused() -> None:
    with pytest.raises(merganser.ArgumentError, match="segments: 2 for 1 read: give one per read"):
        merganser.filter([b"ACGT"], [b"ACGT", b"ACGT"], 1)
    with pytest.raises(merganser.InputError, match="pair 2: '!' at base 3") as caught:
        merganser.filter([b"ACGT", b"AC!T"], [b"ACGT", b"ACGT"], 1)
    assert caught.value.record == 2
    with pytest.raises(merganser.ArgumentError, match="method: ") as other:
        merganser.filter([b"ACGT"], [b"ACGT"], 1, method="guess")  # type: ignore[arg-type]
    assert other.value.argument == "method"
    with pytest.raises(TypeError, match="reads: a str is not a list"):
        merganser.filter("ACGT", [b"ACGT"], 1)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="segments: a str is not a sequence"):
        merganser.filter([b"ACGT"], ["ACGT"], 1)  # type: ignore[list-item]


def test_progress_may_end_a_run(pairs: tuple[list[bytes], list[bytes]]) -> None:
    told: list[tuple[str, int, int | None]] = []
    merganser.filter(*pairs, 4, progress=lambda *event: told.append(event))
    assert told[-1][1:] == (300, 300)

    def refuse(*event: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        merganser.filter(*pairs, 4, progress=refuse)
