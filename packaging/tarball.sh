#!/bin/bash
# Usage: tarball.sh FOLDER
# Writes merganser-VERSION-PROCESSOR-linux.tar.gz and SHA256SUMS to FOLDER: the program of the current commit, for glibc 2.17 and
# later. The same commit and tools give the same bytes. MERGANSER_PROGRAM names a program that was built in this way before,
# and skips the build. MERGANSER_TARGET is the target, such as aarch64-unknown-linux-gnu; without it, this machine's.
# Requires git, GNU tar, gzip, binutils (readelf), Rust with the target, and cargo-zigbuild with zig (`pip install ziglang
# cargo-zigbuild`, with their folder on PATH); for another processor also its binutils and qemu.
set -euo pipefail
destination=$(mkdir -p "$1" && realpath "$1")
root=$(cd "$(dirname "$0")/.." && pwd)
glibc=2.17
# shellcheck source=packaging/target.sh
source "$root/packaging/target.sh"
cd "$root"
if [[ -n "$(git status --porcelain --untracked-files=no)" ]]; then
    echo "tarball.sh: commit the changes first: an archive is made from a commit" >&2
    exit 1
fi
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
name="merganser-$version-$processor-linux"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

program=${MERGANSER_PROGRAM:-}
if [[ -z "$program" ]]; then
    # shellcheck source=packaging/flags.sh
    source "$root/packaging/flags.sh"
    MERGANSER_COMMIT=$(git rev-parse --short=12 HEAD) cargo zigbuild --release --locked --package merganser --target "$target.$glibc"
    program="${CARGO_TARGET_DIR:-target}/$target/release/merganser"
fi
if [[ "$("${emulator[@]}" "$program" --version | head -n 1)" != "merganser $version" ]]; then
    echo "tarball.sh: $program is not merganser $version: build it again" >&2
    exit 1
fi
newest=$(readelf --version-info "$program" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -Vu | tail -n 1)
if [[ "$(printf '%s\n' "$newest" "$glibc" | sort -V | tail -n 1)" != "$glibc" ]]; then
    echo "tarball.sh: $program needs glibc $newest, which is newer than $glibc" >&2
    exit 1
fi

folder="$scratch/$name"
mkdir -p "$folder/bin" "$folder/share/man/man1" "$folder/share/bash-completion/completions" \
    "$folder/share/zsh/site-functions" "$folder/share/fish/vendor_completions.d"
install -m 755 "$program" "$folder/bin/merganser"
"$strip" "$folder/bin/merganser"
"${emulator[@]}" "$program" man "$folder/share/man/man1"
"${emulator[@]}" "$program" completions bash > "$folder/share/bash-completion/completions/merganser"
"${emulator[@]}" "$program" completions zsh > "$folder/share/zsh/site-functions/_merganser"
"${emulator[@]}" "$program" completions fish > "$folder/share/fish/vendor_completions.d/merganser.fish"
install -m 644 README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE CITATION.cff "$folder"
(cd "$folder" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum > SHA256SUMS)
chmod -R u=rwX,go=rX "$folder"
tar --create --directory "$scratch" --sort=name --format=ustar --owner=0 --group=0 --numeric-owner \
    --mtime="@$SOURCE_DATE_EPOCH" "$name" | gzip --no-name -9 > "$scratch/$name.tar.gz"
mv "$scratch/$name.tar.gz" "$destination/"
(cd "$destination" && sha256sum "$name.tar.gz" > SHA256SUMS && cat SHA256SUMS)
