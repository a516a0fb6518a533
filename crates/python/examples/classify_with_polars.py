"""Classifies reads in a Polars pipeline: `python classify_with_polars.py DATA`, where DATA is the repository's tests/data.

Builds a database of three genomes, classifies reads of these and of another genome, and prints the number of reads per taxon.
"""

# %%
import gzip
import sys
from pathlib import Path

import polars as pl

import merganser

data = Path(sys.argv[1])

# %% Build a database in memory. With output="genomes.mgdb" it would be a file for later runs.
genomes = data / "genomes"
database = merganser.Database.build(genomes, data / "taxonomy", map=genomes / "seqid2taxid.map")

# %% Make reads: pairs of 100 bases, 400 bases apart, of each genome, and reads of a bacterium that is not in the database.
def letters(path: Path) -> bytes:
    with gzip.open(path) as file:
        return b"".join(line.strip() for line in file if not line.startswith(b">"))


firsts, seconds = [], []
for path in sorted(genomes.glob("*.fna.gz")):
    genome = letters(path)
    for at in range(0, len(genome) - 500, 250):
        firsts.append(genome[at : at + 100])
        seconds.append(genome[at + 400 : at + 500])
bacterium = data / "ERR1438863_1.fastq.gz"

# %% Classify sequences in memory, and a file. Polars reads the rows in batches, while reads are classified.
pairs = database.classify(pl.Series(firsts), pl.Series(seconds)).to_polars()
singles = database.classify(bacterium).to_polars()

# %% Print the number of reads of each taxon, their mean number of bases, and the mean hits of their best candidates.
bases = pl.col("length").str.split("|").list.eval(pl.element().cast(pl.UInt32)).list.sum()
print(
    pl.concat([pairs, singles])
    .with_columns(bases=bases)
    .group_by(pl.col("name").fill_null("unclassified"))
    .agg(pl.len().alias("reads"), pl.col("bases").mean().round(1), pl.col("hits").mean().round(1))
    .sort("reads", descending=True)
)
