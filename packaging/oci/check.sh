#!/bin/bash
# Usage: check.sh IMAGE.tar
# Checks the parts of an OCI image, unpacks its root into an empty folder, and runs the program there as the image's user, with
# `bash -c` as Nextflow does. Must be run by root, which mounts /proc and /dev as an engine does; requires the Python of image.py.
set -euo pipefail
image=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "$here/../../tests/data" && pwd)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
config=$(python3 "$here/image.py" unpack "$image" "$root")
value() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1" <<< "$config"; }
user=$(value User)
[[ "$user" != root ]]
install -m 644 "$data/ERR1438863_1.fastq.gz" "$root$(value WorkingDir)/reads.fastq.gz"
chmod 755 "$root"
# shellcheck disable=SC2016
unshare --mount sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && shift && exec "$@"' sh "$root" \
    chroot --userspec="$user:$user" "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin bash -euo pipefail -c '
    cd '"$(value WorkingDir)"'
    [[ $(id -u) == 1000 ]]
    ps > /dev/null
    merganser --version | head -n 1
    [[ "$(merganser --version --verbose)" == *" +cram +parquet"* ]]
    merganser --help > /dev/null
    merganser count -q -k 21 --format tsv -o - reads.fastq.gz | wc -l
'
echo "oci: ok"
