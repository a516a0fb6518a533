#!/bin/bash
# Usage: test.sh MERGANSER
# Runs every rule of the wrappers' Snakefiles on the repository's small data, with the program MERGANSER on PATH instead of a
# conda environment. Requires snakemake 9 with its wrapper utilities on PATH (`pip install "snakemake>=9,<10"`).
set -euo pipefail
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "$here/../../tests/data" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin"
ln -s "$program" "$scratch/bin/merganser"
mkdir "$scratch/prefix"
ln -s "$here" "$scratch/prefix/master"
export PATH="$scratch/bin:$PATH" XDG_CACHE_HOME="$scratch/cache"

run() { # WRAPPER OUTPUT...
    local wrapper=$1 folder="$scratch/$1"
    shift
    mkdir -p "$folder/reads"
    cp "$here/bio/merganser/$wrapper/test/Snakefile" "$folder"
    ln -s "$data/ERR1438863_1.fastq.gz" "$folder/reads/sample_1.fastq.gz"
    ln -s "$data/ERR1438863_2.fastq.gz" "$folder/reads/sample_2.fastq.gz"
    ln -s "$data/kraken2" "$folder/kraken2"
    cp "$data/genomes/Escherichia_phage_lambda.fna.gz" "$folder/genome.fna.gz"
    if ! snakemake --directory "$folder" --snakefile "$folder/Snakefile" --cores 2 --quiet all \
        --wrapper-prefix "file://$scratch/prefix/" "$@" > "$folder/log" 2>&1; then
        cat "$folder/log" "$folder"/logs/* >&2
        exit 1
    fi
    for output in "$@"; do
        [[ -s "$folder/$output" ]] || { echo "$wrapper: no $output" >&2; exit 1; }
    done
    echo "$wrapper: ok ($*)"
}

run count "sample.mgk" "sample.hist" "sample.count.json"
run classify "sample.tsv.gz" "sample.kreport" "sample.single.kreport"
run map "sample.bam" "sample.bam.bai" "sample.single.sam"
run qv "sample.qv" "sample.completeness.stats"
