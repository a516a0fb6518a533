#!/bin/bash
# Usage: build.sh MERGANSER ROOT FILE.tar
# Writes an OCI image (image.py) with the program MERGANSER, without a container engine. ROOT is a root made by `debootstrap
# --variant=minbase bookworm ROOT`; the RUN lines of the Dockerfile's second stage are run in a copy of it. Must be run by root;
# requires the Python of image.py, and access to Debian's packages.
set -euo pipefail
program=$(realpath "$1")
original=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$repository/Cargo.toml" | head -n 1)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

stage=$(sed -n '/^FROM debian/,$p' "$here/../docker/Dockerfile")
steps=$(sed -n '/^RUN /,/[^\\]$/p' <<< "$stage" | sed 's/^RUN //')
root=$scratch/root
cp -a --reflink=auto "$original" "$root"
chroot "$root" sh -eu -c "$steps"
folder=$(sed -n 's/^WORKDIR //p' <<< "$stage")
mkdir -p "$root$folder"
install -m 755 "$program" "$scratch/merganser"
strip "$scratch/merganser"
python3 "$here/image.py" write "$scratch/merganser" "$root" "$version" "$(git -C "$repository" rev-parse HEAD)" "$3"
