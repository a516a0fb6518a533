"""Writes the inputs of the book's pages: `python inputs.py FOLDER`."""

from __future__ import annotations

import gzip
import random
import shutil
import sys
from pathlib import Path

DATA = Path(__file__).resolve().parents[3] / "tests" / "data"
STREPTOCOCCUS = DATA / "streptococcus"


def fill(folder: Path) -> None:
    """Writes reads of a bacterium, two genomes with their taxonomy, and reads and an assembly of a phage."""
    folder.mkdir(parents=True, exist_ok=True)
    for mate in (1, 2):
        shutil.copy(DATA / f"ERR1438863_{mate}.fastq.gz", folder / f"reads_{mate}.fq.gz")
    genomes = folder / "genomes"
    genomes.mkdir()
    shutil.copy(STREPTOCOCCUS / "Streptococcus_pneumoniae_NCTC7465.fna.gz", genomes / "pneumoniae.fa.gz")
    shutil.copy(STREPTOCOCCUS / "Streptococcus_mitis_NCTC12261.fna.gz", genomes / "mitis.fa.gz")
    shutil.copy(STREPTOCOCCUS / "taxids.tsv", folder)
    shutil.copytree(STREPTOCOCCUS / "taxonomy", folder / "taxonomy")
    write_phage(folder)


def write_phage(folder: Path) -> None:
    """Writes phage.fq, reads of a phage with errors, and assembly.fa, its genome with three wrong bases."""
    with gzip.open(DATA / "genomes" / "Escherichia_phage_lambda.fna.gz", "rt") as file:
        next(file)
        genome = "".join(line.strip() for line in file)
    circle, numbers = genome + genome[:150], random.Random(1)
    with (folder / "phage.fq").open("w") as file:
        for number in range(10_000):
            at = numbers.randrange(len(genome))
            file.write(f"@{number}\n{with_errors(circle[at : at + 150], numbers)}\n+\n{'I' * 150}\n")
    wrong = list(genome)
    for at in (10_000, 20_000, 30_000):
        wrong[at] = "A" if wrong[at] != "A" else "C"
    (folder / "assembly.fa").write_text(f">contig\n{''.join(wrong)}\n")


def with_errors(read: str, numbers: random.Random) -> str:
    """Returns a read in which one of 1,000 bases is replaced."""
    return "".join(numbers.choice("ACGT") if numbers.random() < 1 / 1000 else base for base in read)


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
