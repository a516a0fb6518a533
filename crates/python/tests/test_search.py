"""Tests of the search for patterns, compared with plain definitions and with the program."""

from __future__ import annotations

import os
import random
import re
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from program import run

import merganser

IUPAC = dict(
    zip("ACGTURYSWKMBDHVN", ["A", "C", "G", "T", "T", "AG", "CT", "CG", "AT", "GT", "AC", "CGT", "AGT", "ACT", "ACG", "ACGT"])
)
COMPLEMENT = str.maketrans("ACGTURYSWKMBDHVN", "TGCAAYRSWMKVHDBN")
PATTERNS = {"plain": "GATTACA", "mixed": "GGRCNTAC", "long": "ACGTTGCAAGCTTGCA", "palindrome": "GAATTC"}


class End(NamedTuple):
    """An end of an alignment."""

    text: int
    end: int
    pattern: str
    reverse: bool
    edits: int


def reverse(letters: str) -> str:
    return letters[::-1].translate(COMPLEMENT)


def matches(pattern: str, letter: str, match_n: bool = False) -> bool:
    """Whether a letter of a pattern matches one of a text. N in a text matches nothing, or everything."""
    if letter == "N":
        return match_n
    return not set(IUPAC[pattern]).isdisjoint(IUPAC.get(letter, ""))


def ends(pattern: str, text: str, e: int) -> Iterator[tuple[int, int]]:
    """Yields the ends of alignments with at most `e` edits, by the table of dynamic programming, and their edits."""
    column = list(range(len(pattern) + 1))
    for end, letter in enumerate(text.upper(), 1):
        diagonal = 0
        for at, own in enumerate(pattern):
            cost = diagonal + (not matches(own, letter))
            diagonal = column[at + 1]
            column[at + 1] = min(cost, diagonal + 1, column[at] + 1)
        if column[-1] <= e:
            yield end, column[-1]


def mismatches(pattern: str, text: str, e: int, match_n: bool = False) -> Iterator[tuple[int, int]]:
    """Yields the ends of positions with at most `e` mismatches, and their mismatches."""
    for end in range(len(pattern), len(text) + 1):
        window = text[end - len(pattern) : end].upper()
        count = sum(not matches(own, letter, match_n) for own, letter in zip(pattern, window))
        if count <= e:
            yield end, count


def both_strands(pattern: str) -> list[tuple[bool, str]]:
    return [(False, pattern), (True, reverse(pattern))]


def found(rows: merganser.Rows) -> set[End]:
    return {End(hit.text, hit.end, hit.pattern, hit.reverse, hit.edits) for hit in rows}


@pytest.fixture(scope="module")
def texts() -> list[str]:
    """Returns texts with parts of the patterns, errors, other letters and lower case."""
    numbers = random.Random(8)
    made = ["", "AC", "N" * 30]
    for _ in range(25):
        letters = [numbers.choice("ACGT") for _ in range(numbers.randrange(5, 300))]
        for pattern in PATTERNS.values():
            if numbers.random() < 0.7:
                copy = [numbers.choice(IUPAC[letter]) for letter in numbers.choice([pattern, reverse(pattern)])]
                for _ in range(numbers.randrange(3)):
                    copy[numbers.randrange(len(copy))] = numbers.choice(["A", "C", "", "GT", "N", "R", "-"])
                at = numbers.randrange(len(letters))
                letters[at:at] = copy
        text = "".join(letters)
        made.append(text.lower() if numbers.random() < 0.2 else text)
    return made


@pytest.mark.parametrize("e", [0, 1, 2, 3])
def test_ends_are_those_of_the_table(texts: list[str], e: int) -> None:
    expected = {
        End(number, end, name, strand, edits)
        for number, text in enumerate(texts)
        for name, pattern in PATTERNS.items()
        for strand, letters in both_strands(pattern)
        for end, edits in ends(letters, text, e)
    }
    rows = merganser.search(PATTERNS, texts, e, all_ends=True)
    assert found(rows) == expected and len(rows) == len(expected) > 20
    for hit in rows:
        assert hit.letters == texts[hit.text][hit.start : hit.end].upper()
        lengths = [(int(count), kind) for count, kind in re.findall(r"(\d+)([=XID])", hit.cigar)]
        assert sum(count for count, kind in lengths if kind != "=") == hit.edits
        assert sum(count for count, kind in lengths if kind != "D") == len(PATTERNS[hit.pattern])
        assert sum(count for count, kind in lengths if kind != "I") == hit.end - hit.start
    hits = merganser.search(PATTERNS, texts, e)
    assert found(hits) <= expected
    # An end is left out only near one that is no worse.
    by_query: dict[tuple[int, str, bool], list[End]] = {}
    for hit in found(hits):
        by_query.setdefault((hit.text, hit.pattern, hit.reverse), []).append(hit)
    for end in expected:
        others = by_query[end.text, end.pattern, end.reverse]
        assert any(abs(other.end - end.end) <= 5 * e and other.edits <= end.edits for other in others)
    names = list(PATTERNS)
    places = [(hit.text, hit.start, hit.end, names.index(hit.pattern), hit.reverse) for hit in hits]
    assert places == sorted(places)


