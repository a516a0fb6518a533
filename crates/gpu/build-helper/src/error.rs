//! The errors of this crate.

use std::path::PathBuf;

/// An error of compiling CUDA sources.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No CUDA compiler was found.
    #[error(
        "the feature `cuda` needs nvcc, the CUDA compiler, and none was found\n\
         looked for: {looked}\n\
         hint: set CUDA_HOME to a CUDA 12 or 13 toolkit, or install one in the workspace: \
         `python3 -m venv .cuda && .cuda/bin/pip install \"cuda-toolkit[nvcc,cudart,cccl]==13.0.*\"`"
    )]
    NoCompiler {
        /// All locations that were searched, comma-separated.
        looked: String,
    },
    /// An environment variable names a folder that is not a toolkit.
    #[error("{variable} is set, but there is no {}; correct it or unset it", nvcc.display())]
    NotThere {
        /// The variable.
        variable: &'static str,
        /// The compiler's path in that folder, which does not exist.
        nvcc: PathBuf,
    },
    /// `MERGANSER_CUDA_ARCH` is not a list of architectures.
    #[error("MERGANSER_CUDA_ARCH: '{text}' is not an architecture: give numbers, e.g. 90 or 80,90")]
    Arch {
        /// The part that is not an architecture.
        text: String,
    },
    /// The toolkit has no static CUDA runtime.
    #[error("{}: no libcudart_static.a for {processor} under it; install the toolkit's runtime (cudart)", root.display())]
    NoRuntime {
        /// The toolkit's folder.
        root: PathBuf,
        /// The processor of the build.
        processor: String,
    },
    /// A compiler could not be started, or failed.
    #[error("{}: {reason}", tool.display())]
    Tool {
        /// The program.
        tool: PathBuf,
        /// The error message of the program or the system.
        reason: String,
    },
    /// The resources of kernels differ from the snapshot, or cannot be compared.
    #[error("{}: {reason}", crate::resources::VARIABLE)]
    Resources {
        /// The differences, or the missing condition.
        reason: String,
    },
    /// A list of shared structures cannot be parsed.
    #[error("{}: {reason}", path.display())]
    Layout {
        /// The Rust file with the list.
        path: PathBuf,
        /// The line that cannot be parsed.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{}: {cause}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: std::io::Error,
    },
}
