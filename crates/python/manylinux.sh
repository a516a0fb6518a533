#!/usr/bin/env bash
# Builds a wheel of the package and the program without CUDA, for systems with glibc 2.17 or later (manylinux2014), in the folder
# given as argument. MERGANSER_PROGRAM names a program that was built in this way before. MERGANSER_TARGET is the target, such as
# aarch64-unknown-linux-gnu; without it, this machine's. Requires cargo-zigbuild, and maturin, ziglang and auditwheel in the
# active Python environment.
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$(dirname "$0")/../.."
# shellcheck source=packaging/target.sh
source packaging/target.sh
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/target/zig}
export MERGANSER_COMMIT
MERGANSER_COMMIT=$(git rev-parse --short=12 HEAD)
program=${MERGANSER_PROGRAM:-$CARGO_TARGET_DIR/$target/release/merganser}
if [[ -z "${MERGANSER_PROGRAM:-}" ]]; then
  cargo zigbuild --release --locked --package merganser --bin merganser --target "$target.2.17"
fi
unset MERGANSER_PROGRAM
scripts=crates/python/merganser.data/scripts
mkdir -p "$scripts"
trap 'rm -rf crates/python/merganser.data' EXIT
install -m 755 "$program" "$scripts/merganser"
"$strip" "$scripts/merganser"
cd crates/python
maturin build --release --locked --zig --target "$target" --compatibility manylinux2014 --out "$out"
auditwheel show "$out"/merganser-*"${target%%-*}".whl
