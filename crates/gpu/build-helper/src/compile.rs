//! Compilation of `.cu` files to a static library that cargo links.
//!
//! nvcc is called directly, and the `cc` crate only archives the objects and prints the link lines. `cc` would find
//! nvcc only by `PATH` or `NVCC`, would disable optimization of device code (`-G`) whenever the cargo profile has
//! debug information, and would compile two or more files as relocatable device code, in which each call of a device
//! function costs registers.

use crate::layout::Types;
use crate::resources::{self, Wish};
use crate::{Archs, Error, Machine, Search, Toolkit};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::{env, fs, thread};

/// The options for every file and architecture: C++17, optimized, with source lines for profilers, with `constexpr`
/// functions of the standard library callable on the device, and without exceptions, because these must not unwind
/// into Rust.
pub(crate) const FLAGS: [&str; 5] =
    ["-std=c++17", "-O3", "-lineinfo", "--expt-relaxed-constexpr", "-Xcompiler=-fno-exceptions"];
/// The environment variable that, if it is 1, causes the kernels to be compiled as host functions
/// (`crates/gpu/cuda/block.cuh`).
const EMULATE: &str = "MERGANSER_EMULATE_CUDA";

const WARNINGS: [&str; 2] = ["-Wreorder", "-Xcompiler=-Wall,-Wextra"];

/// The CUDA sources of one crate and how to compile them.
#[derive(Clone, Debug)]
pub struct Kernels {
    name: String,
    files: Vec<PathBuf>,
    includes: Vec<PathBuf>,
    shared: Vec<(String, PathBuf)>,
}

/// A summary of the build, for `--version`.
#[derive(Clone, Debug)]
pub struct Built {
    /// The compiler's version: `13.0.88`.
    pub toolkit: String,
    /// The architectures for which the build has machine code, not only PTX.
    pub archs: Archs,
}

impl Kernels {
    /// Describes the static library `lib<name>.a`, whose source files are added with [`file`](Self::file); `name` must
    /// be unique in the program. The crate's own `cuda` folder and the shared headers of `merganser-gpu` are on the
    /// include path.
    pub fn new(name: &str) -> Kernels {
        let mut includes = vec![PathBuf::from("cuda")];
        includes.extend(env::var_os("DEP_MERGANSER_GPU_INCLUDE").map(PathBuf::from));
        let (files, shared) = (Vec::new(), Vec::new());
        Kernels { name: name.to_string(), files, includes, shared }
    }

