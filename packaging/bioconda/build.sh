#!/bin/bash
# Requires the packages of meta.yaml (a C compiler, Rust, cargo-bundle-licenses) and PREFIX from conda-build.
# The SIMD level is chosen at run time, so target-cpu is not set.
set -euo pipefail

cargo-bundle-licenses --format yaml --output THIRDPARTY.yml
CARGO_PROFILE_RELEASE_STRIP=symbols cargo install --no-track --locked --root "${PREFIX}" --path crates/merganser

# The program writes its manual pages and completions to the folders where shells of the environment look for them.
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
