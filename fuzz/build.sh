#!/bin/bash
# Builds all fuzz targets with the stable compiler, guided by coverage; with an argument `address`, under
# AddressSanitizer, too: the Rust crates, and the libraries in C that they bring along.
# Usage: build.sh [address]. To fuzz/target, or fuzz/target/address.
set -euo pipefail
cd "$(dirname "$0")"
host=x86_64-unknown-linux-gnu
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 \
-Cdebug-assertions=on -Coverflow-checks=on --cfg fuzzing"
export CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
if [[ "${1:-}" == address ]]; then
    # Sanitizers are unstable; nothing else of what the variable allows is used.
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="$RUSTFLAGS -Zsanitizer=address"
    # gcc's calls are those of LLVM's runtime, which rustc links. libFuzzer must not be instrumented.
    export CFLAGS_x86_64_unknown_linux_gnu="-fsanitize=address -fno-omit-frame-pointer"
    exec cargo build --release --target "$host" --target-dir target/address
fi
exec cargo build --release --target "$host"
