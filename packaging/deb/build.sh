#!/bin/bash
# Usage: build.sh MERGANSER FOLDER
# Makes manual pages and completions with the program MERGANSER, and writes the package to FOLDER. The program must have been
# built on the oldest supported system (`cargo build --release --locked`), or for an old glibc by packaging/tarball.sh.
# Requires cargo-deb and dpkg-shlibdeps (dpkg-dev).
set -euo pipefail
program=$(realpath "$1")
destination=$(mkdir -p "$2" && realpath "$2")
cd "$(dirname "$0")/../.."
target=$PWD/target
mkdir -p "$target/deb/release" "$target/deb/man1"
"$program" man "$target/deb/man1"
"$program" completions bash > "$target/deb/merganser.bash"
"$program" completions zsh > "$target/deb/_merganser"
"$program" completions fish > "$target/deb/merganser.fish"
strip -o "$target/deb/release/merganser" "$program"
chmod 755 "$target/deb/release/merganser"
CARGO_TARGET_DIR=$target/deb cargo deb --package merganser --no-build --output "$destination/"
