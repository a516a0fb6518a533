//! The errors of this crate.

use std::path::PathBuf;

/// Why CUDA sources could not be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No CUDA compiler anywhere.
    #[error(
        "the feature `cuda` needs nvcc, the CUDA compiler, and none was found\n\
         looked for: {looked}\n\
         hint: set CUDA_HOME to a CUDA 12 or 13 toolkit; without one, \
         `python3 -m venv .cuda && .cuda/bin/pip install \"cuda-toolkit[nvcc,cudart,cccl]==13.0.*\"` \
         in the workspace gives one"
    )]
    NoCompiler {
        /// All places, comma-separated.
        looked: String,
    },
    /// An environment variable names a folder that is no toolkit.
    #[error("{variable} is set, but there is no {}; correct it or unset it", nvcc.display())]
    NotThere {
        /// The variable.
        variable: &'static str,
        /// The file it should have led to.
        nvcc: PathBuf,
    },
    /// `MERGANSER_CUDA_ARCH` makes no sense.
    #[error("MERGANSER_CUDA_ARCH: '{text}' is not an architecture: give numbers, e.g. 90 or 80,90")]
    Arch {
        /// The part that was not understood.
        text: String,
    },
    /// The toolkit has no static CUDA runtime.
    #[error("{}: no libcudart_static.a under it; install the toolkit's runtime (cudart)", root.display())]
    NoRuntime {
        /// The toolkit's folder.
        root: PathBuf,
    },
    /// A compiler could not be started or failed.
    #[error("{}: {reason}", tool.display())]
    Tool {
        /// The program.
        tool: PathBuf,
        /// What it or the system said.
        reason: String,
    },
    /// What kernels cost is not what it was, or cannot be compared.
    #[error("{}: {reason}", crate::resources::VARIABLE)]
    Resources {
        /// What differs, or is missing.
        reason: String,
    },
    /// A list of shared structures makes no sense.
    #[error("{}: {reason}", path.display())]
    Layout {
        /// The Rust file with the list.
        path: PathBuf,
        /// Which line it is.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        cause: std::io::Error,
    },
}
