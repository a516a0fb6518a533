"""Tests of what is taken for a file and for a sequence."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import merganser


@pytest.mark.parametrize(
    ("reads", "message"),
    [
        ("ACGTTA", "reads: 'ACGTTA' is a str, which names a file, and there is no such file: give sequences as bytes, b\"ACGTTA\""),
        (["ACGTTA"], "reads: 'ACGTTA' is a str, which names a file"),
        (b"ACGTTA", 'reads: one bytes object: give a list of sequences, \\[b"ACGT"\\]'),
        (bytearray(b"ACGTTA"), "reads: one bytearray object"),
        ([b"ACGTTA", "ACGTTA"], "reads: item 2 is not of the kind of the first: give either files or sequences"),
        ([1, 2], "reads: a sequence must be bytes, not int"),
        (3, "reads: int is not an iterable of sequences"),
        (None, "reads: NoneType is not"),
        (io.StringIO("x"), "reads: a file object: give the name of the file"),
        (np.array(["ACGT"]), r"reads: a NumPy array of dtype U4 with 1 dimension: give its .astype\(\"S\"\)"),
        (np.zeros(5, dtype=np.uint8), "reads: a NumPy array of dtype u1 with 1 dimension: give"),
        (pl.DataFrame({"a": ["ACGT"], "b": ["ACGT"]}), "reads: the data have 2 columns: give one column"),
        (pl.Series([1, 2]), "reads: an array of Int64: give strings or bytes"),
    ],
)
def test_other_things_than_sequences_are_refused(reads: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        merganser.count(reads, 5)


def test_long_texts_are_shortened() -> None:
    with pytest.raises(TypeError, match="'ACGTACGTACGTACGTACGT…' is a str"):
        merganser.count("ACGT" * 100, 5)


def test_a_file_among_sequences_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.fa"
    file.write_text(">a\nACGTT\n")
    for mixed in ([file, b"ACGT"], [b"ACGT", file]):
        with pytest.raises(TypeError, match="item 2"):
            merganser.count(mixed, 5)  # type: ignore[arg-type]


def test_a_file_may_have_a_name_of_bases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ACGT").write_text(">a\nACGTT\n")
    assert dict(merganser.count("ACGT", 5, min_count=1)) == {"AACGT": 1}
    Path("other.fa").write_text(">b\nACGTT\n")
    both: list[str | Path] = ["ACGT", Path("other.fa")]
    assert dict(merganser.count(both, 5, min_count=1)) == {"AACGT": 2}
    Path("list.txt").write_text("ACGT\n")
    assert dict(merganser.count("@list.txt", 5, min_count=1)) == {"AACGT": 1}


@pytest.mark.parametrize("letters", [b"AC>GT", b"AC\nGT", b"AC\x00GT", b">ACGT"])
def test_other_bytes_than_letters_are_refused(letters: bytes) -> None:
    with pytest.raises(merganser.ArgumentError, match="reads: sequence 2: '.*' is not a letter") as caught:
        merganser.count([b"ACGTT", letters], 5)
    assert caught.value.argument == "reads"


def test_sequences_may_be_empty() -> None:
    assert dict(merganser.count([b"", b"ACGTT", b""], 5, min_count=1)) == {"AACGT": 1}
    assert dict(merganser.count(np.array([b"", b"ACGTT"]), 5, min_count=1)) == {"AACGT": 1}
    assert dict(merganser.count(pl.Series([None, "ACGTT"]), 5, min_count=1)) == {"AACGT": 1}


def test_errors_of_an_iterable_are_passed_on() -> None:
    def broken() -> Any:
        yield b"ACGTT"
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        merganser.count(broken(), 5)
