"""Finds errors of an assembly by the reads: `python assembly_errors.py FOLDER`.

Makes a genome, reads of it, and an assembly with a few wrong bases. Estimates the quality of the assembly from the k-mers of the reads,
then maps the reads to the assembly and finds the positions where they differ.
"""

# %%
import sys
from pathlib import Path

import numpy as np
import polars as pl

import merganser

folder = Path(sys.argv[1])
numbers = np.random.default_rng(1)
BASES = np.frombuffer(b"ACGT", dtype=np.uint8)

# %% Make a genome, reads of 150 bases that cover it 30 times, and an assembly with five wrong bases.
genome = numbers.choice(BASES, size=50_000)
starts = numbers.integers(0, len(genome) - 150, size=10_000)
reads = genome[starts[:, None] + np.arange(150)]
errors = numbers.random(reads.shape) < 0.002
reads[errors] = numbers.choice(BASES, size=errors.sum())
assembly = genome.copy()
wrong = np.sort(numbers.choice(np.arange(1000, 49_000), size=5, replace=False))
assembly[wrong] = BASES[(np.searchsorted(BASES, assembly[wrong]) + 1) % 4]
(folder / "assembly.fa").write_bytes(b">c\n" + assembly.tobytes() + b"\n")

# %% Estimate the quality. Errors are k-mers of the assembly that are in no read.
table = merganser.count(reads, k=21, min_count=1)
quality = merganser.qv(table, folder / "assembly.fa")
print(quality.to_polars().select("assembly", "qv", "completeness", "only_kmers"))

# %% Map the reads, and find the positions at which most of them differ from the assembly.
with merganser.Index.build(folder / "assembly.fa") as index:
    hits = index.map(reads, e="3%", best=True).to_polars()
operations = (
    hits.select("position", operation=pl.col("cigar").str.extract_all(r"\d+[=XID]"))
    .with_row_index("hit")
    .explode("operation")
    .with_columns(length=pl.col("operation").str.head(-1).cast(pl.UInt32), kind=pl.col("operation").str.tail(1))
    # Insertions have no bases of the assembly.
    .with_columns(bases=pl.when(pl.col("kind") == "I").then(0).otherwise(pl.col("length")))
    .with_columns(at=pl.col("position") + pl.col("bases").cum_sum().over("hit") - pl.col("bases"))
)
differences = operations.filter(kind="X").group_by("at").len().filter(pl.col("len") > 10).sort("at")
print(differences)
assert differences["at"].to_list() == wrong.tolist()
