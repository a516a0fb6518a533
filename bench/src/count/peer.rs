//! The tools: finding and running them, and reading their results.

use super::case::Settings;
use super::machine::first_line;
use super::outcome;
use crate::generate::reads::Format;
use anyhow::{Context, Result, ensure};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tool in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Peer {
    /// merganser with its defaults
    Merganser,
    /// merganser with its bins on disk
    MerganserDisk,
    /// kmc -r: in memory
    Kmc,
    /// kmc: bins on disk
    KmcDisk,
    /// jellyfish count
    Jellyfish,
    /// FastK
    Fastk,
}

/// The tools and their programs.
#[derive(Debug)]
pub(crate) struct Installed {
    /// Each tool with its program, if it is installed.
    pub(crate) peers: Vec<(Peer, Option<PathBuf>)>,
}

/// Returns the first file with this name on the PATH.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

impl Installed {
    /// Looks for the tools.
    ///
    /// # Errors
    ///
    /// If the given merganser does not exist.
    pub(crate) fn find(peers: &[Peer], merganser: Option<&Path>) -> Result<Self> {
        let named = merganser.map(|path| {
            path.canonicalize().with_context(|| format!("cannot find {}", path.display()))
        });
        let named = named.transpose()?;
        let beside = std::env::current_exe().ok().map(|exe| exe.with_file_name("merganser"));
        let beside = beside.filter(|path| path.is_file());
        let find = |peer: Peer| match peer {
            Peer::Merganser | Peer::MerganserDisk => {
                named.clone().or(beside.clone()).or_else(|| find_program("merganser"))
            }
            _ => find_program(peer.program()),
        };
        Ok(Self { peers: peers.iter().map(|&peer| (peer, find(peer))).collect() })
    }

    /// Returns program and version of each tool, without repetition.
    pub(crate) fn versions(&self) -> Vec<(&'static str, String)> {
        let mut versions: Vec<(&'static str, String)> = Vec::new();
        for (peer, path) in &self.peers {
            let name = peer.program();
            if versions.iter().all(|(known, _)| *known != name) {
                let version = path.as_deref().map(|path| peer.version(path));
                versions.push((name, version.unwrap_or_else(|| "not installed".into())));
            }
        }
        versions
    }
}

impl Peer {
    /// All tools, merganser first.
    pub(crate) const ALL: [Self; 6] = [
        Self::Merganser,
        Self::MerganserDisk,
        Self::Kmc,
        Self::KmcDisk,
        Self::Jellyfish,
        Self::Fastk,
    ];

