#!/bin/bash
# Needs what meta.yaml names: a C compiler, Rust, cargo-bundle-licenses; PREFIX from conda-build.
# Vector levels are chosen when the program runs: no target-cpu is set.
set -euo pipefail

cargo-bundle-licenses --format yaml --output THIRDPARTY.yml
cargo install --no-track --locked --root "${PREFIX}" --path crates/merganser

# Pages and completions by the program itself, where the shells of an environment look for them.
if [[ "${build_platform:-}" == "${target_platform:-}" ]]; then
    mkdir -p "${PREFIX}/share/man/man1" "${PREFIX}/share/bash-completion/completions" \
        "${PREFIX}/share/zsh/site-functions" "${PREFIX}/share/fish/vendor_completions.d"
    "${PREFIX}/bin/merganser" man "${PREFIX}/share/man/man1"
    "${PREFIX}/bin/merganser" completions bash \
        > "${PREFIX}/share/bash-completion/completions/merganser"
    "${PREFIX}/bin/merganser" completions zsh > "${PREFIX}/share/zsh/site-functions/_merganser"
    "${PREFIX}/bin/merganser" completions fish \
        > "${PREFIX}/share/fish/vendor_completions.d/merganser.fish"
fi
