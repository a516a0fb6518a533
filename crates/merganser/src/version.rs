//! The text of `--version`.

use std::sync::LazyLock;

use merganser_seq::simd::Level;

/// Returns the version, the features of this build and the capabilities of this machine, one per line, so that bug
/// reports include all three.
pub(crate) fn long() -> &'static str {
    static TEXT: LazyLock<String> = LazyLock::new(|| {
        let compiled =
            if cfg!(target_arch = "x86_64") { "portable,avx2,avx512" } else { "portable" };
        let cuda = if cfg!(feature = "cuda") { "+cuda" } else { "-cuda" };
        let cram = if cfg!(feature = "cram") { "+cram" } else { "-cram" };
        let parquet = if cfg!(feature = "parquet") { "+parquet" } else { "-parquet" };
        format!(
            "{}\nfeatures: {cuda} {cram} {parquet}\nsimd(compile): {compiled}\nsimd(runtime): {}\n\
             cuda(compile): {}\ncuda(runtime): {}\ncommit: {}",
            env!("CARGO_PKG_VERSION"),
            Level::best().name(),
            merganser_gpu::build_info(),
            cuda_here(),
            // Set by the build of a release.
            option_env!("MERGANSER_COMMIT").unwrap_or("not recorded"),
        )
    });
    &TEXT
}

/// Returns the usable devices, or the reason why no device can be used. This starts CUDA, which takes a while, and clap needs the text
/// at every start: therefore it is only done if the text will be printed.
fn cuda_here() -> String {
    if !std::env::args_os().any(|argument| argument == "--version") {
        return String::new();
    }
    let availability = merganser_gpu::availability();
    let names: Vec<&str> = availability.usable().map(|device| device.name.as_str()).collect();
    if names.is_empty() { availability.reason() } else { names.join(", ") }
}