def test_positions_are_those_of_a_comparison(texts: list[str]) -> None:
    for match_n in (False, True):
        expected = {
            End(number, end, name, strand, edits)
            for number, text in enumerate(texts)
            for name, pattern in PATTERNS.items()
            for strand, letters in both_strands(pattern)
            for end, edits in mismatches(letters, text, 2, match_n)
        }
        rows = merganser.search(PATTERNS, texts, 2, hamming=True, match_n=match_n)
        assert found(rows) == expected and len(rows) == len(expected) > 100
        for strand in ("forward", "reverse"):
            own = merganser.search(PATTERNS, texts, 2, hamming=True, match_n=match_n, strand=strand)
            assert found(own) == {one for one in expected if one.reverse == (strand == "reverse")}


def test_guides_have_a_pam() -> None:
    numbers = random.Random(9)
    text = "".join(numbers.choice("ACGT") for _ in range(20_000))
    guides = [text[at : at + 10] for at in range(100, 2000, 400)]
    expected = set()
    for guide in guides:
        for is_reverse, letters in [(False, text), (True, reverse(text))]:
            for end, edits in mismatches(guide, letters, 2):
                in_seed = sum(a != b for a, b in zip(guide[-4:], letters[end - 4 : end]))
                if letters[end + 1 : end + 3] == "GG" and in_seed <= 1:
                    place = (end - 10, end + 3)
                    place = (len(text) - place[1], len(text) - place[0]) if is_reverse else place
                    expected.add((*place, guide, is_reverse, edits))
    hits = merganser.search(guides, text, 2, hamming=True, pam="NGG", seed="4:1")
    assert {(hit.start, hit.end, hit.pattern, hit.reverse, hit.edits) for hit in hits} == expected
    assert len(hits) == len(expected) > 0
    first = merganser.search([reverse(guide) for guide in guides], text, 2, hamming=True, pam="CCN", pam_first=True)
    both = merganser.search(guides, text, 2, hamming=True, pam="NGG")
    assert sorted(zip(first["start"], first["edits"])) == sorted(zip(both["start"], both["edits"]))


def test_patterns_may_extend_beyond_texts() -> None:
    def hits(**options: Any) -> list[tuple[int, int, int, str]]:
        rows = merganser.search("GATTACA", ["TACATTTTTTTTTT"], 2, strand="forward", **options)
        return [(hit.start, hit.end, hit.edits, hit.cigar) for hit in rows]

    assert hits() == []
    assert hits(overhang=0.5) == [(0, 4, 1, "3S4=")]
    assert hits(overhang=1) == []


def test_patterns_and_texts_have_many_forms(tmp_path: Path) -> None:
    texts = ["TTGATTACATT", "AAGGGCCTTAC", "TTGATTACCTT"]
    file, reads = tmp_path / "patterns.tsv", tmp_path / "texts.fa"
    file.write_text("GATTACA\tGATTACA\nGGRCC\tGGRCC\n")
    reads.write_text("".join(f">{number}\n{text}\n" for number, text in enumerate(texts, 1)))
    patterns: list[Any] = [
        ["GATTACA", "GGRCC"],
        (b"GATTACA", "GGRCC"),
        [("GATTACA", b"gattaca"), "GGRCC"],
        {"GATTACA": "GATTACA", "GGRCC": b"GGRCC"},
        iter(["GATTACA", "GGRCC"]),
        file,
    ]
    expected = list(merganser.search(["GATTACA", "GGRCC"], texts, 1))
    assert [(hit.text, hit.pattern, hit.edits) for hit in expected][0] == (0, "GATTACA", 0) and len(expected) > 2
    for given in patterns:
        assert list(merganser.search(given, texts, 1)) == expected
    forms: list[Any] = [
        [text.encode() for text in texts],
        (text for text in texts),
        [texts[0].encode(), *texts[1:]],
        pl.Series(texts),
        np.array([text.encode() for text in texts]),
        np.array([list(text.encode()) for text in texts], dtype=np.uint8),
    ]
    for form in forms:
        assert list(merganser.search(["GATTACA", "GGRCC"], form, 1)) == expected
    single: list[str | bytes] = [texts[0], texts[0].encode(), texts[0].lower()]
    for one in single:
        assert list(merganser.search("GATTACA", one, 0)["start"]) == [2]
    rows = merganser.search(["GATTACA", "GGRCC"], reads, 1)
    assert rows.columns == ["sequence", "start", "end", "pattern", "edits", "reverse", "cigar", "letters"]
    assert rows["sequence"] == [str(hit.text + 1) for hit in expected]
    assert rows["start"].tolist() == [hit.start for hit in expected]
    assert list(merganser.search(["GATTACA", "GGRCC"], [str(reads)], 1)) == list(rows)
    empty = merganser.search("GATTACA", [], 1)
    assert len(empty) == 0 and empty.columns[0] == "text"
    assert len(merganser.search("GATTACA", "", 1)) == 0


