//! What `--version` says.

use std::sync::LazyLock;

use merganser_seq::simd::Level;

/// The version, then what was built in and what this machine offers: a line each, so that a bug
/// report holds all three.
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let compiled =
            if cfg!(target_arch = "x86_64") { "portable,avx2,avx512" } else { "portable" };
        format!(
            "{}\nfeatures: -cuda\nsimd(compile): {compiled}\nsimd(runtime): {}",
            env!("CARGO_PKG_VERSION"),
            Level::best().name()
        )
    });
    &TEXT
}
