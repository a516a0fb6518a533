#!/bin/bash
# Builds all fuzz targets with coverage instrumentation, with the stable compiler. With the argument `address`, the Rust crates and
# the C libraries that they contain are also instrumented for AddressSanitizer.
# Usage: build.sh [address]. Builds in fuzz/target or fuzz/target/address.
set -euo pipefail
cd "$(dirname "$0")"
host=x86_64-unknown-linux-gnu
export RUSTFLAGS="-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 \
-Cdebug-assertions=on -Coverflow-checks=on --cfg fuzzing"
# The device of `device_text` is emulated.
export MERGANSER_EMULATE_CUDA=1
export CARGO_INCREMENTAL=0 CARGO_PROFILE_RELEASE_DEBUG=line-tables-only
if [[ "${1:-}" == address ]]; then
    # Sanitizers are an unstable feature. No other unstable feature is used.
    export RUSTC_BOOTSTRAP=1 RUSTFLAGS="$RUSTFLAGS -Zsanitizer=address"
    # gcc generates calls of the LLVM run-time library, which rustc links. libFuzzer must not be instrumented.
    export CFLAGS_x86_64_unknown_linux_gnu="-fsanitize=address -fno-omit-frame-pointer"
    exec cargo build --release --target "$host" --target-dir target/address
fi
exec cargo build --release --features device --target "$host"
