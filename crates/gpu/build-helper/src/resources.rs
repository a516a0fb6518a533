//! What kernels cost: registers, spills and shared memory, read from ptxas and kept as a snapshot,
//! a tripwire for speed that needs no GPU.

use crate::compile::{FLAGS, run};
use crate::{Arch, Error, Search, Toolkit};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One kernel's needs, as ptxas counts them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Kernel {
    /// The kernel's name without namespaces and with the template arguments shortened.
    pub name: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of registers stored to and loaded from local memory for want of room.
    pub spills: (u32, u32),
    /// Bytes of local memory of a thread.
    pub stack: u32,
    /// Bytes of static shared memory of a block.
    pub shared: u32,
}

/// Compiles `files` for one architecture, keeps no code, and returns each kernel's needs by name.
pub fn measure(
    toolkit: &Toolkit,
    arch: Arch,
    files: &[PathBuf],
    includes: &[PathBuf],
) -> Result<Vec<Kernel>, Error> {
    let mut kernels = Vec::new();
    for file in files {
        let mut command = Command::new(&toolkit.nvcc);
        command.args(FLAGS).args([&format!("-arch=sm_{}", arch.0), "-cubin", "-Xptxas=-v"]);
        command.arg(file).args(["-o", "/dev/null"]);
        command.args(includes.iter().map(|folder| format!("-I{}", folder.display())));
        kernels.extend(parse(&demangle(&run(&mut command)?)?));
    }
    kernels.sort();
    Ok(kernels)
}

/// The snapshot's text: a head with the compiler's version, on which all of it depends, and a line
/// a kernel.
pub fn snapshot(version: &str, arch: Arch, kernels: &[Kernel]) -> String {
    let mut text = format!("# nvcc {version}, sm_{}\n", arch.0);
    text += "# registers  spill stores/loads  stack  shared  kernel (bytes)\n";
    for Kernel { name, registers, spills: (stores, loads), stack, shared } in kernels {
        let _ = writeln!(text, "{registers:3} {stores:4}/{loads:<4} {stack:5} {shared:6}  {name}");
    }
    text
}

/// Holds the kernels of the package in `folder`, those of `sources` in its `cuda/`, against its
/// `cuda/resources.snap`, as [`check`] does: the whole test. `made` is the folder of headers that the
/// package's build script made, `others` the folders of packages beside it whose headers it takes.
/// `Ok(Some(reason))` if nothing was compared; that there is no nvcc is one, but not on CI.
///
/// # Panics
/// If they differ.
pub fn check_package(
    folder: &Path,
    made: &Path,
    sources: &[&str],
    others: &[&str],
) -> Result<Option<String>, Error> {
    let toolkit = match Search::of_this_machine(folder).find() {
        Err(error) if std::env::var_os("CI").is_none() => return Ok(Some(error.to_string())),
        found => found?,
    };
    let cuda = folder.join("cuda");
    let files: Vec<PathBuf> = sources.iter().map(|name| cuda.join(name)).collect();
    let mut includes = vec![cuda.clone(), folder.join("../gpu/cuda"), made.to_owned()];
    includes.extend(others.iter().map(|name| folder.join("..").join(name).join("cuda")));
    check(&toolkit, &files, &includes, &cuda.join("resources.snap"))
}

/// Holds the kernels of `files` against the snapshot file, or, with `MERGANSER_UPDATE_SNAPSHOTS`
/// set, rewrites it. `Ok(Some(reason))`: not compared, because another compiler made the snapshot.
///
/// # Panics
/// If they differ, with both texts: for tests.
pub fn check(
    toolkit: &Toolkit,
    files: &[PathBuf],
    includes: &[PathBuf],
    path: &Path,
) -> Result<Option<String>, Error> {
    let (version, arch) = (toolkit.version()?, Arch(90));
    let update = std::env::var_os("MERGANSER_UPDATE_SNAPSHOTS").is_some();
    let file = |cause| Error::File { path: path.to_path_buf(), cause };
    let kept = if update { String::new() } else { std::fs::read_to_string(path).map_err(file)? };
    let head = snapshot(&version, arch, &[]);
    if !update && !kept.starts_with(&head) {
        let theirs = kept.lines().next().unwrap_or_default().trim_start_matches("# ");
        return Ok(Some(format!("the snapshot is of {theirs}, this is nvcc {version}")));
    }
    let now = snapshot(&version, arch, &measure(toolkit, arch, files, includes)?);
    if update {
        std::fs::write(path, now).map_err(file)?;
    } else if now != kept {
        let old: Vec<_> = kept.lines().collect();
        let new: Vec<_> = now.lines().collect();
        let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
        let come = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}\n"));
        let differences: String = gone.chain(come).collect();
        panic!(
            "kernels need other registers or memory than {} says:\n{differences}\
             If that is meant, run the test again with MERGANSER_UPDATE_SNAPSHOTS=1.",
            path.display()
        );
    }
    Ok(None)
}

