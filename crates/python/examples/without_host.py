"""Removes a host's reads and reports the taxa of the rest: `python without_host.py DATA FOLDER`, where DATA is the repository's tests/data.

Takes the phage lambda as the host. Makes reads of all genomes, removes those of the host, classifies the others, and writes the text of a
Krona chart to FOLDER.
"""

# %%
import gzip
import sys
from pathlib import Path

import merganser

data, folder = map(Path, sys.argv[1:])
genomes = data / "genomes"

# %% Make a file of reads of 100 bases of each genome.
reads = folder / "reads.fa"
with reads.open("wb") as file:
    for path in sorted(genomes.glob("*.fna.gz")):
        with gzip.open(path) as lines:
            genome = b"".join(line.strip() for line in lines if not line.startswith(b">"))
        for at in range(0, len(genome) - 100, 150):
            file.write(b">%s:%d\n%s\n" % (path.stem.encode(), at, genome[at : at + 100]))

# %% Remove the reads of the host. With output="host.mgd", the set would be a file for later runs.
with merganser.MinimizerSet.build(genomes / "Escherichia_phage_lambda.fna.gz") as host:
    numbers = host.filter(reads, output=folder / "clean.fa")
print(f"{numbers['kept_reads']} of {numbers['reads']} reads are not the host's")

# %% Classify the others. The lines of reads are compressed, because of the name of the file.
with merganser.Database.build(genomes, data / "taxonomy", map=genomes / "seqid2taxid.map") as database:
    report = database.classify_to(folder / "clean.fa", output=folder / "lines.tsv.gz", report=folder / "sample.kreport")

# %% Print the species, and write the input of Krona's ktImportText.
print(report.filter(rank="S").rows.to_polars().filter(rank="S").select("name", "clade_reads", "percent"))
(folder / "sample.krona").write_text(report.krona())

# %% Write the reads of the largest species to a file of their own.
largest = max((row for row in report.rows if row.rank == "S"), key=lambda row: row.clade_reads)
found = merganser.extract(
    folder / "lines.tsv.gz",
    folder / "clean.fa",
    largest.taxid,
    output=folder / "largest.fa",
    include_children=True,
    report=report,
)
print(f"{found['extracted']} reads of {largest.name}")