    /// Returns the name in reports and options.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Merganser => "merganser",
            Self::MerganserDisk => "merganser-disk",
            Self::Kmc => "kmc",
            Self::KmcDisk => "kmc-disk",
            Self::Jellyfish => "jellyfish",
            Self::Fastk => "fastk",
        }
    }

    /// Returns the name of the executable.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::Merganser | Self::MerganserDisk => "merganser",
            Self::Kmc | Self::KmcDisk => "kmc",
            Self::Jellyfish => "jellyfish",
            Self::Fastk => "FastK",
        }
    }

    fn version(self, path: &Path) -> String {
        let mut command = Command::new(path);
        match self {
            // Without arguments, KMC prints its usage, which begins with the version.
            Self::Kmc | Self::KmcDisk => {}
            // FastK has no option for its version.
            Self::Fastk => return "installed".into(),
            Self::Merganser | Self::MerganserDisk | Self::Jellyfish => {
                command.arg("--version");
            }
        }
        first_line(&mut command).unwrap_or_else(|| "version unknown".into())
    }

    /// Returns the command that counts; results and temporary files are written to `folder`.
    ///
    /// # Errors
    ///
    /// If a list of inputs that the tool needs cannot be written.
    pub(crate) fn command(
        self,
        program: &Path,
        settings: &Settings<'_>,
        folder: &Path,
    ) -> Result<Vec<OsString>> {
        let mut command = vec![program.as_os_str().to_owned()];
        match self {
            Self::Merganser | Self::MerganserDisk => {
                command.extend(self.merganser(settings, folder));
            }
            Self::Kmc | Self::KmcDisk => command.extend(self.kmc(settings, folder)?),
            Self::Jellyfish => command.extend(jellyfish(settings, folder)?),
            Self::Fastk => command.extend(fastk(settings, folder)?),
        }
        Ok(command)
    }

    fn merganser(self, s: &Settings<'_>, folder: &Path) -> Vec<OsString> {
        let mut args = words(&["count", "--quiet"]);
        args.extend(words(&["-k", &s.k.to_string(), "--min-count", &s.min_count.to_string()]));
        args.extend(words(&["--threads", &s.threads.to_string()]));
        let memory = match self {
            Self::MerganserDisk => Some(s.disk_memory),
            _ => s.memory,
        };
        if self == Self::MerganserDisk {
            args.extend(words(&["--storage", "disk"]));
        }
        if let Some(memory) = memory {
            args.extend(words(&["--memory", memory]));
        }
        args.extend([
            "--tmp-dir".into(),
            folder.into(),
            "-o".into(),
            folder.join("out.mgk").into(),
        ]);
        args.extend(files(s));
        args
    }

    fn kmc(self, s: &Settings<'_>, folder: &Path) -> Result<Vec<OsString>> {
        let list = folder.join("list");
        write_lines(&list, s, "", "")?;
        let temporary = temporary(folder)?;
        let mut args = words(&["-hp", &format!("-k{}", s.k), &format!("-t{}", s.threads)]);
        args.push(format!("-ci{}", s.min_count).into());
        args.push(if s.inputs.format == Format::Fastq { "-fq" } else { "-fm" }.into());
        if self == Self::Kmc {
            args.push("-r".into());
        }
        let mut at = OsString::from("@");
        at.push(&list);
        args.extend([at, folder.join("out").into(), temporary]);
        Ok(args)
    }

    /// Returns the number of k-mers that the run in `folder` wrote; `stdout` is the run's output.
    ///
    /// # Errors
    ///
    /// If the tool does not report it.
    pub(crate) fn distinct(self, program: &Path, folder: &Path, stdout: &str) -> Result<u64> {
        let ask = |args: &[&str], table: &str| -> Result<String> {
            let output = Command::new(program).args(args).arg(folder.join(table)).output()?;
            let error = String::from_utf8_lossy(&output.stderr);
            ensure!(output.status.success(), "{} failed: {}", args.join(" "), error.trim());
            Ok(String::from_utf8(output.stdout)?)
        };
        match self {
            Self::Kmc | Self::KmcDisk => outcome::kmc(stdout),
            Self::Jellyfish => outcome::jellyfish(&ask(&["stats"], "out.jf")?),
            Self::Fastk => outcome::fastk(&std::fs::read(folder.join("out.ktab"))?),
            Self::Merganser | Self::MerganserDisk => {
                outcome::merganser(&ask(&["kmers", "info", "--json"], "out.mgk")?)
            }
        }
    }
}

fn jellyfish(s: &Settings<'_>, folder: &Path) -> Result<Vec<OsString>> {
    let mut args = words(&["count", "-C", "-m", &s.k.to_string(), "-t", &s.threads.to_string()]);
    args.extend(words(&["-s", s.jellyfish_size]));
    if s.min_count > 1 {
        args.extend(words(&["-L", &s.min_count.to_string()]));
    }
    args.extend(["-o".into(), folder.join("out.jf").into()]);
    if s.inputs.gz {
        // Jellyfish cannot read gzip, but runs commands and reads their output.
        let generators = folder.join("generators");
        write_lines(&generators, s, "gzip -dc '", "'")?;
        let at_once = s.threads.min(s.inputs.files.len());
        args.extend(["-g".into(), generators.into(), "-G".into(), at_once.to_string().into()]);
    } else {
        args.extend(files(s));
    }
    Ok(args)
}

fn fastk(s: &Settings<'_>, folder: &Path) -> Result<Vec<OsString>> {
    let mut args = words(&[&format!("-k{}", s.k), &format!("-t{}", s.min_count)]);
    args.push(format!("-T{}", s.threads).into());
    let mut option = OsString::from("-P");
    option.push(temporary(folder)?);
    args.push(option);
    let mut option = OsString::from("-N");
    option.push(folder.join("out"));
    args.push(option);
    args.extend(files(s));
    Ok(args)
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn files(settings: &Settings<'_>) -> impl Iterator<Item = OsString> {
    settings.inputs.files.iter().map(OsString::from)
}

/// Creates a folder for temporary files.
fn temporary(folder: &Path) -> Result<OsString> {
    let temporary = folder.join("tmp");
    std::fs::create_dir_all(&temporary)?;
    Ok(temporary.into())
}

/// Writes the names of the input files, one per line, with a prefix and a suffix.
fn write_lines(path: &Path, settings: &Settings<'_>, before: &str, after: &str) -> Result<()> {
    let line = |file: &PathBuf| format!("{before}{}{after}\n", file.display());
    let lines: String = settings.inputs.files.iter().map(line).collect();
    std::fs::write(path, lines).with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests;
