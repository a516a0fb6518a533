"""Fixtures: data of the repository, and generated reads."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import merganser

DATA = Path(__file__).resolve().parents[3] / "tests" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """Returns the folder with genomes, their taxonomy, and reads of a bacterium."""
    return DATA


@pytest.fixture(scope="session")
def database(data: Path, tmp_path_factory: pytest.TempPathFactory) -> merganser.Database:
    """Returns a database of the genomes."""
    genomes = data / "genomes"
    output = tmp_path_factory.mktemp("database") / "g.mgdb"
    return merganser.Database.build(genomes, data / "taxonomy", map=genomes / "seqid2taxid.map", output=output)


@pytest.fixture
def reads() -> list[bytes]:
    """Returns reads with errors of a genome of 3,000 bases."""
    numbers = random.Random(7)
    genome = "".join(numbers.choice("ACGT") for _ in range(3000))
    found = []
    for _ in range(400):
        at = numbers.randrange(len(genome) - 100)
        read = list(genome[at : at + 100])
        if numbers.random() < 0.3:
            read[numbers.randrange(100)] = numbers.choice("ACGTN")
        found.append("".join(read).encode())
    return found