def test_a_str_of_letters_is_a_file_if_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert merganser.search("GATTACA", "TTGATTACA", 0).columns[0] == "text"
    Path("TTGATTACA").write_text(">x\nGATTACA\n")
    assert merganser.search("GATTACA", "TTGATTACA", 0)["sequence"] == ["x"]
    assert merganser.search("GATTACA", b"TTGATTACA", 0).columns[0] == "text"
    mixed: list[str | bytes] = [b"TTGATTACA", "TTGATTACA"]
    with pytest.raises(TypeError, match="texts: item 2 is not of the kind of the first"):
        merganser.search("GATTACA", mixed, 0)


def test_rows_are_arrow_data() -> None:
    rows = merganser.search("GATTACA", ["TTGATTACATT"], 1)
    frame = rows.to_polars()
    assert frame.columns == ["text", "start", "end", "pattern", "edits", "reverse", "cigar", "letters"]
    assert frame.row(0) == (0, 2, 9, "GATTACA", 0, False, "7=", "GATTACA")
    assert rows["start"].dtype == np.uint64 and rows["edits"].dtype == np.uint32 and rows["reverse"].dtype == bool
    assert rows.to_arrow().num_rows == rows.to_pandas().shape[0] == 1
    assert "GATTACA" in rows._repr_html_()