    /// Adds a source file, relative to the crate's folder.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.files.push(path.into());
        self
    }

    /// Adds a folder of headers.
    pub fn include(mut self, folder: impl Into<PathBuf>) -> Self {
        self.includes.push(folder.into());
        self
    }

    /// Generates the header `name`, which asserts the layout of the structures that a Rust file lists with
    /// `merganser_gpu::shared!`. C++ sources must include it after their definitions of these structures. A list may
    /// use structures of lists that were added before.
    pub fn shared(mut self, name: &str, rust: impl Into<PathBuf>) -> Self {
        self.shared.push((name.to_owned(), rust.into()));
        self
    }

    /// Compiles the files as [`try_compile`](Self::try_compile) does, for build scripts: an error is printed, and the
    /// process exits.
    #[allow(clippy::exit, clippy::print_stderr, reason = "a build script fails this way")]
    pub fn compile(&self) -> Built {
        self.try_compile().unwrap_or_else(|error| {
            eprintln!("error: {error}");
            std::process::exit(1)
        })
    }

    /// Compiles the files, archives the objects and prints the directives that make cargo link them.
    #[allow(clippy::print_stdout, reason = "cargo reads it")]
    pub fn try_compile(&self) -> Result<Built, Error> {
        let own = ["MERGANSER_CUDA_ARCH", resources::VARIABLE, EMULATE];
        for name in ["CUDA_HOME", "CUDA_PATH", "PATH", "NVCC_CCBIN"].into_iter().chain(own) {
            println!("cargo:rerun-if-env-changed={name}");
        }
        // Directories, not files, because headers may be added to them later.
        self.includes.iter().for_each(|path| println!("cargo:rerun-if-changed={}", path.display()));
        let folder = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
        let made = self.with_layouts(&folder("OUT_DIR"))?;
        if env::var_os(EMULATE).is_some_and(|value| value == "1") {
            return made.emulate();
        }
        made.compile_for_devices()
    }

    /// Writes the headers of shared structures to a folder, and adds it to the include path.
    #[allow(clippy::print_stdout, reason = "cargo reads it")]
    fn with_layouts(&self, folder: &Path) -> Result<Kernels, Error> {
        let mut types = Types::default();
        for (name, rust) in &self.shared {
            println!("cargo:rerun-if-changed={}", rust.display());
            let file = |path: &Path, cause| Error::File { path: path.to_owned(), cause };
            let list = fs::read_to_string(rust).map_err(|cause| file(rust, cause))?;
            let header = types
                .assertions(&list)
                .map_err(|reason| Error::Layout { path: rust.clone(), reason })?;
            let path = folder.join(name);
            fs::write(&path, header).map_err(|cause| file(&path, cause))?;
        }
        Ok(self.clone().include(folder))
    }

    #[allow(clippy::print_stdout, reason = "cargo reads it")]
    fn compile_for_devices(&self) -> Result<Built, Error> {
        let folder = |name| env::var_os(name).map(PathBuf::from).unwrap_or_default();
        let toolkit = Search::of_this_machine(&folder("CARGO_MANIFEST_DIR")).find()?;
        let machine = Machine::from_env();
        let archs = Archs::from_env()?;
        let version = toolkit.version()?;
        let library_folder = toolkit.library_folder(&machine)?;
        let wish = Wish::from_env(archs.all())?;
        let (objects, said) = self.objects(&toolkit, &archs, &folder("OUT_DIR"))?;
        // If `MERGANSER_CUDA_RESOURCES` requests it, the registers and spills that ptxas reported are compared with the
        // snapshot, or the snapshot is rewritten.
        if wish != Wish::Nothing {
            let snapshot = folder("CARGO_MANIFEST_DIR").join("cuda/resources.snap");
            let skipped = resources::judge(wish, &version, &said, &snapshot)?;
            skipped.iter().for_each(|reason| {
                println!("cargo:warning=kernel resources not compared with the snapshot: {reason}");
            });
        }
        cc::Build::new().cpp(true).warnings(false).objects(objects).compile(&self.name);
        println!("cargo:rustc-link-search=native={}", library_folder.display());
        println!("cargo:rustc-link-lib=static=cudart_static");
        // Libraries that the static runtime needs.
        ["dl", "rt", "pthread"].iter().for_each(|lib| println!("cargo:rustc-link-lib={lib}"));
        Ok(Built { toolkit: version, archs })
    }

    /// Compiles the same files for the host, for tests of the device code without a GPU.
    #[allow(clippy::print_stdout, reason = "cargo reads it")]
    fn emulate(&self) -> Result<Built, Error> {
        let shared = env::var_os("DEP_MERGANSER_GPU_INCLUDE").map(PathBuf::from);
        let emulation = shared.map_or("emulation".into(), |cuda| cuda.join("../emulation"));
        println!("cargo:rerun-if-changed={}", emulation.display());
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").opt_level(2).include(emulation).includes(&self.includes);
        // cc detects the language by the suffix, and assumes that `.cu` files need nvcc.
        build.flag("-xc++").flag("-Wno-unused-parameter").files(&self.files);
        // The emulation runs the threads of a block as fibers and switches between their stacks with longjmp, which
        // glibc's fortified version reports as an error.
        build.flag("-U_FORTIFY_SOURCE");
        build.compile(&self.name);
        // The emulated device has compute capability 9.0 (`emulation/cuda_runtime.h`).
        Ok(Built { toolkit: "emulated".into(), archs: Archs::parse("90")? })
    }

    /// Compiles the files, as many in parallel as cargo allows (`NUM_JOBS`). Returns the objects and the compiler's
    /// output.
    fn objects(
        &self,
        nvcc: &Toolkit,
        archs: &Archs,
        out: &Path,
    ) -> Result<(Vec<PathBuf>, String), Error> {
        let jobs = env::var("NUM_JOBS").ok().and_then(|n| n.parse().ok()).unwrap_or(1usize);
        let threads = (jobs / self.files.len().max(1)).clamp(1, archs.all().len());
        let queue = Mutex::new(self.files.iter().enumerate());
        let work = || -> Result<Vec<(usize, PathBuf, String)>, Error> {
            let mut done = Vec::new();
            loop {
                let next = queue.lock().expect("no worker panics").next();
                let Some((i, file)) = next else { return Ok(done) };
                let stem = file.file_stem().unwrap_or_default().to_string_lossy();
                let object = out.join(format!("{}_{i}_{stem}.o", self.name));
                let mut command = self.command(nvcc, file)?;
                command.args(archs.flags()).args(["-Xcompiler=-fPIC", "-c", "-o"]).arg(&object);
                command.arg(format!("--threads={threads}"));
                // CUDA 12.8 and 12.9 warn that support for sm_70 and older architectures will end. All
                // architectures of the build are newer, so the warning is disabled.
                command.arg("-Wno-deprecated-gpu-targets");
                done.push((i, object, run(&mut command)?));
            }
        };
        let mut done = thread::scope(|scope| {
            let workers: Vec<_> =
                (0..jobs.min(self.files.len())).map(|_| scope.spawn(work)).collect();
            let results = workers.into_iter().map(|w| w.join().expect("no worker panics"));
            results.collect::<Result<Vec<_>, Error>>()
        })?
        .concat();
        done.sort();
        let said = done.iter().map(|(_, _, said)| said.as_str()).collect();
        Ok((done.into_iter().map(|(_, object, _)| object).collect(), said))
    }

    fn command(&self, toolkit: &Toolkit, file: &Path) -> Result<Command, Error> {
        let mut command = Command::new(&toolkit.nvcc);
        command.args(FLAGS).args(WARNINGS).arg(file);
        command.args(self.includes.iter().map(|folder| format!("-I{}", folder.display())));
        // ptxas then prints the registers and spills of each kernel, which `resources` parses.
        command.arg("-Xptxas=-v");
        command.args(host_compiler()?);
        Ok(command)
    }
}

