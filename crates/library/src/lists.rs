//! Lists of assemblies: NCBI's `assembly_summary.txt`, and the `assembly_data_report.jsonl` of NCBI's program
//! `datasets`.

use std::path::Path;

use serde::Deserialize;

use super::config::{Category, Level};
use crate::Error;
use merganser_io::Lines;
use merganser_taxonomy::parse_taxid;

/// The beginning of the file names of summaries, which continue with `.txt`.
const SUMMARY: &str = "assembly_summary";
/// The file name of reports.
const REPORT: &str = "assembly_data_report.jsonl";

/// An assembly in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// The accession with its version; in user-written lists, it may be a file name.
    pub(super) accession: Vec<u8>,
    pub(super) taxid: u32,
    pub(super) species: Option<u32>,
    pub(super) level: Option<Level>,
    pub(super) category: Option<Category>,
    /// The folder from which it can be downloaded.
    pub(super) url: Option<String>,
}

/// Whether a file has the name of a list.
pub(super) fn is_list(name: &str) -> bool {
    name == REPORT || name.starts_with(SUMMARY) && name.contains(".txt")
}

/// Calls `visit` with all assemblies of a list.
///
/// # Errors
/// If the list cannot be read, or if a line is malformed.
pub(super) fn read(path: &Path, visit: &mut dyn FnMut(Listed)) -> Result<(), Error> {
    let mut lines = Lines::open(path)?;
    let mut columns: Option<Columns> = None;
    let mut listed = 0;
    while let Some((number, line)) = lines.next_line()? {
        let wrong = |what: String| Error::content(path, format!("line {number}: {what}"));
        if line.trim_ascii().is_empty() {
            continue;
        }
        if line.starts_with(b"{") {
            visit(of_report(line).map_err(wrong)?);
            listed += 1;
            continue;
        }
        let cells: Vec<&[u8]> = line.split(|&byte| byte == b'\t').map(<[u8]>::trim_ascii).collect();
        if let Some(found) = Columns::named(&cells) {
            columns = Some(found);
            continue;
        }
        if line.starts_with(b"#") {
            continue;
        }
        let columns = match &columns {
            Some(columns) => columns,
            None => columns.insert(Columns::usual(&cells).map_err(wrong)?),
        };
        let found = columns.assembly(&cells).map_err(wrong)?;
        let (there, wanted) = (cells.len(), columns.number);
        if lines.is_open() && there < wanted {
            let what =
                format!("cut within the line, after {there} of {wanted} columns: copy it again");
            return Err(Error::content(path, format!("line {number}: {what}")));
        }
        visit(found);
        listed += 1;
    }
    match listed {
        0 => Err(Error::content(path, "no assembly is listed in it")),
        _ => Ok(()),
    }
}

/// The columns of an assembly_summary, from 0.
struct Columns {
    number: usize,
    accession: usize,
    taxid: usize,
    species: Option<usize>,
    level: Option<usize>,
    category: Option<usize>,
    url: Option<usize>,
}

impl Columns {
    /// Finds the columns in a header line, which may begin with `#`; `None` if the line is not one.
    fn named(cells: &[&[u8]]) -> Option<Columns> {
        let bare = |cell: &[u8]| cell.strip_prefix(b"#").unwrap_or(cell).trim_ascii().to_vec();
        let names: Vec<Vec<u8>> = cells.iter().map(|cell| bare(cell)).collect();
        let find = |wanted: &str| names.iter().position(|name| name == wanted.as_bytes());
        let taxid = find("taxid")?;
        let accession = find("assembly_accession");
        // In user-written lists, the first column may have any name, or none.
        let accession = accession.or(cells[0].starts_with(b"#").then_some(0))?;
        Some(Columns {
            number: cells.len(),
            accession,
            taxid,
            species: find("species_taxid"),
            level: find("assembly_level"),
            category: find("refseq_category"),
            url: find("ftp_path"),
        })
    }

    /// Returns NCBI's columns since 2014, for lists whose header was lost in filtering.
    fn usual(cells: &[&[u8]]) -> Result<Columns, String> {
        const NUMBER: usize = 20;
        let is_accession = cells
            .first()
            .is_some_and(|cell| cell.starts_with(b"GCF_") || cell.starts_with(b"GCA_"));
        if cells.len() < NUMBER || !is_accession {
            return Err(
                "not a list of assemblies: no header (#assembly_accession, taxid, …) is before this line, \
                 and it is not a line of NCBI's assembly_summary.txt"
                    .into(),
            );
        }
        let (species, level, category, url) = (Some(6), Some(11), Some(4), Some(19));
        Ok(Columns { number: NUMBER, accession: 0, taxid: 5, species, level, category, url })
    }

    fn assembly(&self, cells: &[&[u8]]) -> Result<Listed, String> {
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        let text = |at: Option<usize>| std::str::from_utf8(cell(at?)).ok();
        let number = |at: usize| std::str::from_utf8(cell(at)).ok()?.parse().ok();
        let taxid = parse_taxid(cell(self.taxid)).map_err(|what| {
            what.unwrap_or_else(|| format!("no taxid in column {}", self.taxid + 1))
        })?;
        let accession = cell(self.accession).to_vec();
        if accession.is_empty() {
            return Err(format!("no accession in column {}", self.accession + 1));
        }
        Ok(Listed {
            accession,
            taxid,
            species: self.species.and_then(number),
            level: text(self.level).and_then(Level::of),
            category: text(self.category).and_then(Category::of),
            url: text(self.url).filter(|url| !["", "na"].contains(url)).map(str::to_owned),
        })
    }
}