/// Passes a text through binutils' `c++filt`, which any machine with a linker has.
fn demangle(text: &str) -> Result<String, Error> {
    let fail =
        |cause: std::io::Error| Error::Tool { tool: "c++filt".into(), reason: cause.to_string() };
    let mut filter = Command::new("c++filt");
    let filter = filter.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = filter.spawn().map_err(fail)?;
    let mut input = child.stdin.take().expect("piped");
    let text = text.to_string();
    let writer = std::thread::spawn(move || std::io::Write::write_all(&mut input, text.as_bytes()));
    let output = child.wait_with_output().map_err(fail)?;
    writer.join().expect("it does not panic").map_err(fail)?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads the lines of `-Xptxas=-v`:
///
/// ```text
/// ptxas info    : Compiling entry function 'name' for 'sm_90'
/// ptxas info    : Function properties for name
///     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
/// ptxas info    : Used 20 registers, used 0 barriers, 4096 bytes smem
/// ```
fn parse(text: &str) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let mut entry: Option<String> = None;
    let (mut stack, mut spills) = (0, (0, 0));
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once("Compiling entry function '") {
            entry = rest.rsplit_once("' for '").map(|(name, _)| shorten(name));
        } else if line.contains("bytes stack frame") {
            stack = before(line, " bytes stack frame");
            spills = (before(line, " bytes spill stores"), before(line, " bytes spill loads"));
        } else if line.contains(" registers")
            && let Some(name) = entry.take()
        {
            let (registers, shared) = (before(line, " registers"), before(line, " bytes smem"));
            kernels.push(Kernel { name, registers, spills, stack, shared });
        }
    }
    kernels
}

/// The number right before `unit`; 0 where the line does not have it.
fn before(line: &str, unit: &str) -> u32 {
    let number = line.split(unit).next().filter(|head| head.len() < line.len());
    number.and_then(|head| head.rsplit([' ', ',']).next()?.parse().ok()).unwrap_or(0)
}

/// `void cub::X::Sort<cub::hub<int>::Policy, (cub::Order)0, long>(long*)` is
/// `Sort<Policy, 0, long>`: no namespaces, no arguments of arguments, no parameters.
fn shorten(name: &str) -> String {
    let (mut out, mut depth, mut word) = (String::new(), 0, 0);
    let mut previous = ' ';
    for c in name.chars() {
        match c {
            '(' if depth == 0 => break,
            '<' => {
                depth += 1;
                if depth == 1 {
                    out.push(c);
                    word = out.len();
                }
            }
            '>' => {
                if depth == 1 {
                    out.push(c);
                }
                depth -= 1;
            }
            _ if depth > 1 => {}
            // What was read is a namespace, a type that holds the next name, or a cast's type.
            ':' if previous == ':' => out.truncate(word),
            ':' | '(' => {}
            ')' => out.truncate(word),
            ' ' if depth == 0 => {
                out.clear();
                word = 0;
            }
            ',' => {
                out.push_str(", ");
                word = out.len();
            }
            ' ' if out.ends_with(' ') => {}
            _ => out.push(c),
        }
        previous = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_namespaces_and_arguments_of_arguments() {
        let long = "void cub::CUB_1::detail::Onesweep<cub::hub<int, a::b<c>>::Policy1000, \
                    (cub::SortOrder)0, unsigned long, cub::NullType>(T4*, T5 const*, (int)3)";
        assert_eq!(shorten(long), "Onesweep<Policy1000, 0, unsigned long, NullType>");
        assert_eq!(shorten("insert_keys_kernel(unsigned long*, int)"), "insert_keys_kernel");
        assert_eq!(shorten("mgpu_plain"), "mgpu_plain");
    }

    #[test]
    fn what_ptxas_says_is_read() {
        let text = "ptxas info    : 0 bytes gmem\n\
            ptxas info    : Compiling entry function 'void a::f<int>(int*)' for 'sm_90'\n\
            ptxas info    : Function properties for void a::f<int>(int*)\n\
            \x20   8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n\
            ptxas info    : Used 20 registers, used 1 barriers, 8 bytes cumulative stack size, 4096 bytes smem\n\
            ptxas info    : Compiling entry function 'g' for 'sm_90'\n\
            ptxas info    : Function properties for g\n\
            \x20   0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 7 registers, used 0 barriers\n";
        let kernel = |name: &str, registers, spills, stack, shared| Kernel {
            name: name.into(),
            registers,
            spills,
            stack,
            shared,
        };
        let expected = [kernel("f<int>", 20, (4, 12), 8, 4096), kernel("g", 7, (0, 0), 0, 0)];
        assert_eq!(parse(text), expected);
    }
}