@pytest.fixture(scope="module")
def genome(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a file with a sequence that is searched in stretches, and a short one."""
    numbers = random.Random(3)
    letters = "".join(numbers.choices("ACGT", k=1_200_000))
    path = tmp_path_factory.mktemp("genome") / "g.fa"
    path.write_text(f">c1 text\n{letters}\n>c2\n{letters[:500]}\n")
    return path


GUIDES = ["GTGYCAGCMGCCG", "ACGTNNACGTAC", "GATTACAGATTA"]


@pytest.mark.parametrize("end", ["tsv", "bed", "fa", "sam", "bam", "tsv.gz"])
@pytest.mark.parametrize("flags", [["-e", "2"], ["-e", "20%", "--hamming", "--strand", "reverse"], ["-e", "1", "--all-ends"]])
def test_written_files_are_the_programs(end: str, flags: list[str], genome: Path, tmp_path: Path) -> None:
    own, other = tmp_path / f"python.{end}", tmp_path / f"program.{end}"
    e = flags[1] if flags[1].endswith("%") else int(flags[1])
    options: dict[str, Any] = {"hamming": "--hamming" in flags, "all_ends": "--all-ends" in flags}
    options["strand"] = "reverse" if "--strand" in flags else "both"
    numbers = merganser.search_to(
        GUIDES, genome, e, output=own, counts=tmp_path / "python.counts", threads=3, **options
    )
    given = [word for guide in GUIDES for word in ("-p", guide)]
    run("search", "-q", *given, *flags, genome, "-o", other, "--counts", tmp_path / "program.counts")
    assert numbers["sequences"] == 2 and numbers["letters"] == 1_200_500
    if end in ("sam", "bam"):
        sam = [list(merganser_lines(path)) for path in (own, other)]
        assert sam[0] == sam[1] and len(sam[0]) > 3
    else:
        assert own.read_bytes() == other.read_bytes() != b""
    table = (tmp_path / "python.counts").read_text()
    assert table == (tmp_path / "program.counts").read_text()
    counts = merganser.search_counts(GUIDES, genome, e, **options)
    assert counts.columns == table.splitlines()[0].split("\t")
    cells = [["NA" if cell is None else str(cell) for cell in row] for row in counts]
    assert cells == [line.split("\t") for line in table.splitlines()[1:]]
    assert sum(counts["total"].tolist()) == numbers["hits"] > 0


def merganser_lines(path: Path) -> Iterator[str]:
    """Yields the lines of SAM or BAM without that of the program, whose header has its command."""
    import gzip

    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".bam" else data
    if path.suffix == ".sam":
        yield from (line for line in data.decode().splitlines() if not line.startswith("@PG"))
    else:
        # The text of the header, then the references and the records.
        length = int.from_bytes(data[4:8], "little")
        yield from (line for line in data[8 : 8 + length].decode().splitlines() if not line.startswith("@PG"))
        yield data[8 + length :].hex()


def test_rows_do_not_depend_on_threads_and_are_the_programs(genome: Path, tmp_path: Path) -> None:
    run("search", "-q", *[word for guide in GUIDES for word in ("-p", guide)], "-e", 2, genome, "-o", tmp_path / "a.tsv")
    expected = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()[1:]]
    for threads in (1, 2, 5):
        rows = merganser.search(GUIDES, genome, 2, threads=threads, memory="1G", device="cpu")
        cells = [
            [row[0], *map(str, row[1:3]), row.pattern, str(row.edits), "-" if row.reverse else "+", row.cigar, row.letters]
            for row in rows
        ]
        assert cells == expected
    letters = genome.read_text().split("\n")[1]
    of_first = [line for line in expected if line[0] == "c1"]
    for text in (letters, letters.encode()):
        rows = merganser.search(GUIDES, text, 2, threads=2)
        assert rows["start"].tolist() == [int(line[1]) for line in of_first]


def test_amplicons_are_those_of_the_hits(genome: Path, tmp_path: Path) -> None:
    letters = genome.read_text().split("\n")[1]
    pairs = {
        "a": (letters[1000:1018], reverse(letters[1400:1418])),
        "b": (reverse(letters[300_400:300_420]), letters[300_000:300_020]),
        "long": (letters[5000:5018], reverse(letters[9000:9018])),
    }
    rows = merganser.amplicons(pairs, genome, 2)
    listed = [(row.pair, row.start, row.end, row.reverse, row.length) for row in rows if row.sequence == "c1"]
    assert listed == [("a", 1000, 1418, False, 418), ("b", 300_000, 300_420, True, 420)]
    assert rows["amplicon"][0] == letters[1000:1418] and rows["amplicon"][1] == reverse(letters[300_000:300_420])
    file = tmp_path / "primers.tsv"
    file.write_text("".join(f"{name}\t{forward}\t{back}\n" for name, (forward, back) in pairs.items()))
    run("search", "-q", "--primers", file, "-e", 2, genome, "-o", tmp_path / "a.tsv", "--max-amplicon", 5000)
    expected = [line.split("\t") for line in (tmp_path / "a.tsv").read_text().splitlines()[1:]]
    triples = [(name, *both) for name, both in pairs.items()]
    for given in (pairs, triples, file, str(file), list(pairs.items())):
        rows = merganser.amplicons(given, genome, 2, max_amplicon=5000)
        cells = [
            [row[0], str(row.start), str(row.end), row.pair, "-" if row.reverse else "+", str(row.length)]
            + [str(row.forward_edits), str(row.reverse_edits), row.amplicon]
            for row in rows
        ]
        assert cells == expected
    assert len(merganser.amplicons(pairs, genome, 2, min_amplicon=419)) == 1
    in_memory = merganser.amplicons(pairs, [letters.encode()], 2)
    assert in_memory["text"].tolist() == [0, 0] and in_memory["start"].tolist() == [1000, 300_000]


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        ([], "patterns: it is empty"),
        ({}, "patterns: it is empty"),
        ("", "patterns: item 1: it has no letters"),
        (["ACG", ""], "patterns: item 2: it has no letters"),
        ("ACXG", "patterns: item 1: 'X' at letter 3 is no IUPAC letter"),
        ({"a": "AC-G"}, "patterns: item 1: '-' at letter 3 is no IUPAC letter"),
        ("primers.fa", "patterns: item 1: 'p' at letter 1 is no IUPAC letter"),
        ("é", "patterns: item 1: byte 0xc3 at letter 1"),
        ("A" * 129, "patterns: item 1: it has 129 letters; a pattern has at most 128"),
        (["ACGT", "ACGT"], "patterns: item 2: an earlier item has the name 'ACGT', too"),
        ([("a", "ACGT"), ("a", "ACGG")], "patterns: item 2: an earlier item has the name 'a', too"),
        ({"": "ACGT"}, "patterns: item 1: the name is empty"),
        ({"a\tb": "ACGT"}, "patterns: item 1: the name 'a\tb' has control characters"),
    ],
)
def test_wrong_patterns_are_named(patterns: Any, message: str) -> None:
    for function in (merganser.search, merganser.search_counts):
        with pytest.raises(merganser.ArgumentError) as caught:
            function(patterns, [b"ACGT"], 1)
        assert str(caught.value).startswith(message) and caught.value.argument == "patterns"


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"e": -1}, "e"),
        ({"e": 2**70}, "e"),
        ({"e": "many"}, "e"),
        ({"e": "101%"}, "e"),
        ({"e": 7}, "e"),
        ({"e": 200}, "e"),
        ({"strand": "left"}, "strand"),
        ({"overhang": 2.0}, "overhang"),
        ({"overhang": 0.5, "pam": "NGG"}, "overhang"),
        ({"pam": "NXG"}, "pam"),
        ({"pam": ""}, "pam"),
        ({"pam_first": True}, "pam_first"),
        ({"seed": "4"}, "seed"),
        ({"seed": "4:1"}, "seed"),
        ({"all_ends": True, "pam": "NGG"}, "all_ends"),
        ({"device": "tpu"}, "device"),
        ({"threads": 0}, "threads"),
        ({"memory": "much"}, "memory"),
    ]
    for options, argument in cases:
        with pytest.raises(merganser.ArgumentError) as caught:
            merganser.search("GATTACA", ["ACGT"], **{"e": 1, **options})
        assert caught.value.argument == argument, str(caught.value)
        assert "--" not in str(caught.value) and "`" not in str(caught.value)
    cases = [
        ({"e": 1.5}, "e: give an int"),
        ({"e": None}, "e: give an int"),
        ({"e": True}, "e: give an int"),
        ({"pam": 3}, "pam: "),
        ({"overhang": "much"}, "overhang: "),
        ({"patterns": 3}, "patterns: give letters as str or bytes, .*, not int"),
        ({"patterns": [3]}, "patterns: give letters as str or bytes, .*, not int"),
        ({"patterns": {"a": 3}}, "patterns: give letters as str or bytes, .*, not int"),
        ({"patterns": None}, "patterns: give letters as str or bytes, .*, not NoneType"),
        ({"texts": 3}, "texts: int is not an iterable of sequences"),
        ({"texts": None}, "texts: NoneType is not an iterable of sequences"),
        ({"texts": ["ACGT", 3]}, "texts: a sequence must be bytes, not int"),
        ({"texts": ["ACGT", "a.fa"]}, "texts: item 2 is not of the kind of the first"),
        ({"texts": bytearray(b"ACGT")}, "texts: one bytearray object"),
        ({"texts": "AC.GT" * 1000}, "texts: 'AC.GTAC.GTAC.GTAC.GT…' is too long for the name of a file, 5,000 bytes"),
        ({"progress": 3}, "progress: give True"),
        ({"sedd": "4:1"}, "did you mean seed"),
    ]
    for wrong, message in cases:
        with pytest.raises(TypeError, match=message):
            merganser.search(**{"patterns": "GATTACA", "texts": ["ACGT"], "e": 1, **wrong})
    with pytest.raises(merganser.ArgumentError, match="texts: sequence 2: '>' is not a letter"):
        merganser.search("GATTACA", [b"ACGT", b">ACGT"], 1)
    with pytest.raises(merganser.FileNotFound, match="none.fa"):
        merganser.search("GATTACA", tmp_path / "none.fa", 1)
    with pytest.raises(merganser.FileNotFound, match="none.fa"):
        merganser.search(tmp_path / "none.fa", "ACGT", 1)
    bad = tmp_path / "bad.tsv"
    bad.write_text("a\tACGT\nb\tAC-T\n")
    with pytest.raises(merganser.InputError, match="bad.tsv: line 2: pattern b: '-' at letter 3") as found:
        merganser.search(bad, "ACGT", 1)
    assert found.value.file == str(bad)
    with pytest.raises(merganser.InputError):
        merganser.search("GATTACA", [bad], 1)


def test_wrong_primers_are_named() -> None:
    primers: Any
    for primers, message in [
        ({}, "primers: it is empty"),
        ({"a": ("AC-T", "ACGT")}, "primers: item 1: '-' at letter 3"),
        ({"a": ("ACGT", "")}, "primers: item 1: it has no letters"),
        ([("a", "ACGT", "GGGG"), ("a", "ACGT", "GGGG")], "primers: item 2: an earlier item has the name 'a'"),
    ]:
        with pytest.raises(merganser.ArgumentError) as caught:
            merganser.amplicons(primers, ["ACGT"], 1)
        assert str(caught.value).startswith(message) and caught.value.argument == "primers"
    for wrong in (3, [3], {"a": "ACGT"}, {"a": ("ACGT", 3)}, [("a", "ACGT")]):
        with pytest.raises(TypeError, match="primers: give a dict"):
            merganser.amplicons(wrong, ["ACGT"], 1)  # type: ignore[arg-type]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"min_amplicon": 5000}, "min_amplicon"),
        ({"max_amplicon": 0}, "max_amplicon"),
        ({"max_amplicon": 2**70}, "max_amplicon"),
        ({"e": 4}, "e"),
    ]
    for options, argument in cases:
        with pytest.raises(merganser.ArgumentError) as caught:
            merganser.amplicons({"a": ("ACGT", "GGTA")}, ["ACGT"], **{"e": 1, **options})
        assert caught.value.argument == argument, str(caught.value)
    with pytest.raises(TypeError, match="strand"):
        merganser.amplicons({"a": ("ACGT", "GGTA")}, ["ACGT"], 1, strand="forward")  # type: ignore[call-arg]


def test_wrong_outputs_are_named(genome: Path, tmp_path: Path) -> None:
    before = genome.read_bytes()
    for options, argument in [
        ({"output": genome}, "output"),
        ({"output": tmp_path / "a.tsv", "counts": tmp_path / "a.tsv"}, "counts"),
        ({"output": tmp_path / "a.png"}, "output"),
        ({"output": tmp_path / "a.tsv", "format": "vcf"}, "format"),
    ]:
        with pytest.raises(merganser.ArgumentError) as caught:
            merganser.search_to(GUIDES, genome, 1, **options)  # type: ignore[arg-type]
        assert caught.value.argument == argument, str(caught.value)
    with pytest.raises(merganser.OutputError):
        merganser.search_to(GUIDES, genome, 1, output=tmp_path / "none" / "a.tsv")
    with pytest.raises(TypeError, match="output"):
        merganser.search_to(GUIDES, genome, 1, output=3)  # type: ignore[arg-type]
    assert genome.read_bytes() == before and not list(tmp_path.iterdir())
    patterns = tmp_path / "p"
    patterns.write_text("ACGTACGTAC\n")
    with pytest.raises(merganser.ArgumentError, match="is an input"):
        merganser.search_to(patterns, genome, 1, output=patterns)


def test_too_many_hits_are_an_error() -> None:
    text = "A" * 400_000
    patterns = {f"p{number}": "A" * 14 for number in range(200)}
    message = "texts: .*the patterns match at more places of a batch than memory gives room for: give fewer edits \\(e\\), "
    with pytest.raises(merganser.MemoryLimitError, match=message):
        merganser.search(patterns, text, 2, memory="120M", threads=1)
    # The hits of each batch have room, but not all rows.
    reads = [b"A" * 25 + b"C" * 75] * 250_000
    options: dict[str, Any] = {"hamming": True, "strand": "forward", "memory": "150M", "threads": 1}
    with pytest.raises(merganser.MemoryLimitError, match="texts: the patterns match at more places"):
        merganser.search("A" * 20, reads, 0, **options)
    assert merganser.search_counts("A" * 20, reads, 0, **options)["total"].tolist() == [6 * 250_000]
    with pytest.raises(merganser.MemoryLimitError, match="memory"):
        merganser.search("ACGT", "ACGT", 0, memory="1M")


def test_progress_is_passed_on_and_signals_stop_a_search(genome: Path) -> None:
    stages: list[tuple[str, int, int | None]] = []
    merganser.search(GUIDES, genome, 2, progress=lambda *stage: stages.append(stage))
    assert stages and stages[-1][0] == "search" and stages[-1][1] == stages[-1][2] == genome.stat().st_size

    def fail(*_: object) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        merganser.search(GUIDES, genome, 2, progress=fail)
    many = ["".join(random.Random(seed).choices("ACGT", k=60)) for seed in range(3000)]
    # Shells ignore this signal in background jobs, and Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        merganser.search(many, [genome] * 8000, 6)
    timer.join()
