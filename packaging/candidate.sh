#!/bin/bash
# Usage: candidate.sh FOLDER ROOTS
# Builds the artefacts of a release candidate from the current commit in FOLDER: archive, Debian package, wheel, OCI image, source
# archive, recipes, bill of materials, checksums. Then installs each into an empty root or environment and runs it there. The version
# is that of Cargo.toml. Prints a line for each step, and those that were not run with the reason; logs are in FOLDER/logs. Exit code
# 1 if a step fails.
#
# ROOTS is a folder for the Debian roots `bullseye` and `bookworm`, which are made by debootstrap if they are missing.
# MERGANSER_PROGRAM names a program that tarball.sh or this script built before, and MERGANSER_WHEEL a wheel: they are not built
# again. Must be run by root, with the tools of RELEASING.md on PATH; steps whose tools are missing are not run.
set -euo pipefail
(($# == 2)) || { sed -n 's/^# //p' "$0" | head -n 5 >&2; exit 2; }
out=$(mkdir -p "$1" && realpath "$1")
roots=$(mkdir -p "$2" && realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$root/Cargo.toml" | head -n 1)
logs=$out/logs
mkdir -p "$logs"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$root"
if [[ -n "$(git status --porcelain --untracked-files=no)" ]]; then
    echo "candidate.sh: commit the changes first: a candidate is made from a commit" >&2
    exit 1
fi
# The wheel and the program are built with the same flags, so that their crates are compiled once.
# shellcheck source=packaging/flags.sh
source "$here/flags.sh"
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$root/target/zig}
failed=0
left_out=()

# Returns whether a tool is installed: a command, or `python3:MODULE`.
installed() {
    case $1 in
        python3:*) python3 -c "import ${1#*:}" 2> /dev/null ;;
        *) command -v "$1" > /dev/null ;;
    esac
}

# Runs a step: NAME TOOLS COMMAND... Without one of its tools, it is not run. A command in a condition would ignore `set -e`.
step() {
    local name=$1 tools=$2 tool status begun=$SECONDS
    shift 2
    for tool in $tools; do
        if ! installed "$tool"; then
            left_out+=("$name: $tool is not installed")
            return
        fi
    done
    set +e
    (
        set -euo pipefail
        "$@"
    ) > "$logs/$name.log" 2>&1
    status=$?
    set -e
    if ((status == 0)); then
        printf '%-22s ok      %4d s\n' "$name" $((SECONDS - begun))
    else
        printf '%-22s FAILED  %4d s  %s\n' "$name" $((SECONDS - begun)) "$logs/$name.log"
        failed=1
    fi
}

# Checks that a program or library exists and is stripped.
stripped() {
    local sections
    sections=$(readelf --wide --section-headers "$1") || return 1
    if grep -qE ' \.(symtab|debug_info) ' <<< "$sections"; then
        echo "candidate.sh: $1 is not stripped" >&2
        return 1
    fi
}

# Checks that a program has all features of the packages.
complete() {
    local report
    report=$("$@" --version --verbose) || return 1
    echo "$report"
    grep -q '^features: .*+cram +parquet' <<< "$report"
}

# Makes a root by debootstrap, if it is missing. While debootstrap runs, or if it fails, there is a folder `debootstrap` in it.
make_root() {
    [[ ! -x "$roots/$1/bin/sh" || -e "$roots/$1/debootstrap" ]] || return 0
    if [[ -e "$roots/$1" ]]; then
        echo "candidate.sh: $roots/$1 is not a complete root: remove it" >&2
        return 1
    fi
    rm -rf --one-file-system "$roots/$1.part"
    debootstrap --variant=minbase "$1" "$roots/$1.part"
    mv -T "$roots/$1.part" "$roots/$1"
}

archive() {
    "$here/tarball.sh" "$out"
    tar -xzf "$out/merganser-$version-x86_64-linux.tar.gz" -C "$scratch"
    stripped "$program"
    complete "$program"
}

debian_package() {
    "$here/deb/build.sh" "$program" "$out"
    dpkg-deb --fsys-tarfile "$deb" | tar -xO ./usr/bin/merganser > "$scratch/of-package"
    stripped "$scratch/of-package"
}

wheel() {
    if [[ -n "${MERGANSER_WHEEL:-}" ]]; then
        [[ "$MERGANSER_WHEEL" -ef "$out/$(basename "$MERGANSER_WHEEL")" ]] || cp "$MERGANSER_WHEEL" "$out/"
    else
        MERGANSER_PROGRAM=$program "$root/crates/python/manylinux.sh" "$out"
    fi
}

