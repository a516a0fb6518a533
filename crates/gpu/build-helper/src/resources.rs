//! The resources of kernels (registers, spills and shared memory), as ptxas reports them in every build, and their
//! comparison with a snapshot: an early warning of slower kernels that needs no GPU.

use crate::{Arch, Error};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// The variable that selects the action: `check` compares the resources with `cuda/resources.snap`, `update`
/// rewrites the snapshot; unset or empty does nothing.
pub(crate) const VARIABLE: &str = "MERGANSER_CUDA_RESOURCES";
/// The architecture of snapshots.
const ARCH: Arch = Arch(90);

/// The action requested for the resources of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Nothing,
    Check,
    Update,
}

impl Wish {
    /// Parses `MERGANSER_CUDA_RESOURCES`; fails if the architectures of the build are not the snapshot's.
    pub(crate) fn from_env(archs: &[Arch]) -> Result<Wish, Error> {
        let text = env::var(VARIABLE).unwrap_or_default();
        let refused = |reason| Err(Error::Resources { reason });
        match text.as_str() {
            "" => Ok(Wish::Nothing),
            "check" | "update" if archs != [ARCH] => {
                refused(format!("needs MERGANSER_CUDA_ARCH={}", ARCH.0))
            }
            "check" => Ok(Wish::Check),
            "update" => Ok(Wish::Update),
            _ => refused(format!("'{text}' is neither check nor update")),
        }
    }
}

/// The resources of one kernel, as ptxas reports them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Kernel {
    /// The kernel's name without namespaces and with the template arguments shortened.
    name: String,
    /// The number of registers of a thread.
    registers: u32,
    /// Bytes of spilled registers, as (stores to, loads from) local memory.
    spills: (u32, u32),
    /// Bytes of local memory of a thread.
    stack: u32,
    /// Bytes of static shared memory of a block.
    shared: u32,
}

/// Formats a snapshot: a header with the compiler's version, on which all values depend, and one line
/// for each kernel.
fn snapshot(version: &str, kernels: &[Kernel]) -> String {
    let mut text = format!("# nvcc {version}, sm_{}\n", ARCH.0);
    text += "# registers  spill stores/loads  stack  shared  kernel (bytes)\n";
    for Kernel { name, registers, spills: (stores, loads), stack, shared } in kernels {
        let _ = writeln!(text, "{registers:3} {stores:4}/{loads:<4} {stack:5} {shared:6}  {name}");
    }
    text
}

/// Compares the output of nvcc `version` with `-Xptxas=-v` with the snapshot at `path`, or rewrites the snapshot.
/// Returns a reason if they were not compared because another compiler made the snapshot.
pub(crate) fn judge(
    wish: Wish,
    version: &str,
    said: &str,
    path: &Path,
) -> Result<Option<String>, Error> {
    let file = |cause| Error::File { path: path.to_path_buf(), cause };
    let mut kernels = parse(&demangle(said)?);
    kernels.sort();
    let now = snapshot(version, &kernels);
    if wish == Wish::Update {
        return fs::write(path, now).map(|()| None).map_err(file);
    }
    let kept = fs::read_to_string(path).map_err(file)?;
    if !kept.starts_with(&snapshot(version, &[])) {
        let theirs = kept.lines().next().unwrap_or_default().trim_start_matches("# ");
        return Ok(Some(format!("{} is from {theirs}; this is nvcc {version}", path.display())));
    }
    match differences(&kept, &now) {
        text if text.is_empty() => Ok(None),
        text => Err(Error::Resources {
            reason: format!(
                "registers or memory of kernels differ from {}:\n{text}\
                 if this is intended, build again with {VARIABLE}=update",
                path.display()
            ),
        }),
    }
}

/// Returns the lines that are in only one of the texts.
fn differences(kept: &str, now: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (kept.lines().collect(), now.lines().collect());
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}\n"));
    let come = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}\n"));
    gone.chain(come).collect()
}

/// Passes a text through `c++filt` of binutils, which any machine with a linker has.
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

/// Parses the lines of `-Xptxas=-v`:
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

/// Returns the number directly before `unit`; 0 if the line has none.
fn before(line: &str, unit: &str) -> u32 {
    let number = line.split(unit).next().filter(|head| head.len() < line.len());
    number.and_then(|head| head.rsplit([' ', ',']).next()?.parse().ok()).unwrap_or(0)
}

/// Shortens a kernel's name: no namespaces, no arguments of arguments, no parameters.
/// `void cub::X::Sort<cub::hub<int>::Policy, (cub::Order)0, long>(long*)` becomes `Sort<Policy, 0, long>`.
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
            // The text so far is a namespace, a type that contains the next name, or the type of a cast.
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
        assert_eq!(shorten("near_kernel(unsigned long*, int)"), "near_kernel");
        assert_eq!(shorten("mgpu_plain"), "mgpu_plain");
    }

    #[test]
    fn a_snapshot_is_held_against_what_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("resources.snap");
        let said = |registers: u32| {
            format!(
                "ptxas info    : Compiling entry function 'f' for 'sm_90'\n\
                 ptxas info    : Used {registers} registers, used 0 barriers\n"
            )
        };
        assert!(judge(Wish::Check, "13.0.88", &said(7), &path).is_err());
        assert_eq!(judge(Wish::Update, "13.0.88", &said(7), &path).unwrap(), None);
        assert_eq!(judge(Wish::Check, "13.0.88", &said(7), &path).unwrap(), None);
        let other = judge(Wish::Check, "13.0.88", &said(8), &path).unwrap_err().to_string();
        assert!(other.contains("\n-   7 ") && other.contains("\n+   8 "), "{other}");
        let reason = judge(Wish::Check, "13.1.1", &said(8), &path).unwrap().unwrap();
        assert!(reason.ends_with(" is from nvcc 13.0.88, sm_90; this is nvcc 13.1.1"), "{reason}");
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
