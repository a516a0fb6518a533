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
    batch=r"\d+",


def reads(sample):
    """Returns all files of a sample."""
    names = [(row["reads_1"], row.get("reads_2")) for row in samples[sample]]
    return [name for mates in names for name in mates if name]


def gigabytes(files):
    """Returns the size of files on disk. Files that do not exist yet count as 0."""
    return sum(os.path.getsize(file) for file in files if os.path.exists(file)) / 1e9


def shards(sample):
    """Returns the number of shards of a sample, so that each has at most `shard_gigabytes`."""
    return max(1, -int(-gigabytes(reads(sample)) // config["count"]["shard_gigabytes"]))


def by_size(base, per_gigabyte, size):
    """Returns the memory or time of a job for the size of its input in gigabytes, or for its files. It doubles with each retry."""

    def needed(wildcards, attempt):
        of = gigabytes(size(wildcards)) if callable(size) else size
        return int((base + per_gigabyte * of) * 2 ** (attempt - 1))

    return needed


def reads_of(wildcards):
    return reads(wildcards.sample)


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
    return data


def results():
    wanted = expand("results/counts/{sample}.mgk", sample=samples)
    wanted += expand("results/spectra/{sample}.json", sample=samples)
    if config["classify"]["database"]:
        wanted += expand("results/classify/{sample}.tsv.gz", sample=samples)
    wanted.append("results/report.html")
    if config["multiqc"]:
        wanted.append("results/multiqc.html")
    return wanted
