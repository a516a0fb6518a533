# Configuration, samples, and what jobs need.
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

# Lines of one sample, as of several lanes, belong together.
samples = {}
for row in rows:
    samples.setdefault(row["sample"], []).append(row)


def one_of(names):
    """What a wildcard may be; of no names nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    sample=one_of(samples),
    shard=r"\d+",
    range=r"\d+",
    batch=r"\d+",


def reads(sample):
    """All files of a sample."""
    names = [(row["reads_1"], row.get("reads_2")) for row in samples[sample]]
    return [name for mates in names for name in mates if name]


def gigabytes(files):
    """What files take on disk; as nothing what does not exist yet."""
    return sum(os.path.getsize(file) for file in files if os.path.exists(file)) / 1e9


def shards(sample):
    """Shards that a sample is counted in: as many as it takes to have `shard_gigabytes` in each."""
    return max(1, -int(-gigabytes(reads(sample)) // config["count"]["shard_gigabytes"]))


def by_size(base, per_gigabyte, size):
    """Memory or time by the gigabytes of the input, or its files; more each time that a job is tried again."""

    def needed(wildcards, attempt):
        of = gigabytes(size(wildcards)) if callable(size) else size
        return int((base + per_gigabyte * of) * 2 ** (attempt - 1))

    return needed


def reads_of(wildcards):
    return reads(wildcards.sample)


# Slurm and Kubernetes give a job so many GPUs; what a job does is the same without.
gpus = config["gpus"]
device = "auto" if gpus else "cpu"


# What a classifying job does at once.
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
    """A file, or Kraken 2's folder."""
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
