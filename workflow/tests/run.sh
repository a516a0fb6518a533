#!/usr/bin/env bash
# Runs the workflow on this machine and on a real Slurm, where a program is killed, a job is cancelled and a node is taken down. The
# results must have the same bytes.
#
#   run.sh MERGANSER [FOLDER]     FOLDER is the working folder; default: a temporary one
#
# Requires snakemake 9 with snakemake-executor-plugin-slurm on PATH, the requirements of slurm.sh, and the repository's tests/data. Without
# Slurm, only the run on this machine is tested.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,9s/^# \?//p' "$0"; exit 2; }
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
workflow=$(dirname "$here")
data=$(cd "$workflow/../tests/data" && pwd)
work=${2:-$(mktemp -d)}
mkdir -p "$work"
[ $# -ge 2 ] || trap 'rm -rf "$work"' EXIT

# Make sure that only this program is used. Jobs of Slurm also find it on PATH.
mkdir -p "$work/bin"
ln -sf "$program" "$work/bin/merganser"
export PATH=$work/bin:$PATH XDG_CACHE_HOME=$work/cache

prepare() { # FOLDER: makes samples, a database and the configuration
  local folder=$1 at
  mkdir -p "$folder"/{config,reads}
  for at in 1 2; do
    # Large enough that a job can be killed while it runs.
    for _ in $(seq 40); do zcat "$data/ERR1438863_$at.fastq.gz"; done >"$folder/reads/whole_$at.fastq"
    cp "$data/ERR1438863_$at.fastq.gz" "$folder/reads/lane_$at.fastq.gz"
    # gzip with several members, which can be divided.
    split -l 40000 --filter 'gzip -1' "$folder/reads/whole_$at.fastq" >"$folder/reads/large_$at.fastq.gz"
    zcat "$data/ERR1438863_$at.fastq.gz" | sed -n '1~4s/^@/>/p; 2~4p' | gzip -1 >"$folder/reads/plain_$at.fa.gz"
  done
  {
    printf 'sample\treads_1\treads_2\tassembly\n'
    printf 'large\treads/large_1.fastq.gz\treads/large_2.fastq.gz\t\nlarge\treads/whole_1.fastq\treads/whole_2.fastq\t\n'
    for at in 1 2; do printf 'small%s\treads/lane_1.fastq.gz\treads/lane_2.fastq.gz\tassembly.fa.gz\n' $at; done
    printf 'single\treads/lane_1.fastq.gz\t\t\nsingle\treads/plain_1.fa.gz\t\t\nsingle\treads/plain_1.fa.gz\treads/plain_2.fa.gz\t\n'
  } >"$folder/config/samples.tsv"
  # The large sample is divided into shards; the small ones are not.
  sed -e 's/shard_gigabytes: .*/shard_gigabytes: 0.03/' -e 's/ranges: .*/ranges: 3/' -e 's/samples_per_job: .*/samples_per_job: 2/' \
    -e 's/threads: 8/threads: 1/' -e 's/database: .*/database: refs.mgdb/' -e 's/bracken: .*/bracken: refs.mgdb.100mers.kmer_distrib/' \
    -e 's/set: .*/set: host.mgd/' -e 's/reference: .*/reference: ref.mgi/' "$workflow/config/config.yaml" >"$folder/config/config.yaml"
  merganser build --quiet --taxonomy "$data/taxonomy" --map "$data/genomes/seqid2taxid.map" --bracken 100 -o "$folder/refs.mgdb" \
    "$data"/genomes/*.fna.gz
  # Any genome is a host, a reference and an assembly here.
  cp "$data/streptococcus/Streptococcus_mitis_NCTC12261.fna.gz" "$folder/assembly.fa.gz"
  merganser deplete index --quiet -o "$folder/host.mgd" "$data/streptococcus/Streptococcus_pneumoniae_NCTC7465.fna.gz"
  merganser index --quiet -o "$folder/ref.mgi" "$folder/assembly.fa.gz"
}

expected() { # FOLDER: checks that all steps have results, and those of single runs of the program
  local results=$1/results sample
  for sample in large small1 small2 single; do
    ls "$results"/{counts/$sample.mgk,classify/$sample.kreport,bracken/$sample.tsv,map/$sample.bam,map/$sample.bam.bai} >/dev/null
  done
  ls "$results"/qv/small{1,2}.qv "$results"/deplete/large/{1,2}_{1,2}.fastq.gz "$results"/deplete/single/{1.fastq,2.fasta,3_1.fasta,3_2.fasta}.gz \
    >/dev/null
  [ ! -e "$results/qv/large.qv" ] || { echo "small samples only have assemblies"; exit 1; }
  merganser deplete filter --quiet "$1/host.mgd" -1 "$1/reads/lane_1.fastq.gz" -2 "$1/reads/lane_2.fastq.gz" -o "$work/kept_#.fastq.gz"
  cmp "$work/kept_1.fastq.gz" "$results/deplete/small1/1_1.fastq.gz"
  cmp "$work/kept_2.fastq.gz" "$results/deplete/small1/1_2.fastq.gz"
  ls "$work"/kept_?.fastq.gz >"$work/kept"
  merganser kmers qv --quiet --no-plots -k 21 -o "$work/one" "@$work/kept" "$1/assembly.fa.gz"
  cmp "$work/one.qv" "$results/qv/small1.qv"
}

run() { # FOLDER PROFILE OPTIONS...: runs the workflow
  local folder=$1 profile=$2
  shift 2
  snakemake --snakefile "$workflow/Snakefile" --directory "$folder" --profile "$workflow/profiles/$profile" --quiet rules "$@" \
    >"$folder/snakemake.log" 2>&1 || { tail -50 "$folder/snakemake.log"; exit 1; }
}

shard_count() { # FOLDER: prints a process that counts a shard in FOLDER; not one of another test that runs beside this one
  local pid
  for pid in $(pgrep -f '^merganser count .*--shard '); do
    [ ! "/proc/$pid/cwd" -ef "$1" ] || { echo "$pid"; return; }
  done
  return 1
}

sabotage() { # FOLDER: kills a program, cancels a job and takes a node down, once each. Logs it to FOLDER/sabotage.
  local folder=$1 pid job
  # Kill a count of a shard without a chance to clean up; try another one if it has just ended.
  until pid=$(shard_count "$folder") && sleep 0.03 && kill -KILL "$pid" 2>/dev/null; do sleep 0.02; done
  echo "killed: merganser count --shard" >>"$folder/sabotage"
  until job=$(squeue -h -t R -o %i | head -1) && [ -n "$job" ]; do sleep 0.02; done
  scancel "$job" && echo "cancelled: job $job" >>"$folder/sabotage"
  until [ -n "$(squeue -h -t R -w node2 -o %i)" ]; do sleep 0.02; done
  scontrol update nodename=node2 state=down reason=test && echo "down: node2" >>"$folder/sabotage"
  sleep 10
  scontrol update nodename=node2 state=resume 2>/dev/null || true
}

echo "lint"
prepare "$work/local"
snakemake --snakefile "$workflow/Snakefile" --directory "$work/local" --lint >"$work/lint" 2>&1 || { cat "$work/lint"; exit 1; }

echo "a configuration of an earlier version"
mkdir -p "$work/earlier/config"
ln -s "$work/local/reads" "$work/local/refs.mgdb" "$work/earlier/"
cut -f 1-3 "$work/local/config/samples.tsv" >"$work/earlier/config/samples.tsv"
cat >"$work/earlier/config/config.yaml" <<'CONFIG'
samples: config/samples.tsv
count: {k: 21, min_count: 2, ploidy: 2, threads: 1, shard_gigabytes: 50, ranges: 16}
classify: {database: refs.mgdb, threads: 1, samples_per_job: 2}
gpus: 0
multiqc: false
CONFIG
run "$work/earlier" local --cores 2 --dry-run
[ -z "$(find "$work/earlier" -name deplete -o -name bracken)" ]

echo "on this machine"
run "$work/local" local --cores 2
expected "$work/local"
# Compare the divided sample with an undivided count.
same_count() { # FOLDER
  merganser count --quiet -k 21 -o "$work/whole.mgk" --histogram "$work/whole.hist" "$1"/results/deplete/large/*.fastq.gz
  cmp "$work/whole.mgk" "$1/results/counts/large.mgk"
  cmp "$work/whole.hist" "$1/results/counts/large.hist"
}
same_count "$work/local"
if ! command -v slurmctld >/dev/null; then
  echo "without Slurm, which is not installed"
  [ "${CI:-}" != true ] || exit 1
  exit
fi

echo "on Slurm, with jobs killed and a node lost"
prepare "$work/slurm"
"$here/slurm.sh" up "$work/cluster" >/dev/null
trap '"$here/slurm.sh" down "$work/cluster"; [ $# -ge 2 ] || rm -rf "$work"' EXIT
# shellcheck disable=SC1091
source "$work/cluster/environment"
sabotage "$work/slurm" &
# Stop the saboteur at exit, even if the jobs that it waits for never start.
saboteur=$!
trap 'kill $saboteur 2>/dev/null || true; "$here/slurm.sh" down "$work/cluster"; [ $# -ge 2 ] || rm -rf "$work"' EXIT
run "$work/slurm" slurm --slurm-init-seconds-before-status-checks 2 --seconds-between-status-checks 2 --latency-wait 5 \
  --slurm-status-command squeue --default-resources slurm_partition=test mem_mb=2000 runtime=30
# The saboteur needs ten more seconds after its last action. It may also wait for jobs that are already over.
for _ in $(seq 150); do kill -0 "$saboteur" 2>/dev/null || break; sleep 0.1; done
cat "$work/slurm/sabotage"
[ "$(wc -l <"$work/slurm/sabotage")" = 3 ] || { echo "not all failures were caused"; exit 1; }

echo "the same bytes"
# A killed program leaves an incomplete file, whose name is not that of a result.
find "$work/slurm/results" -name '.merganser-*' -delete
find "$work/slurm/results" -type d -empty -delete
diff -r "$work/local/results" "$work/slurm/results"
same_count "$work/slurm"
echo "ok"
