# The configuration, the samples, and the resources of jobs.
import csv
import os
import re

from snakemake.utils import validate

validate(config, "../schemas/config.schema.yaml")


def read_samples(path):
    with open(path, newline="") as sheet:
        return list(csv.DictReader(sheet, delimiter="\t"))


rows = read_samples(config["samples"])
for row in rows:
    validate(row, "../schemas/samples.schema.yaml")

# The lines of a sample (e.g. several lanes) are combined.
samples = {}
for row in rows:
    samples.setdefault(row["sample"], []).append(row)


def one_of(names):
    """Returns the pattern of a wildcard that is one of these names; it matches nothing if there are no names."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    sample=one_of(samples),
    shard=r"\d+",
    range=r"\d+",
    row=r"\d+",
    batch=r"\d+",
    format="fastq|fasta",


host = config["deplete"]["set"]


def given(row):
    """Returns the files of a line of the table: one, or two of mates."""
    return [name for name in (row["reads_1"], row.get("reads_2")) if name]


def format_of(name):
    """Returns the format of reads by the name of their file: FASTA stays FASTA, as it has no qualities."""
    return "fasta" if re.search(r"\.(fa|fasta|fna|fas)(\.(gz|bgz|zst|bz2|xz|zip))?$", name, re.IGNORECASE) else "fastq"


def files_of(sample):
    """Returns the files of each line of a sample, without the host's reads if there is a set."""
    rows = samples[sample]
    if not host:
        return [given(row) for row in rows]
    name = f"results/deplete/{sample}/"
    mates = lambda row: ("_1", "_2") if len(given(row)) == 2 else ("",)
    return [
        [f"{name}{at}{mate}.{format_of(row['reads_1'])}.gz" for mate in mates(row)] for at, row in enumerate(rows, 1)
    ]


def reads(sample):
    """Returns all files of a sample, without the host's reads if there is a set."""
    return [name for mates in files_of(sample) for name in mates]


def originals(sample):
    """Returns all files of a sample in the table."""
    return [name for row in samples[sample] for name in given(row)]


def gigabytes(files):
    """Returns the size of files on disk. Files that do not exist yet count as 0."""
    return sum(os.path.getsize(file) for file in files if os.path.exists(file)) / 1e9


def shards(sample):
    """Returns the number of shards of a sample, so that each has at most `shard_gigabytes`."""
    return max(1, -int(-gigabytes(originals(sample)) // config["count"]["shard_gigabytes"]))


def by_size(base, per_gigabyte, size):
    """Returns the memory or time of a job for the size of its input in gigabytes, or for its files. It doubles with each retry."""

    def needed(wildcards, attempt):
        of = gigabytes(size(wildcards)) if callable(size) else size
        return int((base + per_gigabyte * of) * 2 ** (attempt - 1))

    return needed


def reads_of(wildcards):
    return reads(wildcards.sample)


def originals_of(wildcards):
    return originals(wildcards.sample)


def row_of(wildcards):
    """Returns the files of a line of a sample in the table."""
    return given(samples[wildcards.sample][int(wildcards.row) - 1])


def assemblies(sample):
    """Returns the assemblies of a sample."""
    named = [row.get("assembly") for row in samples[sample]]
    return list(dict.fromkeys(name for name in named if name))


assembled = [sample for sample in samples if assemblies(sample)]


# The number of GPUs that Slurm or Kubernetes gives to a job. Results do not depend on it.
gpus = config["gpus"]
device = "auto" if gpus else "cpu"


# The samples of each classification job.
database = config["classify"]["database"]
samples_per_job = config["classify"]["samples_per_job"]
names = list(samples)
batches = [names[at : at + samples_per_job] for at in range(0, len(names), samples_per_job)]


def shard_tables(wildcards):
    number = shards(wildcards.sample)
    return expand("results/shards/{{sample}}/{shard}-of-{of}.mgk", shard=range(1, number + 1), of=number)


def range_tables(wildcards):
    number = min(shards(wildcards.sample), config["count"]["ranges"])
    return expand("results/ranges/{{sample}}/{range}-of-{of}.mgk", range=range(1, number + 1), of=number)


def batch_of(wildcards):
    return batches[int(wildcards.batch)]


def reads_of_batch(wildcards):
    return [file for sample in batch_of(wildcards) for file in reads(sample)]


def gigabytes_of_database():
    """Returns the size of the database: a file, or the folder of a Kraken 2 database."""
    if os.path.isdir(database):
        return gigabytes(os.path.join(database, name) for name in os.listdir(database))
    return gigabytes([database])


def data_of_all(wildcards):
    data = expand("results/spectra/{sample}.json", sample=samples)
    if database:
        data += expand("results/classify/{sample}.json", sample=samples)
    if config["map"]["reference"]:
        data += expand("results/map/{sample}.json", sample=samples)
    data += expand("results/qv/{sample}.json", sample=assembled)
    return data


def results():
    wanted = expand("results/counts/{sample}.mgk", sample=samples)
    wanted += expand("results/spectra/{sample}.json", sample=samples)
    if database:
        wanted += expand("results/classify/{sample}.tsv.gz", sample=samples)
    if database and config["classify"]["bracken"]:
        wanted += expand("results/bracken/{sample}.tsv", sample=samples)
    if config["map"]["reference"]:
        wanted += expand("results/map/{sample}.bam", sample=samples)
    wanted += expand("results/qv/{sample}.qv", sample=assembled)
    wanted.append("results/report.html")
    if config["multiqc"]:
        wanted.append("results/multiqc.html")
    return wanted
