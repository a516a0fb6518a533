#!/bin/bash
# Usage: tarball-check.sh MERGANSER ROOT
# Packs the program MERGANSER (built for glibc 2.17) twice, with different umasks, and compares the bytes. Unpacks one archive
# in ROOT, checks its checksums and runs the program there. ROOT is the root of an old Debian, made by `debootstrap
# --variant=minbase bullseye ROOT`. Must be run by root; requires the tools of tarball.sh except Rust and zig.
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "$here/../tests/data" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$root/tmp/merganser"' EXIT
export MERGANSER_PROGRAM=$program
(umask 022 && "$here/tarball.sh" "$scratch/a")
sleep 1
(umask 077 && "$here/tarball.sh" "$scratch/b")
cmp "$scratch"/{a,b}/merganser-*.tar.gz
cmp "$scratch"/{a,b}/SHA256SUMS
mkdir -p "$root/tmp/merganser"
tar -xzf "$scratch"/a/merganser-*.tar.gz -C "$root/tmp/merganser" --strip-components=1
cp "$data/ERR1438863_1.fastq.gz" "$root/tmp/merganser/reads.fastq.gz"
chroot "$root" /bin/bash -euo pipefail -c '
    export PATH=/usr/bin:/bin
    cd /tmp/merganser
    cat /etc/debian_version
    sha256sum --quiet -c SHA256SUMS
    bin/merganser --version | head -n 1
    bin/merganser count -q -k 21 --format tsv -o - reads.fastq.gz | wc -l
'
echo "tarball: ok"