/// The fields of a report's line that are used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    accession: String,
    organism: Organism,
    #[serde(default)]
    assembly_info: AssemblyInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Organism {
    tax_id: u32,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AssemblyInfo {
    assembly_level: Option<String>,
    refseq_category: Option<String>,
}

fn of_report(line: &[u8]) -> Result<Listed, String> {
    let report: Report = serde_json::from_slice(line)
        .map_err(|error| format!("not an assembly report as `datasets` writes it ({error})"))?;
    let info = report.assembly_info;
    Ok(Listed {
        accession: report.accession.into_bytes(),
        taxid: report.organism.tax_id,
        species: None,
        level: info.assembly_level.as_deref().and_then(Level::of),
        category: info.refseq_category.as_deref().and_then(Category::of),
        url: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn listed(text: &[u8]) -> Result<Vec<Listed>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        std::fs::write(&path, text).unwrap();
        let mut all = Vec::new();
        let said = |error: Error| error.to_string().replace(&path.display().to_string(), "list");
        read(&path, &mut |one| all.push(one)).map_err(said).map(|()| all)
    }

    /// A row of 2024 with 38 columns.
    fn row(accession: &str, taxid: &str, level: &str) -> String {
        let mut cells = vec!["na"; 38];
        (cells[0], cells[4], cells[5], cells[6]) = (accession, "reference genome", taxid, "562");
        (cells[11], cells[19]) = (level, "https://x/GCF_000005845.2_ASM584v2");
        cells.join("\t") + "\n"
    }

    fn heading() -> String {
        let mut names = vec!["x"; 38];
        (names[0], names[4]) = ("#assembly_accession", "refseq_category");
        (names[5], names[6]) = ("taxid", "species_taxid");
        (names[11], names[19]) = ("assembly_level", "ftp_path");
        names.join("\t") + "\n"
    }

    #[test]
    fn summaries_of_all_years() {
        let expected = Listed {
            accession: b"GCF_000005845.2".to_vec(),
            taxid: 511_145,
            species: Some(562),
            level: Some(Level::Complete),
            category: Some(Category::Reference),
            url: Some("https://x/GCF_000005845.2_ASM584v2".into()),
        };
        let row = row("GCF_000005845.2", "511145", "Complete Genome");
        for text in [
            format!("##  See ftp://x\n{}{row}", heading()),
            format!("{}{row}", heading().replace('#', "# ")),
            format!("{}{row}", heading().replace('#', "")),
            // The header was lost.
            row.clone(),
            row.replace('\n', "\r\n"),
            // A row of 2018, with fewer columns.
            row.split('\t').take(20).collect::<Vec<_>>().join("\t"),
        ] {
            assert_eq!(listed(text.as_bytes()), Ok(vec![expected.clone()]), "{text}");
        }
    }

    #[test]
    fn lists_of_ones_own() {
        let found = listed(b"# genome\ttaxid\nmine.fa\t562\nGCF_000000001.1\t5\n").unwrap();
        let pairs: Vec<_> = found.iter().map(|one| (one.accession.clone(), one.taxid)).collect();
        assert_eq!(pairs, [(b"mine.fa".to_vec(), 562), (b"GCF_000000001.1".to_vec(), 5)]);
        assert_eq!((found[0].level, found[0].species), (None, None));
    }

    #[test]
    fn reports_of_datasets() {
        let text = br#"{"accession":"GCF_000005845.2","assemblyInfo":{"assemblyLevel":"Complete Genome","refseqCategory":"reference genome"},"organism":{"organismName":"x","taxId":511145}}
{"accession":"GCA_000000001.1","organism":{"taxId":7}}
"#;
        let found = listed(text).unwrap();
        assert_eq!((found[0].taxid, found[0].level), (511_145, Some(Level::Complete)));
        assert_eq!((found[1].taxid, found[1].category), (7, None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let (head, good) = (heading(), row("GCF_000005845.2", "5", "Contig"));
        for (text, message) in [
            (String::new(), "list: no assembly is listed in it"),
            (head.clone(), "list: no assembly is listed in it"),
            ("<html>\n".into(), "list: not a text of lines, but a web page (HTML)"),
            ("a list\n".into(), "list: line 1: not a list of assemblies: no header"),
            ("GCF_000005845.2\t5\n".into(), "list: line 1: not a list of assemblies"),
            (format!("{head}{}", row("GCF_1", "x", "")), "list: line 2: no taxid in column 6"),
            (format!("{head}{good}GCF_1\t2"), "list: line 3: no taxid in column 6"),
            (format!("{head}{}", row("", "5", "")), "list: line 2: no accession in column 1"),
            (
                format!("{head}{}", &good[..good.len() - 4]),
                "list: line 2: cut within the line, after 37 of 38 columns: copy it again",
            ),
            ("{\"accession\": 5}\n".into(), "list: line 1: not an assembly report as `datasets`"),
            (format!("{head}{good}{{}}\n"), "list: line 3: not an assembly report"),
        ] {
            let found = listed(text.as_bytes()).unwrap_err();
            assert!(found.starts_with(message), "{text:?}: {found}");
            assert_eq!(found.lines().count(), 1);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_text_is_a_list_or_an_error(
            at in any::<u16>(), byte in any::<u8>(), cut in any::<u16>(), keep in any::<bool>(),
        ) {
            let mut text = (heading() + &row("GCF_000005845.2", "5", "Contig")).into_bytes();
            let length = text.len();
            text[usize::from(at) % length] = byte;
            if !keep {
                text.truncate(usize::from(cut) % length);
            }
            if let Ok(found) = listed(&text) {
                prop_assert!(found.iter().all(|one| !one.accession.is_empty()));
            }
        }
    }
}
