"""Tests of exceptions: one class per cause, with the argument, the file and the record."""

from __future__ import annotations

import errno
import os
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
        ({"k": 200}, "k", "k: 200 is out of range: give 1 to 128"),
        ({"device": "tpu"}, "device", "device"),
        ({"memory": "much"}, "memory", "memory"),
        ({"threads": 0}, "threads", "threads: 0 is out of range: give 1 or more"),
        ({"bins": 10**9}, "bins", "bins: 1000000000 is out of range: give 1 to 16384"),
        ({"min_count": 0}, "min_count", "min_count: 0 is out of range: give 1 to 4294967295"),
        ({"threads": -1}, "threads", "threads: -1 is out of range"),
        ({"k": -1}, "k", "k: -1 is out of range"),
        ({"k": 2**70}, "k", "k: 1180591620717411303424 is out of range: give 1 to 128"),
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
        assert caught.value.filename == str(missing) and caught.value.errno == errno.ENOENT
        assert caught.value.strerror == "No such file or directory"
        assert again(caught.value).filename == str(missing) and again(caught.value).errno == errno.ENOENT
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
    numbers = [errno.ENOENT, errno.ENOENT, errno.ENOSPC, errno.ENOENT, errno.ENOENT]
    for use, number in zip(uses, numbers):
        with pytest.raises(merganser.OutputError) as caught:
            use()
        assert isinstance(caught.value, OSError) and not isinstance(caught.value, FileNotFoundError)
        assert str(again(caught.value)) == str(caught.value)
        assert (caught.value.errno, caught.value.strerror) == (number, os.strerror(number)), str(caught.value)
        assert caught.value.filename == caught.value.file is not None


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
        ({"memory": 1.5}, 'memory: give an int of bytes, or a size such as "8G", not float'),
        ({"progress": 3}, "progress: give True, False or a function, not int"),
        ({"k": "x"}, "k: give an int, not str; give several files as a list of files"),
        ({"k": 2.0}, "k: give an int, not float"),
        ({"k": True}, "k: give an int, not bool"),
        ({"min_count": "3"}, "min_count: give an int, not str"),
        ({"threads": False}, "threads: give an int, not bool"),
        ({"other": 3}, r"count\(\) got an unexpected keyword argument 'other'$"),
        ({"min_quality": 3}, "unexpected keyword argument 'min_quality': did you mean min_qual?"),
        ({"output": ["a.mgk"]}, "output: give one file, a str or PathLike, not list"),
    ],
)
def test_wrong_types_are_type_errors(arguments: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        merganser.count([b"ACGT"], **{"k": 3, **arguments})


def test_second_files_are_not_taken_for_k(tmp_path: Path) -> None:
    for second in ("b.fq", tmp_path / "b.fq", ["b.fq"]):
        with pytest.raises(TypeError, match="k: give an int, not .*; give several files as a list of files"):
            merganser.count("a.fq", second)  # type: ignore[arg-type]


def test_numpy_integers_are_integers() -> None:
    numpy = pytest.importorskip("numpy")
    assert merganser.count([b"ACGTT"], numpy.int64(5), min_count=numpy.uint8(1)).k == 5
    with pytest.raises(TypeError, match="k: give an int, not bool"):
        merganser.count([b"ACGTT"], numpy.bool_(True))


def test_unknown_keywords_name_the_nearest() -> None:
    table = merganser.count([b"ACGTT"], 5, min_count=1)
    uses: list[tuple[Callable[[], object], str]] = [
        (lambda: table.reduce(mincount=1), r"Table.reduce\(\) .*'mincount': did you mean min_count\?"),  # type: ignore[call-arg]
        (lambda: table.union(table, ouput="a"), "did you mean output"),  # type: ignore[call-arg]
        (lambda: table.save("a.tsv", thread=1), "did you mean threads"),  # type: ignore[call-arg]
        (lambda: table.query([], device="cpu"), "'device'$"),  # type: ignore[call-arg]
        (lambda: merganser.filter([], [], 1, alignment="global"), "did you mean align"),  # type: ignore[call-arg]
        (lambda: merganser.MinimizerSet.build([b"ACGT"], W=3), "'W'"),  # type: ignore[call-arg]
        (lambda: merganser.Index.build("a", thread=3), "did you mean threads"),  # type: ignore[call-arg]
        (lambda: merganser.Report.parse("").filter(taxids=3), "did you mean taxid"),  # type: ignore[call-arg]
        (lambda: merganser.matrix([table], outputs="a.tsv"), "did you mean output"),  # type: ignore[call-overload]
    ]
    for use, message in uses:
        with pytest.raises(TypeError, match=message):
            use()


def test_classes_say_how_their_objects_are_made() -> None:
    made = {
        merganser.Table: "count.*Table.open",
        merganser.Database: "Database.build.*Database.open",
        merganser.Index: "Index.build.*Index.open",
        merganser.MinimizerSet: "MinimizerSet.build.*MinimizerSet.open",
        merganser.Report: "Report.open.*Report.parse",
    }
    for found, message in made.items():
        with pytest.raises(TypeError, match=message):
            found("x")  # type: ignore[call-arg]


def test_one_path_is_no_list(tmp_path: Path) -> None:
    paths: Any = [tmp_path / "a", tmp_path / "b"]
    table = merganser.count([b"ACGTT"], 5, min_count=1)
    uses: list[tuple[Callable[[], object], str]] = [
        (lambda: merganser.Table.open(paths), "path"),
        (lambda: merganser.Database.open(3), "path: give one path or several, not int"),  # type: ignore[arg-type]
        (lambda: merganser.Index.build(paths), "reference"),
        (lambda: table.save(paths), "path"),
        (lambda: merganser.matrix([table], output=paths), "output: give one file"),
        (lambda: merganser.MinimizerSet.build([b"ACGTTGCA" * 20]).filter([b"A"], output=paths), "output: .*output2, or to a #"),
        (lambda: merganser.extract("a", [b"A"], 1, output=paths), "output: give one file.*output2, or to a #"),
        (lambda: merganser.extract("a", [b"A"], 1, output="c", database=3), "database: give a Database"),  # type: ignore[arg-type]
        (lambda: merganser.Database.build("a", "b", map={"a": 1}), "map: give one path or several, not dict"),
    ]
    for use, message in uses:
        with pytest.raises(TypeError, match=message):
            use()


def test_builds_name_the_argument(tmp_path: Path) -> None:
    bad, none = tmp_path / "bad.fa", tmp_path / "none"
    bad.write_text("nothing\n")
    good = tmp_path / "good.fa"
    good.write_text(">a\n" + "ACGTT" * 20 + "\n")
    (tmp_path / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\t|\n")
    (tmp_path / "names.dmp").write_text("1\t|\troot\t|\t\t|\tscientific name\t|\n")
    table = merganser.count([b"ACGTT" * 20], 21, min_count=1)
    uses: list[tuple[Callable[[], object], str]] = [
        (lambda: merganser.Index.build(none), "reference"),
        (lambda: merganser.Index.build(bad), "reference"),
        (lambda: merganser.Database.build(none, tmp_path), "genomes"),
        (lambda: merganser.Database.build(bad, tmp_path), "genomes"),
        (lambda: merganser.Database.build(bad, none), "taxonomy"),
        (lambda: merganser.Database.build(good, tmp_path, map=none), "map"),
        (lambda: merganser.qv(table, none), "assemblies"),
        (lambda: merganser.qv(table, bad), "assemblies"),
        (lambda: merganser.qv(none, bad), "reads"),
        (lambda: merganser.qv(table, []), "assemblies"),
        (lambda: merganser.qv([], bad), "reads"),
        (lambda: merganser.qv(merganser.count([b"ACGTT" * 20], 21), bad), "reads"),
    ]
    for use, argument in uses:
        with pytest.raises(merganser.Error) as caught:
            use()
        assert caught.value.argument == argument, str(caught.value)
        assert ".merganser-" not in str(caught.value) and ".merganser-" not in str(caught.value.file)
        missing = isinstance(caught.value, merganser.FileNotFound)
        assert missing == (str(none) in str(caught.value)), str(caught.value)


def test_edits_may_have_a_blank_and_are_shown() -> None:
    assert merganser.filter([b"ACGT" * 10], [b"ACGT" * 10], "5 %").tolist() == [0]
    for given, message in (("x", "e: 'x' is not a number of edits"), ("b.fq", "mates="), (Path("b.fq"), "mates=")):
        with pytest.raises(merganser.ArgumentError, match=message) as caught:
            merganser.filter([b"ACGT"], [b"ACGT"], given)  # type: ignore[arg-type]
        assert caught.value.argument == "e"
    with pytest.raises(TypeError, match="e: give an int.*not bool"):
        merganser.filter([b"ACGT"], [b"ACGT"], True)


def test_forgotten_outputs_replace_no_reads(tmp_path: Path) -> None:
    (tmp_path / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\t|\n7\t|\t1\t|\tspecies\t|\n")
    (tmp_path / "names.dmp").write_text("".join(f"{taxid}\t|\tname {taxid}\t|\t\t|\tscientific name\t|\n" for taxid in (1, 7)))
    (tmp_path / "genome.fa").write_text(">kraken:taxid|7|a\n" + "ACGTTGCA" * 60 + "\n")
    (tmp_path / "lines.tsv").write_text("U\ta\t0\t8\t0:0\n")
    reads: Any = (tmp_path / "a.fa", tmp_path / "b.fa")
    for path in reads:
        path.write_text(">a\nACGTTGCA\n")
    database = merganser.Database.build(tmp_path / "genome.fa", tmp_path)
    index = merganser.Index.build(tmp_path / "genome.fa")
    with pytest.raises(merganser.ArgumentError, match="there is no output: give output, report") as caught:
        database.classify_to(*reads)
    assert caught.value.argument == "output"
    uses: list[Callable[[], object]] = [
        lambda: index.map_to(*reads),  # type: ignore[call-arg]
        lambda: index.map_to(*reads, 3),  # type: ignore[call-arg]
        lambda: index.map_to(*reads, e=3),  # type: ignore[call-arg]
        lambda: database.classify_to("lines.tsv", *reads),
        lambda: merganser.extract(tmp_path / "lines.tsv", reads[0], 0, reads[1]),  # type: ignore[call-arg]
        lambda: merganser.extract(tmp_path / "lines.tsv", reads[0], 0),  # type: ignore[call-arg]
    ]
    for use in uses:
        with pytest.raises(TypeError, match="output|positional|required"):
            use()
    assert all(path.read_text() == ">a\nACGTTGCA\n" for path in reads)
