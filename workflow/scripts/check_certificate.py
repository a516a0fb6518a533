#!/usr/bin/env python3
"""Checks a certificate of `merganser deplete filter --confirm` against the files that it names.

    check_certificate.py CERTIFICATE HAPLOTYPES.fa

HAPLOTYPES.fa is the FASTA of the index. Nothing of Merganser is used: the digests are computed again, and the nearest
place of each kept read is searched again, on both strands, by the pigeonhole principle: of e + 1 pieces of a read, one
occurs without an edit in every place with at most e edits. Prints what was checked, and exits with 1 if anything
differs. Inputs and outputs are read in the folder in which the certificate was made; those on pipes are skipped.
"""

import gzip
import hashlib
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

COMPLEMENT = bytes.maketrans(b"ACGTUacgtu", b"TGCAATGCAA")


def lines_of(path: Path) -> Iterator[bytes]:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for line in file:
            yield line.rstrip(b"\r\n")


def fasta(path: Path) -> dict[bytes, bytes]:
    """Returns the sequences of a FASTA file by name."""
    sequences: dict[bytes, list[bytes]] = {}
    name = b""
    for line in lines_of(path):
        if line.startswith(b">"):
            name = line[1:].split(None, 1)[0]
            sequences[name] = []
        else:
            sequences[name].append(line)
    return {name: b"".join(parts).upper().replace(b"U", b"T") for name, parts in sequences.items()}


def reads(path: Path) -> Iterator[bytes]:
    """Returns the bases of the reads of a FASTA or FASTQ file with one line of bases each."""
    lines = lines_of(path)
    for header in lines:
        yield next(lines).upper().replace(b"U", b"T")
        if header.startswith(b"@"):
            next(lines)
            next(lines)


def edits_of(rule: str, bases: int) -> int:
    return bases * int(rule[:-1]) // 100 if rule.endswith("%") else int(rule)


def fewest(read: bytes, text: bytes, most: int) -> int:
    """Returns the fewest edits of the read in any part of the text; `most` + 1 if there are more."""
    # Myers' bit vectors (1999), in one integer of Python. Letters other than A, C, G and T match nothing.
    full = (1 << len(read)) - 1
    top = 1 << (len(read) - 1)
    equal = {base: sum(1 << at for at, letter in enumerate(read) if letter == base) for base in b"ACGT"}
    plus, minus, score, best = full, 0, len(read), len(read)
    for letter in text:
        match = equal.get(letter, 0)
        vertical = match | minus
        horizontal = (((match & plus) + plus) ^ plus) | match
        up, down = minus | ~(horizontal | plus) & full, plus & horizontal
        if up & top:
            score += 1
        elif down & top:
            score -= 1
        up, down = up << 1 & full, down << 1 & full
        plus, minus = down | ~(vertical | up) & full, up & vertical
        best = min(best, score)
    return min(best, most + 1)


def nearest(all_reads: list[bytes], contigs: dict[bytes, bytes], rule: str) -> list[int | None]:
    """Returns the fewest edits of each read within the rule, `None` if there are more."""
    # Pieces by length: what begins where in which read.
    pieces: dict[int, dict[bytes, list[tuple[int, bytes, int]]]] = defaultdict(lambda: defaultdict(list))
    for number, read in enumerate(all_reads):
        count = edits_of(rule, len(read)) + 1
        if len(read) < count:
            continue
        for strand in (read, read.translate(COMPLEMENT)[::-1]):
            bounds = [at * len(read) // count for at in range(count + 1)]
            for begin, end in zip(bounds, bounds[1:], strict=False):
                pieces[end - begin][strand[begin:end]].append((number, strand, begin))
    windows: set[tuple[int, bytes, bytes, int]] = set()
    for name, text in contigs.items():
        for length, known in pieces.items():
            for at in range(len(text) - length + 1):
                for number, strand, begin in known.get(text[at : at + length], ()):
                    windows.add((number, strand, name, at - begin))
    found: list[int | None] = [None] * len(all_reads)
    for number, strand, name, begin in windows:
        most = edits_of(rule, len(strand))
        text = contigs[name][max(begin - most, 0) : begin + len(strand) + most]
        edits = fewest(strand, text, most)
        known = found[number]
        if edits <= most and (known is None or edits < known):
            found[number] = edits
    return found


def check_digests(certificate: dict) -> list[str]:
    """Returns the names of files whose digests differ."""
    wrong = []
    for entry in [certificate["set"], certificate["index"], *certificate["inputs"], *certificate["outputs"]]:
        if entry["sha256"] is None:
            print(f"{entry['name']}: has no digest: not checked")
            continue
        with Path(entry["name"]).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != entry["sha256"]:
                wrong.append(entry["name"])
    return wrong


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit("usage: check_certificate.py CERTIFICATE HAPLOTYPES.fa")
    certificate = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    contigs = fasta(Path(sys.argv[2]))
    problems = [f"{name}: is not the file of the certificate" for name in check_digests(certificate)]
    listed = {entry["name"]: entry["length"] for entry in certificate["removed_reads_by_contig"]}
    if listed != {name.decode(): len(text) for name, text in contigs.items()}:
        problems.append(f"{sys.argv[2]}: its sequences are not those of the index")
    files = [Path(entry["name"]) for entry in certificate["outputs"] if entry["name"] != "-"]
    kept = [read for file in files for read in reads(file)]
    rule, bound = certificate["edits"], certificate["searched_edits"]
    found = nearest(kept, contigs, bound)
    pairs = list(zip(kept, found, strict=True))
    within = [edits for read, edits in pairs if edits is not None and edits <= edits_of(rule, len(read))]
    by_edits = sorted(Counter(edits for edits in found if edits is not None).items())
    checks = {
        "kept_reads": len(kept),
        "kept_bases": sum(map(len, kept)),
        "nearest_kept_edits": by_edits[0][0] if by_edits else None,
        "kept_reads_by_edits": [{"edits": edits, "reads": number} for edits, number in by_edits],
    }
    for key, value in checks.items():
        if certificate[key] != value:
            problems.append(f"{key}: {certificate[key]} in the certificate, {value} found")
    if within:
        problems.append(f"{len(within)} kept reads are within {rule} edits of the haplotypes")
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(kept)} kept reads: none is within {rule} edits; nearest: {checks['nearest_kept_edits']}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
