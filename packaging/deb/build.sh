#!/bin/bash
# Needs cargo-deb and dpkg-shlibdeps (dpkg-dev); a program built on the oldest system that the package is for:
# `cargo build --release --locked` or, for old glibc, that of packaging/tarball.sh.
# Usage: build.sh MERGANSER FOLDER. Makes pages and completions by the program MERGANSER, and writes the package
# to FOLDER.
set -euo pipefail
program=$(realpath "$1")
destination=$(mkdir -p "$2" && realpath "$2")
cd "$(dirname "$0")/../.."
target=$PWD/target
mkdir -p "$target/release" "$target/deb/man1"
"$program" man "$target/deb/man1"
"$program" completions bash > "$target/deb/merganser.bash"
"$program" completions zsh > "$target/deb/_merganser"
"$program" completions fish > "$target/deb/merganser.fish"
[[ "$program" -ef "$target/release/merganser" ]] || install -m 755 "$program" "$target/release/merganser"
CARGO_TARGET_DIR=$target cargo deb --package merganser --no-build --output "$destination/"
