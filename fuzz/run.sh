#!/bin/bash
# Runs fuzz targets (all of them if none is named), one after the other, from their corpus and seeds,
# and prints a row for each. Exit code 1 if one found something: it is in fuzz/artifacts/TARGET.
# Usage: run.sh SECONDS [TARGET…], after build.sh. FUZZ_TARGETS names another folder of built targets.
set -euo pipefail
cd "$(dirname "$0")"
built=${FUZZ_TARGETS:-target/x86_64-unknown-linux-gnu/release}
seconds=$1
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for source in fuzz_targets/*.rs; do targets+=("$(basename "$source" .rs)"); done
fi

# Longest inputs: what reaches every branch, and no more, as longer ones take longer.
longest() {
    case $1 in
        count | mgk_changed | pieces) echo 256 ;;
        mgdb | mgi | kraken2 | partial | kmc | fastk | meryl | mgd) echo 1024 ;;
        *) echo 4096 ;;
    esac
}

# The log goes to $2. libdeflate has tables in two objects; what a run leaves behind at its end is no fault.
fuzz() {
    ASAN_OPTIONS=detect_odr_violation=0:detect_leaks=0:allocator_may_return_null=1 \
        "$built/$1" "corpus/$1" "seeds/$1" -artifact_prefix="artifacts/$1/" -max_total_time="$seconds" \
        -max_len="$(longest "$1")" -rss_limit_mb=2000 -malloc_limit_mb=2000 -timeout=20 -print_final_stats=1 \
        ${FUZZ_ARGUMENTS:-} >"$2" 2>&1
}

found=0
TIMEFORMAT='%R %U %S'
echo "| target | seconds | of a core | executions | a core's second |"
echo "|---|---:|---:|---:|---:|"
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    log=artifacts/$target/last.log
    { time fuzz "$target" "$log" || touch "$log.found"; } 2>"$log.time"
    if [ -e "$log.found" ]; then
        rm "$log.found"
        echo "$target: see fuzz/$log" >&2
        found=1
    fi
    awk -v target="$target" '/number_of_executed_units/ { n = $2 } FILENAME ~ /time$/ { wall = $1; core = $2 + $3 }
        END { printf "| `%s` | %d | %.1f | %d | %d |\n", target, wall, core, n, n / core }' "$log" "$log.time"
done
exit $found
