#!/usr/bin/env bash
# Builds a wheel with the CUDA code of all architectures, for systems with glibc 2.31 or later. Run it as root. It builds in a root
# file system of Debian 11 (`debootstrap --variant=minbase bullseye ROOT`), where it installs g++. Requires Rust (rustup), CUDA_HOME,
# and maturin and auditwheel in the active Python environment.
#
# manylinux-cuda.sh FOLDER ROOT
set -euo pipefail
out=$(mkdir -p "$1" && cd "$1" && pwd)
root=$(cd "$2" && pwd)
cd "$(dirname "$0")/../.."
commit=$(git rev-parse --short=12 HEAD)
toolchain=$(rustc --print sysroot)
cuda=$(cd "$CUDA_HOME" && pwd)
chroot "$root" sh -c 'command -v g++ || (apt-get -q update && apt-get -q install -y --no-install-recommends g++ ca-certificates)'
cargo vendor --locked target/vendor > target/vendor.toml 2> target/vendor.log || (cat target/vendor.log >&2 && false)

mounted=()
finish() {
  for folder in "${mounted[@]}"; do umount "$folder"; done
}
trap finish EXIT
bind() { # SOURCE TARGET
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  mounted+=("$root$2")
}
# The toolchain finds its libraries through /proc.
bind /proc /proc
bind /dev /dev
bind "$toolchain" /rust
bind "$cuda" /cuda
bind "$PWD/target/vendor" /vendor
rm -rf "$root/src" "$root/build" && mkdir -p "$root/src" "$root/build" "$root/wheels"
git archive HEAD | tar -x -C "$root/src"
mkdir -p "$root/src/.cargo"
sed 's|directory = .*|directory = "/vendor"|' target/vendor.toml > "$root/src/.cargo/config.toml"
install -m 755 "$(command -v maturin)" "$root/usr/local/bin/maturin"
# shellcheck disable=SC2016
chroot "$root" env -i PATH=/rust/bin:/usr/local/bin:/usr/bin:/bin HOME=/root CUDA_HOME=/cuda CARGO_TARGET_DIR=/build MERGANSER_COMMIT="$commit" \
  ${MERGANSER_CUDA_ARCH:+MERGANSER_CUDA_ARCH="$MERGANSER_CUDA_ARCH"} bash -euo pipefail -c '
    cd /src
    cargo build --release --locked --offline --package merganser --bin merganser --features merganser/cuda
    mkdir -p crates/python/merganser.data/scripts
    install -m 755 /build/release/merganser crates/python/merganser.data/scripts/merganser
    strip crates/python/merganser.data/scripts/merganser
    cd crates/python
    maturin build --release --locked --offline --strip --features cuda --compatibility manylinux_2_31 --out /wheels'
mv "$root"/wheels/merganser-*.whl "$out"
auditwheel show "$out"/merganser-*manylinux_2_31*.whl
