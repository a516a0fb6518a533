#!/bin/bash
# Usage: sbom.sh OUT
# Writes the program's bill of materials for x86-64 Linux to OUT, as CycloneDX JSON. Its bytes depend only on the commit, not
# on the folder: it is made twice to check this. It must name every crate from which the program is built, and only crates in
# Cargo.lock. Requires git, python3 and cargo-cyclonedx (`cargo install --locked cargo-cyclonedx`).
set -euo pipefail
out=$(realpath -m "$1")
cd "$(dirname "$0")/.."
target=x86_64-unknown-linux-gnu
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The tool writes beside each manifest, so it runs on a copy, whose path it uses in names.
make() {
    mkdir "$scratch/$1"
    git archive HEAD | tar -x -C "$scratch/$1"
    cargo cyclonedx --quiet --manifest-path "$scratch/$1/crates/merganser/Cargo.toml" --format json --target "$target"
    sed "s#$scratch/$1#/merganser#g" "$scratch/$1/crates/merganser/merganser.cdx.json" > "$scratch/$1.json"
}
make one
make other
cmp "$scratch/one.json" "$scratch/other.json"

cargo tree --locked --package merganser --target "$target" --edges normal,build --prefix none --format '{p}' \
    | awk '{ print $1, substr($2, 2) }' | sort -u > "$scratch/built"
awk -F '"' '/^name/ { name = $2 } /^version = "/ && name { print name, $2; name = "" }' Cargo.lock | sort -u > "$scratch/locked"
python3 - "$scratch/one.json" <<'PYTHON' | sort -u > "$scratch/named"
import json, sys
bill = json.load(open(sys.argv[1]))
assert bill["bomFormat"] == "CycloneDX", bill["bomFormat"]
for part in [bill["metadata"]["component"], *bill["components"]]:
    print(part["name"], part["version"])
PYTHON
if comm -23 "$scratch/built" "$scratch/named" | grep . || comm -23 "$scratch/named" "$scratch/locked" | grep .; then
    echo "sbom.sh: these crates are built but not named, or named but not in Cargo.lock" >&2
    exit 1
fi
install -m 644 "$scratch/one.json" "$out"
echo "$out: $(wc -l < "$scratch/named") crates, of which $(wc -l < "$scratch/built") are built by default"
