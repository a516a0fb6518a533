#!/bin/bash
# Runs fuzz targets (all if none is given) one after the other, from their corpus and seeds, and prints a row for each. The exit code
# is 1 if there are findings, which are written to fuzz/artifacts/TARGET.
# Usage: run.sh SECONDS [TARGET…], after build.sh. FUZZ_TARGETS is another folder of built targets.
set -euo pipefail
cd "$(dirname "$0")"
built=${FUZZ_TARGETS:-target/x86_64-unknown-linux-gnu/release}
seconds=$1
shift
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
    for source in fuzz_targets/*.rs; do targets+=("$(basename "$source" .rs)"); done
fi

# The maximum length of inputs: enough to reach every branch. Longer inputs take more time.
longest() {
    case $1 in
        count | mgk_changed | pieces) echo 256 ;;
        mgdb | mgi | kraken2 | partial | kmc | fastk | meryl | mgd | search) echo 1024 ;;
        *) echo 4096 ;;
    esac
}

# Runs target $1 with log $2. Two checks are off: libdeflate has the same tables in two objects, and leaks at exit are harmless.
fuzz() {
    ASAN_OPTIONS=detect_odr_violation=0:detect_leaks=0:allocator_may_return_null=1 \
        "$built/$1" "corpus/$1" "seeds/$1" -artifact_prefix="artifacts/$1/" -max_total_time="$seconds" \
        -max_len="$(longest "$1")" -rss_limit_mb=2000 -malloc_limit_mb=2000 -timeout=20 -print_final_stats=1 \
        ${FUZZ_ARGUMENTS:-} >"$2" 2>&1
}

found=0
TIMEFORMAT='%R %U %S'
echo "| target | seconds | CPU seconds | executions | per CPU second |"
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
