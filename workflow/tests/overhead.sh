#!/usr/bin/env bash
# Measures the overhead of the workflow: runs it for SAMPLES samples with a program that only creates empty outputs.
#
#   overhead.sh SAMPLES [FOLDER]     FOLDER is the working folder; default: a temporary one
#
# Requires snakemake 9 on PATH. Prints the number of jobs, and wall and CPU seconds of planning and of a run on two cores.
set -euo pipefail
[ $# -ge 1 ] || { sed -n '2,6s/^# \?//p' "$0"; exit 2; }
number=$1
workflow=$(cd "$(dirname "$0")/.." && pwd)
work=${2:-$(mktemp -d)}
[ $# -ge 2 ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{bin,config}
export XDG_CACHE_HOME=$work/cache PATH=$work/bin:$PATH

# Creates the files that a command of the program would write.
cat >"$work/bin/merganser" <<'END'
#!/bin/sh
sheet= outputs= sections= taxa=false
while [ $# -gt 0 ]; do
  case $1 in
    -o | --histogram | --report | --report-data) outputs="$outputs $2"; shift ;;
    --multiqc) sections=$2; shift ;;
    --sample-sheet) sheet=$2; shift ;;
    classify) taxa=true ;;
  esac
  shift
done
what=spectrum
$taxa && what=taxa
[ -z "$sections" ] || outputs="$outputs ${sections}.merganser_${what}_mqc.json ${sections}.merganser_${what}_stats_mqc.json"
for output in $outputs; do
  case $output in
    *{}*) for sample in $(cut -f 1 "$sheet" | sort -u); do : >"${output%%\{\}*}$sample${output#*\{\}}"; done ;;
    *) : >"$output" ;;
  esac
done
END
chmod +x "$work/bin/merganser"
touch "$work/reads.fastq" "$work/refs.mgdb"
{
  printf 'sample\treads_1\treads_2\n'
  for at in $(seq "$number"); do printf 's%s\treads.fastq\t\n' "$at"; done
} >"$work/config/samples.tsv"
sed -e 's/threads: 8/threads: 1/' -e 's/database: .*/database: refs.mgdb/' -e 's/multiqc: .*/multiqc: false/' \
  "$workflow/config/config.yaml" >"$work/config/config.yaml"

measure() { # NAME OPTIONS...
  local name=$1 TIMEFORMAT='%R s wall, %U s user, %S s system'
  shift
  printf '%s: ' "$name"
  { time snakemake --snakefile "$workflow/Snakefile" --directory "$work" --profile "$workflow/profiles/local" --quiet rules "$@" \
    >"$work/log" 2>&1 || { tail -30 "$work/log"; exit 1; }; } 2>&1
}
measure "planning $number samples" --dry-run --cores 2
measure "running $number samples" --cores 2
grep -Eo '^[0-9]+ of [0-9]+ steps' "$work/log" | tail -1
