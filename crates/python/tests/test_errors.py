"""Tests of exceptions: one class per cause, with the argument, the file and the record."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import merganser


def again(error: BaseException) -> Any:
    """Returns a pickled and unpickled copy of an exception."""
    return pickle.loads(pickle.dumps(error))


@pytest.mark.parametrize(
    ("arguments", "argument", "message"),
    [
        ({"k": 200}, "k", "k 200 is out of range"),
        ({"device": "tpu"}, "device", "device"),
        ({"memory": "much"}, "memory", "memory"),
        ({"threads": 0}, "threads", "threads"),
        ({"threads": -1}, "threads", "threads: -1 is out of range"),
        ({"k": -1}, "k", "k: -1 is out of range"),
        ({"k": 2**70}, "k", "k"),
        ({"min_count": -(2**70)}, "min_count", "min_count: -"),
        ({"min_qual": 256}, "min_qual", "min_qual: 256 is out of range"),
        ({"max_count": 2**32}, "max_count", "max_count: 4294967296 is out of range"),
        ({"memory": -1}, "memory", "memory: -1 is out of range"),
        ({"quality_offset": 34}, "quality_offset", "quality_offset: 34 is neither 33 nor 64"),
        ({"min_count": 5, "max_count": 3}, "min_count", "max_count"),
    ],
)
def test_arguments_are_named(arguments: Any, argument: str, message: str) -> None:
    with pytest.raises(merganser.ArgumentError, match=message) as caught:
        merganser.count([b"ACGT"], **{"k": 3, **arguments})
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, merganser.Error)
    assert caught.value.argument == argument and caught.value.file is None
    copy = again(caught.value)
    assert (type(copy), str(copy), copy.argument) == (merganser.ArgumentError, str(caught.value), argument)


def test_malformed_inputs_have_a_place(tmp_path: Path) -> None:
    bad = tmp_path / "bad.fq"
    bad.write_text("@a\nACGT\n+\nIIII\n@b\nACGT\n+\nIII\n")
    with pytest.raises(merganser.InputError) as caught:
        merganser.count(bad, 3)
    assert isinstance(caught.value, ValueError)
    assert (caught.value.file, caught.value.record, caught.value.argument) == (str(bad), 2, None)
    copy = again(caught.value)
    assert (str(copy), copy.file, copy.record) == (str(caught.value), str(bad), 2)
    with pytest.raises(merganser.InputError) as caught:
        merganser.Table.open(bad)
    assert caught.value.file == str(bad)
    with pytest.raises(merganser.InputError, match="is a directory"):
        merganser.count(tmp_path, 3)


def test_missing_files_are_found_out(tmp_path: Path) -> None:
    missing = tmp_path / "none.fq"
    uses: list[Callable[[], object]] = [
        lambda: merganser.count(missing, 21),
        lambda: merganser.count([str(missing)], 21),
        lambda: merganser.count(f"@{missing}", 21),
        lambda: merganser.Table.open(missing),
    ]
    for use in uses:
        with pytest.raises(merganser.FileNotFound, match="no such file") as caught:
            use()
        assert isinstance(caught.value, FileNotFoundError) and caught.value.file == str(missing)
        copy = again(caught.value)
        assert (type(copy), str(copy), copy.file) == (merganser.FileNotFound, str(caught.value), str(missing))


def test_outputs_that_cannot_be_written_are_errors(tmp_path: Path) -> None:
    table = merganser.count([b"ACGTACGT"], 3, min_count=1)
    uses: list[Callable[[], object]] = [
        lambda: merganser.count([b"ACGTACGT"], 3, output=tmp_path / "none" / "t.mgk"),
        lambda: table.save(tmp_path / "none" / "t.tsv"),
        lambda: table.save("/dev/full", "tsv"),
        lambda: table.reduce(1, output=tmp_path / "none" / "t.mgk"),
        lambda: merganser.count([b"ACGTACGT"], 3, tmp_dir="/proc/none"),
    ]
    for use in uses:
        with pytest.raises(merganser.OutputError) as caught:
            use()
        assert isinstance(caught.value, OSError) and not isinstance(caught.value, FileNotFoundError)
        assert str(again(caught.value)) == str(caught.value)


def test_too_little_memory_is_an_error(reads: list[bytes]) -> None:
    with pytest.raises(merganser.MemoryLimitError) as caught:
        merganser.count(reads, 31, memory="1M", threads=8)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.argument == "memory"
    assert str(again(caught.value)) == str(caught.value)


def test_missing_devices_are_errors(reads: list[bytes]) -> None:
    if any(device["device"] == "cuda:77" for device in merganser.devices()):
        pytest.skip("the device exists")
    with pytest.raises(merganser.DeviceError) as caught:
        merganser.count(reads, 31, device="cuda:77")
    assert isinstance(caught.value, RuntimeError)
    assert type(again(caught.value)) is merganser.DeviceError


def test_all_classes_have_one_base() -> None:
    classes = [found for found in vars(merganser).values() if isinstance(found, type)]
    errors = [found for found in classes if issubclass(found, merganser.Error)]
    others = [found for found in classes if issubclass(found, Exception) and found not in errors]
    assert len(errors) == 8 and others == [merganser.ResultWarning]
    for found in errors:
        error = found("text", argument="a", file="f", record=3)
        copy = again(error)
        assert (type(copy), str(copy), copy.__dict__) == (found, "text", error.__dict__)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memory": 1.5}, "memory must be an int of bytes, or a size such as"),
        ({"progress": 3}, "progress: give True, False or a function, not int"),
        ({"k": "x"}, "cannot be interpreted as an integer"),
        ({"other": 3}, "unexpected keyword argument"),
    ],
)
def test_wrong_types_are_type_errors(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        merganser.count([b"ACGT"], **{"k": 3, **arguments})
