# Sourced by tarball.sh and manylinux.sh: the processor for which they build. MERGANSER_TARGET is Rust's name of it. A program for
# another processor is stripped by its own binutils and run on an emulator, with the libraries of Debian's cross compiler.
# shellcheck shell=bash
# shellcheck disable=SC2034
target=${MERGANSER_TARGET:-$(uname -m)-unknown-linux-gnu}
processor=${target%%-*}
strip="strip"
emulator=()
if [[ "$processor" != "$(uname -m)" ]]; then
    strip=$processor-linux-gnu-strip
    emulator=(env -u LD_LIBRARY_PATH "qemu-$processor" -L "/usr/$processor-linux-gnu")
fi