wheel_check() {
    local environment=$scratch/environment file
    python3 -m venv "$environment"
    # Whatever the package needs must be in the wheel.
    "$environment/bin/pip" install --no-index --no-deps "$out"/merganser-"$version"-*.whl
    complete "$environment/bin/merganser"
    file=$(find "$environment" -name '_core*.so')
    stripped "$file"
    stripped "$environment/bin/merganser"
    (cd "$scratch" && env -i PATH="$environment/bin:/usr/bin:/bin" python - "$root/tests/data/ERR1438863_1.fastq.gz" "$version") <<'PYTHON'
import sys

import merganser

table = merganser.count(sys.argv[1], 21)
assert merganser.__version__ == sys.argv[2], merganser.__version__
print(len(table), "k-mers")
assert len(table) > 0
PYTHON
}

# check.py needs packages of planemo, which may be in an environment of its own.
galaxy_check() {
    local python
    python=$(dirname "$(realpath "$(command -v planemo)")")/python
    "$python" "$here/galaxy/check.py" "$program"
}

source_archive() {
    git archive --format=tar --prefix="merganser-$version/" HEAD | gzip --no-name -9 > "$out/merganser-$version-source.tar.gz"
}

recipes() {
    local sum missing
    rm -rf "$out/recipes"
    mkdir -p "$out/recipes"
    cp -r "$here/bioconda" "$here/nf-core" "$here/galaxy" "$here/snakemake" "$out/recipes/"
    # grep's exit code is 1 if no file has the version.
    missing=$(grep -LF "$version" "$out"/recipes/{bioconda/meta.yaml,galaxy/tools/merganser/macros.xml,nf-core/modules/nf-core/merganser/*/environment.yml}) || (($? == 1))
    if [[ -n "$missing" ]]; then
        printf 'candidate.sh: these files do not have the version %s:\n%s\n' "$version" "$missing" >&2
        return 1
    fi
    # `conda build recipes/bioconda` works before there is a tag.
    sum=$(sha256sum < "$out/merganser-$version-source.tar.gz" | cut -d ' ' -f 1)
    sed -i "s|^  url: .*|  url: file://$out/merganser-$version-source.tar.gz|; s|^  sha256: .*|  sha256: \"$sum\"|; /does not exist before the release/d" \
        "$out/recipes/bioconda/meta.yaml"
}

checksums() {
    cd "$out"
    find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum > SHA256SUMS
    sha256sum -c SHA256SUMS
}

program=$scratch/merganser-$version-x86_64-linux/bin/merganser
deb=$out/merganser_$version-1_amd64.deb
image=$out/merganser-$version-oci.tar

echo "merganser $version, commit $(git rev-parse --short=12 HEAD)"
if [[ -n "${MERGANSER_PROGRAM:-}" ]]; then
    step archive "readelf strip" archive
else
    step archive "cargo-zigbuild readelf strip" archive
fi
if [[ ! -x "$program" ]]; then
    cat "$logs/archive.log" >&2 2> /dev/null || echo "candidate.sh: ${left_out[*]}" >&2
    exit 1
fi
step source-archive git source_archive
step recipes sha256sum recipes
step bill-of-materials cargo-cyclonedx "$here/sbom.sh" "$out/merganser-$version.cdx.json"
step deb "cargo-deb dpkg-shlibdeps" debian_package
step root-bullseye debootstrap make_root bullseye
step root-bookworm debootstrap make_root bookworm
step image "" "$here/oci/build.sh" "$program" "$roots/bookworm" "$image"

step archive-check "" "$here/tarball-check.sh" "$program" "$roots/bullseye"
step deb-check cargo-deb "$here/deb/check.sh" "$deb" "$roots/bookworm"
step image-check "" "$here/oci/check.sh" "$image"
step bioconda-check "python3:jinja2 python3:yaml" "$here/bioconda/check.sh" "$program"
step nf-core-check python3:yaml "$here/nf-core/check.sh" "$program"
step snakemake-check snakemake "$here/snakemake/test.sh" "$program"
step galaxy-check planemo galaxy_check
step galaxy-lint planemo planemo lint "$here/galaxy/tools/merganser"
step wheel "maturin auditwheel patchelf" wheel
step wheel-check maturin wheel_check
step checksums sha256sum checksums

command -v cargo-bundle-licenses > /dev/null || left_out+=("licences of Bioconda: cargo-bundle-licenses is not installed")
left_out+=(
    "conda build, bioconda-utils lint: these need conda"
    "nf-test, nf-core modules lint: these need Nextflow"
    "planemo test: it downloads Galaxy"
    "docker build of packaging/docker: it needs an engine; the image above is of the same steps"
    "the wheel with CUDA: crates/python/manylinux-cuda.sh"
)
printf 'not run: %s\n' "${left_out[@]}"
exit "$failed"
