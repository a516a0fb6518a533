#!/bin/bash
# Needs root (to mount /proc, too), the network's Debian packages, and a root made by `debootstrap --variant=minbase bookworm ROOT`.
# Usage: check.sh MERGANSER ROOT. Does in ROOT what the second stage of the Dockerfile does, each RUN as it stands
# there, with the program MERGANSER for what the first stage builds; then runs it as the Dockerfile's user.
set -euo pipefail
program=$(realpath "$1")
root=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "$here/../../tests/data" && pwd)
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

if grep -q '^ENTRYPOINT' "$here/Dockerfile"; then
    echo "check.sh: with an ENTRYPOINT Nextflow's bash -c does not run" >&2
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
