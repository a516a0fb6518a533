#!/bin/bash
# Usage: check.sh MERGANSER ROOT
# Runs each RUN of the Dockerfile's second stage in ROOT, with the program MERGANSER in place of the one that the first stage
# builds, and then runs the program as the user of the Dockerfile. ROOT is a root made by `debootstrap --variant=minbase
# bookworm ROOT`. Must be run by root, which mounts /proc; requires access to Debian's packages.
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "$here/../../tests/data" && pwd)
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

if grep -q '^ENTRYPOINT' "$here/Dockerfile"; then
    echo "check.sh: Nextflow's bash -c does not work with an ENTRYPOINT" >&2
    exit 1
fi
stage=$(sed -n '/^FROM debian/,$p' "$here/Dockerfile")
steps=$(sed -n '/^RUN /,/[^\\]$/p' <<< "$stage" | sed 's/^RUN //')
chroot "$root" userdel --remove merganser 2> /dev/null || true
chroot "$root" sh -eu -c "$steps"
install -m 755 "$program" "$root/usr/local/bin/merganser"
user=$(sed -n 's/^USER //p' <<< "$stage")
[[ -n "$user" && "$user" != root ]]
mkdir -p "$root/data"
install -m 644 "$data/ERR1438863_1.fastq.gz" "$root/data/reads.fastq.gz"
# shellcheck disable=SC2016
unshare --mount sh -c 'mount -t proc proc "$1/proc" && shift && exec "$@"' sh "$root" \
    chroot --userspec="$user:$user" "$root" bash -euo pipefail -c '
    [[ $(id -u) == 1000 ]]
    ps > /dev/null
    merganser --version | head -n 1
    merganser count -q -k 21 --format tsv -o - /data/reads.fastq.gz | wc -l
'
echo "docker: ok"
