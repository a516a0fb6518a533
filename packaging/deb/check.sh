#!/bin/bash
# Usage: check.sh PACKAGE.deb ROOT
# Installs the package in a copy of ROOT, runs it, and removes it again. ROOT is a Debian root made by `debootstrap
# --variant=minbase bookworm ROOT`. Must be run by root.
set -euo pipefail
package=$1
data=$(cd "$(dirname "$0")/../../tests/data" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
cp -a --reflink=auto "$(realpath "$2")" "$root"
install -m 644 "$package" "$root/tmp/merganser.deb"
install -m 644 "$data/ERR1438863_1.fastq.gz" "$root/tmp/reads.fastq.gz"
chroot "$root" bash -euo pipefail -c '
    export PATH=/usr/sbin:/usr/bin:/sbin:/bin
    dpkg -i /tmp/merganser.deb
    merganser --version | head -n 1
    merganser count -q -k 21 --format tsv -o - /tmp/reads.fastq.gz | wc -l
    # A minimal Debian does not install manual pages (path-exclude), so the content of the package is checked.
    dpkg -c /tmp/merganser.deb > /tmp/list
    for name in man1/merganser-count.1.gz completions/merganser _merganser merganser.fish copyright; do
        grep -q "$name" /tmp/list || { echo "the package has no $name" >&2; exit 1; }
    done
    rm /tmp/list
    dpkg --purge merganser
    ! command -v merganser
'
echo "deb: ok"
