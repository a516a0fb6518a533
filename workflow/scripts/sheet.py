# Writes the sample sheet of a job: a line for each pair of files, or each file, of its samples.
import sys

with open(snakemake.log[0], "w") as log:
    sys.stderr = log
    with open(snakemake.output[0], "w") as sheet:
        for row in snakemake.params.rows:
            print(*row, sep="\t", file=sheet)
