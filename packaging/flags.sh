# Sourced by tarball.sh and candidate.sh, which set `root`: the flags of released programs and wheels. They must not contain
# paths of this machine.
# shellcheck shell=bash
# shellcheck disable=SC2154
export RUSTFLAGS="--remap-path-prefix=$root=merganser --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=cargo"
