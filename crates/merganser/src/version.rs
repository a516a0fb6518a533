//! The text of `--version --verbose`.

use merganser_seq::simd::Level;

/// Whether the command line asks for the long text: `--version --verbose`, `-V -v` or `-Vv`.
pub(crate) fn is_wanted() -> bool {
    let words: Vec<String> =
        std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    asks(&words)
}

fn asks(words: &[String]) -> bool {
    let has = |wanted: [&str; 4]| words.iter().any(|word| wanted.contains(&&**word));
    let all = ["--version", "-V", "--verbose", "-v", "-Vv", "-vV"];
    words.iter().all(|word| all.contains(&&**word))
        && has(["--version", "-V", "-Vv", "-vV"])
        && has(["--verbose", "-v", "-Vv", "-vV"])
}

/// Returns the version, the features of this build and the capabilities of this machine, one per line, so that bug
/// reports include all three.
pub(crate) fn long() -> String {
    let compiled = Level::compiled().collect::<Vec<_>>().join(",");
    let cuda = if cfg!(feature = "cuda") { "+cuda" } else { "-cuda" };
    let cram = if cfg!(feature = "cram") { "+cram" } else { "-cram" };
    let parquet = if cfg!(feature = "parquet") { "+parquet" } else { "-parquet" };
    format!(
        "merganser {}\nfeatures: {cuda} {cram} {parquet}\nsimd(compile): {compiled}\nsimd(runtime): {}\n\
         cuda(compile): {}\ncuda(runtime): {}\ncommit: {}\n",
        env!("CARGO_PKG_VERSION"),
        Level::best().name(),
        merganser_gpu::build_info(),
        cuda_here(),
        // Set by build.rs.
        option_env!("MERGANSER_COMMIT")
            .filter(|commit| !commit.is_empty())
            .unwrap_or("not recorded"),
    )
}

/// Returns the usable devices, or the reason why no device can be used.
fn cuda_here() -> String {
    let availability = merganser_gpu::availability();
    let names: Vec<&str> = availability.usable().map(|device| device.name.as_str()).collect();
    if names.is_empty() { availability.reason() } else { names.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::asks;

    #[test]
    fn both_options_are_needed_and_nothing_else() {
        let asks = |line: &str| asks(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for line in ["--version --verbose", "-V -v", "-v -V", "-Vv", "--verbose -V"] {
            assert!(asks(line), "{line}");
        }
        for line in ["--version", "-V", "-v", "-V -v count", "count -V -v", "--verbose"] {
            assert!(!asks(line), "{line}");
        }
    }
}
