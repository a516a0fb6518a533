//! The table of command lines. Tests of properties that all commands have choose lines by their options and behaviour.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use crate::world::names_below;

/// The command lines of `table.txt`, at least one of each command.
pub static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("table.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(Row::parse).collect()
});

/// A command line with its options and its behaviour.
#[derive(Debug)]
pub struct Row {
    /// Letters of the common options that the line accepts, as the head of `table.txt` lists them.
    takes: &'static str,
    does: &'static str,
    /// The command line without the program; a word that begins with `<` names the file for standard input.
    pub line: &'static str,
}

impl Row {
    fn parse(line: &'static str) -> Row {
        let (takes, rest) = line.split_once(' ').unwrap();
        let (does, line) = rest.trim_start().split_once(' ').unwrap();
        Row { takes, does, line: line.trim_start() }
    }

    /// Returns the row of a line that makes inputs for other lines.
    pub(crate) fn making(line: &'static str) -> Row {
        Row { takes: "-", does: "-", line }
    }

    pub fn takes_memory(&self) -> bool {
        self.takes.contains('m')
    }

    pub fn takes_tmp_dir(&self) -> bool {
        self.takes.contains('t')
    }

    pub fn takes_threads(&self) -> bool {
        self.takes.contains('j')
    }

    pub fn takes_device(&self) -> bool {
        self.takes.contains('d')
    }

    pub fn takes_json(&self) -> bool {
        self.takes.contains('J')
    }

    /// Whether outputs appear sample by sample, before the end of the run.
    pub fn has_samples(&self) -> bool {
        self.does.contains('s')
    }

    pub fn keeps_a_journal(&self) -> bool {
        self.does.contains('p')
    }

    /// Whether output contains names of input files.
    pub fn shows_names(&self) -> bool {
        self.does.contains('l')
    }

    /// Whether the line changes files outside `out/`, reads no files or prints times, so that its runs cannot be
    /// compared.
    pub fn is_apart(&self) -> bool {
        self.does.contains('c')
    }

    pub fn is_run_with_faults(&self) -> bool {
        self.does.contains('f')
    }

    pub fn is_run_with_faults_of_devices(&self) -> bool {
        self.does.contains('g')
    }

    /// Whether the line writes a file of more than a few KB.
    pub fn writes_kilobytes(&self) -> bool {
        self.does.contains('w')
    }

    /// Whether the line prints results while it reads, and writes files beside them.
    pub fn streams(&self) -> bool {
        self.does.contains('r')
    }

    /// Whether the line prints results and writes files beside them.
    pub fn prints_beside_files(&self) -> bool {
        self.does.contains(['r', 'e'])
    }

    /// Whether the line writes no files.
    pub fn prints_alone(&self) -> bool {
        let is_written = |word: &str| word.starts_with("out/") || word.starts_with("own.");
        !self.words().any(is_written) && !self.does.contains('s')
    }

    /// Returns the journal of finished samples, which the line reads and appends to.
    pub fn resumes(&self) -> Option<&'static str> {
        self.words().skip_while(|word| *word != "--resume").nth(1)
    }

    /// Returns the words of the line without standard input.
    pub fn words(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.line.split_whitespace().filter(|word| !word.starts_with('<'))
    }

    pub fn args(&self) -> Vec<OsString> {
        self.words().map(OsString::from).chain([OsString::from("-q")]).collect()
    }

    /// Returns the line with one word replaced and without standard input.
    pub fn with(&self, old: &str, new: &str) -> String {
        let words: Vec<&str> =
            self.words().map(|word| if word == old { new } else { word }).collect();
        words.join(" ")
    }

    pub fn stdin(&self) -> Option<&'static str> {
        self.line.split_whitespace().find_map(|word| word.strip_prefix('<'))
    }

    /// Returns the names of the line's outputs that are single files.
    pub fn outputs(&self) -> Vec<&'static str> {
        let is_one = |word: &&str| {
            word.starts_with("out/") && word.contains('.') && !word.contains(['{', '#'])
        };
        self.words().filter(is_one).collect()
    }

    /// Returns the names that the line may read, and other words of it.
    pub(crate) fn may_read(&self) -> impl Iterator<Item = &'static str> + use<> {
        let words = self.words().chain(self.stdin()).flat_map(|word| word.split(['(', ',', ')']));
        let names = words.map(|word| {
            let word = word.strip_prefix('@').unwrap_or(word);
            word.split_once(':').map_or(word, |(name, _)| name)
        });
        names.filter(|name| !name.is_empty() && !name.starts_with("out/"))
    }

    /// Returns the names of the files that the line makes in its working directory.
    pub(crate) fn makes(&self) -> impl Iterator<Item = &'static str> + use<> {
        let names = self.words().skip(1);
        let made = ["-o", "--report", "--partial", "--report-data"];
        let pairs = self.words().zip(names).filter(move |(option, _)| made.contains(option));
        pairs.map(|(_, name)| name)
    }

    /// Returns the files of a folder that the line reads, by their names in the folder.
    pub fn inputs(&self, folder: &Path) -> Vec<String> {
        let mut found = BTreeSet::new();
        self.may_read().for_each(|name| add_inputs(folder, name, &mut found));
        if let Some(name) = self.words().skip_while(|word| *word != "--reference").nth(1) {
            add_inputs(folder, &format!("{name}.fai"), &mut found);
        }
        let lists = LISTS.iter().filter(|list| found.contains(**list));
        let texts: Vec<String> =
            lists.map(|list| fs::read_to_string(folder.join(list)).unwrap()).collect();
        for name in texts.iter().flat_map(|text| text.split_whitespace()) {
            let name = name.strip_prefix('@').unwrap_or(name);
            if !name.starts_with("out/") {
                add_inputs(folder, name, &mut found);
            }
        }
        found.into_iter().collect()
    }
}

/// Files that list other files.
const LISTS: [&str; 8] =
    ["list", "first", "pairs", "genomes", "sheet.tsv", "assemblies.tsv", "library.tsv", "session"];

fn add_inputs(folder: &Path, name: &str, found: &mut BTreeSet<String>) {
    let path = folder.join(name);
    if path.is_file() {
        found.insert(name.to_owned());
    } else if path.is_dir() && !name.contains("..") && name != "." {
        found.extend(names_below(&path).into_iter().map(|below| format!("{name}/{below}")));
    }
    for end in [".kmc_pre", ".kmc_suf"] {
        let name = format!("{name}{end}");
        found.extend(folder.join(&name).is_file().then_some(name));
    }
    if name.ends_with(".ktab") {
        found.extend((1..=2).map(|part| format!(".{name}.{part}")));
    }
}