/// Returns the option for the compiler of host code: in a cross build that of the target, unless `NVCC_CCBIN` names one.
/// Without a compiler of the target this fails, as nvcc would use that of this machine.
fn host_compiler() -> Result<Option<String>, Error> {
    if !Machine::from_env().is_cross || env::var_os("NVCC_CCBIN").is_some() {
        return Ok(None);
    }
    let compiler = cc::Build::new().cpp(true).try_get_compiler().map_err(|cause| {
        let target = env::var("TARGET").unwrap_or_default();
        Error::Tool { tool: format!("C++ compiler for {target}").into(), reason: cause.to_string() }
    })?;
    Ok(Some(format!("-ccbin={}", compiler.path().display())))
}

/// Runs a compiler and returns what it wrote to stderr. Warnings are passed on to the user of cargo; the error of a
/// failed run contains the whole output.
#[allow(clippy::print_stdout, reason = "cargo reads it")]
pub(crate) fn run(command: &mut Command) -> Result<String, Error> {
    let tool = PathBuf::from(command.get_program());
    let fail = |reason: String| Error::Tool { tool: tool.clone(), reason };
    let output = command.output().map_err(|cause| fail(cause.to_string()))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if !output.status.success() {
        let arguments: Vec<_> = command.get_args().map(|a| a.to_string_lossy()).collect();
        return Err(fail(format!("{}\n{}{said}", output.status, arguments.join(" ") + "\n")));
    }
    let warnings =
        said.lines().filter(|line| !line.starts_with("ptxas info") && !line.starts_with("    "));
    warnings.for_each(|line| println!("cargo:warning={line}"));
    Ok(said)
}
