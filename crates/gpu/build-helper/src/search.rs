//! The search for the CUDA toolkit.

use crate::Error;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A CUDA toolkit on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toolkit {
    /// The path of the compiler.
    pub nvcc: PathBuf,
    /// The folder that contains `bin`.
    pub root: PathBuf,
}

/// The processor for which a build script's crate is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name in Rust's targets: `x86_64`, `aarch64`.
    pub processor: String,
    /// Whether the compiler runs on another processor.
    pub is_cross: bool,
}

impl Machine {
    /// Returns the machine of a target and a host, such as `aarch64-unknown-linux-gnu`.
    pub fn new(target: &str, host: &str) -> Machine {
        let processor = |triple: &str| triple.split('-').next().unwrap_or_default().to_owned();
        let (target, host) = (processor(target), processor(host));
        Machine { is_cross: target != host, processor: target }
    }

    /// Returns the machine of a build script, from the variables that cargo sets.
    pub fn from_env() -> Machine {
        let triple = |name| env::var(name).unwrap_or_default();
        Machine::new(&triple("TARGET"), &triple("HOST"))
    }
}

/// The locations of a search, from the environment and from conventions, as data.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// `CUDA_HOME`: the folder of a toolkit. If it is set, there is no fallback.
    pub cuda_home: Option<PathBuf>,
    /// `CUDA_PATH`: an alternative to `CUDA_HOME`, used on Windows and some clusters.
    pub cuda_path: Option<PathBuf>,
    /// `PATH`.
    pub path: Option<OsString>,
    /// Toolkit folders to try next, in this order.
    pub usual: Vec<PathBuf>,
    /// Python environments into which `pip install cuda-toolkit` may have installed one.
    pub environments: Vec<PathBuf>,
}

impl Search {
    /// Returns the locations for this process's environment and this machine. `manifest_dir` is the folder of
    /// the crate being built: a `.cuda` environment is searched for in it and in its ancestors.
    pub fn of_this_machine(manifest_dir: &Path) -> Search {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let mut usual = vec![PathBuf::from("/usr/local/cuda"), PathBuf::from("/opt/cuda")];
        usual.extend(newest_first(entries(Path::new("/usr/local"), "cuda-")));
        usual.push(PathBuf::from("/usr/lib/nvidia-cuda-toolkit"));
        let mut environments: Vec<PathBuf> =
            manifest_dir.ancestors().map(|folder| folder.join(".cuda")).collect();
        environments.extend(set("VIRTUAL_ENV"));
        let (cuda_home, cuda_path) = (set("CUDA_HOME"), set("CUDA_PATH"));
        Search { cuda_home, cuda_path, path: env::var_os("PATH"), usual, environments }
    }

    /// Returns the first toolkit that has `bin/nvcc`.
    pub fn find(&self) -> Result<Toolkit, Error> {
        for (variable, root) in [("CUDA_HOME", &self.cuda_home), ("CUDA_PATH", &self.cuda_path)] {
            if let Some(root) = root {
                let nvcc = root.join("bin/nvcc");
                return toolkit(root).ok_or(Error::NotThere { variable, nvcc });
            }
        }
        let path = self.path.clone().unwrap_or_default();
        let on_path = env::split_paths(&path).map(|folder| folder.join("nvcc"));
        if let Some(nvcc) =
            on_path.filter(|nvcc| nvcc.is_file()).find_map(|n| n.canonicalize().ok())
        {
            // A link such as /usr/bin/nvcc leads to the toolkit.
            let root = nvcc.ancestors().nth(2).unwrap_or(Path::new("/")).to_path_buf();
            return Ok(Toolkit { nvcc, root });
        }
        let wheels = self.environments.iter().flat_map(|environment| wheels(environment));
        let mut places = self.usual.iter().cloned().chain(wheels);
        places.find_map(|root| toolkit(&root)).ok_or_else(|| self.nothing())
    }

    fn nothing(&self) -> Error {
        let mut looked = vec!["CUDA_HOME (not set)".into(), "CUDA_PATH (not set)".into()];
        looked.push("nvcc on PATH".to_string());
        looked.extend(self.usual.iter().map(|root| root.join("bin/nvcc").display().to_string()));
        let wheel = "lib/python3*/site-packages/nvidia/cu*/bin/nvcc";
        looked.extend(self.environments.iter().map(|e| e.join(wheel).display().to_string()));
        Error::NoCompiler { looked: looked.join(", ") }
    }
}

impl Toolkit {
    /// Returns the folder with the static CUDA runtime for the processor of the build.
    pub fn library_folder(&self, machine: &Machine) -> Result<PathBuf, Error> {
        // NVIDIA's name of ARM servers is SBSA.
        let name = if machine.processor == "aarch64" { "sbsa" } else { &machine.processor };
        let mut folders = vec![format!("targets/{name}-linux/lib")];
        // In a cross build, these have the libraries of the compiler's processor.
        if !machine.is_cross {
            folders.extend(["lib64", "lib"].map(String::from));
        }
        // Debian's package installs it with the system's libraries.
        let system = PathBuf::from(format!("/usr/lib/{}-linux-gnu", machine.processor));
        let folders = folders.iter().map(|folder| self.root.join(folder)).chain([system]);
        let mut with_runtime = folders.filter(|folder| folder.join("libcudart_static.a").is_file());
        with_runtime.next().ok_or_else(|| Error::NoRuntime {
            root: self.root.clone(),
            processor: machine.processor.clone(),
        })
    }

    /// Returns the compiler's version: `13.0.88`.
    pub fn version(&self) -> Result<String, Error> {
        let fail = |reason: String| Error::Tool { tool: self.nvcc.clone(), reason };
        let output = Command::new(&self.nvcc).arg("--version").output();
        let output = output.map_err(|cause| fail(cause.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        parse_version(&text).ok_or_else(|| fail("`--version` printed no version".to_string()))
    }
}

/// Finds `13.0.88` in "Cuda compilation tools, release 13.0, V13.0.88".
fn parse_version(text: &str) -> Option<String> {
    let version = text.split_whitespace().rev().find_map(|word| word.strip_prefix('V'))?;
    version.starts_with(|c: char| c.is_ascii_digit()).then(|| version.to_string())
}

fn toolkit(root: &Path) -> Option<Toolkit> {
    let nvcc = root.join("bin/nvcc");
    nvcc.is_file().then(|| Toolkit { nvcc, root: root.to_path_buf() })
}

/// Returns the toolkits that pip installed in an environment: `lib/python3.11/site-packages/nvidia/cu13`.
fn wheels(environment: &Path) -> Vec<PathBuf> {
    let pythons = newest_first(entries(&environment.join("lib"), "python3"));
    let nvidia = pythons.into_iter().map(|python| python.join("site-packages/nvidia"));
    nvidia.flat_map(|folder| newest_first(entries(&folder, "cu"))).collect()
}

/// Returns the entries of a folder whose names begin with `prefix`; none if the folder does not exist.
fn entries(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = read.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    named.map(|entry| entry.path()).collect()
}

/// Sorts by the numbers in the names, largest first: cuda-13.0, cuda-12.10, cuda-12.9.
fn newest_first(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let numbers = |path: &PathBuf| -> Vec<u32> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
    };
    paths.sort_by_key(|path| std::cmp::Reverse(numbers(path)));
    paths
}

#[cfg(test)]
mod tests;
