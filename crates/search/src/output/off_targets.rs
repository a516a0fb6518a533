//! A table of the number of hits of each pattern by PAM and edits.

use std::collections::BTreeMap;
use std::io::{self, Write};

use merganser_run::thousands;

use crate::letters::put_directed;
use crate::{Config, Error, Hit, Pattern};

/// The memory of a line in bytes, without its PAM and its counts.
const LINE: usize = 160;

/// The number of hits of each pattern by PAM and edits. The PAM is that of the text, in the direction of the pattern.
#[derive(Clone, Debug, Default)]
pub struct OffTargets {
    /// The lines of each pattern: for each PAM, the number of hits with 0, 1, … edits.
    lines: Vec<BTreeMap<Vec<u8>, Vec<u64>>>,
    /// The number of counts of each line of a pattern.
    columns: Vec<usize>,
    pam: usize,
    pam_first: bool,
    /// The number of lines that there still is memory for, and of all.
    room: usize,
    most: usize,
}

impl OffTargets {
    /// Makes an empty table that may take `memory` bytes.
    pub(crate) fn new(config: &Config, patterns: &[Pattern], memory: u64) -> OffTargets {
        let columns = |pattern: &Pattern| config.threshold.edits(pattern.letters().len()) + 1;
        let columns: Vec<usize> = patterns.iter().map(columns).collect();
        let pam = config.pam.as_ref().map_or(0, |pam| pam.length());
        let line = LINE + pam + size_of::<u64>() * columns.iter().max().copied().unwrap_or(0);
        let most = usize::try_from(memory).unwrap_or(usize::MAX) / line;
        let (lines, pam_first) = (vec![BTreeMap::new(); patterns.len()], config.pam_first);
        OffTargets { lines, columns, pam, pam_first, room: most, most }
    }

    /// Counts hits.
    ///
    /// # Errors
    /// If the table has more lines than there is memory for.
    pub(crate) fn add(&mut self, hits: &[Hit]) -> Result<(), Error> {
        let mut site = Vec::new();
        for hit in hits {
            site.clear();
            put_directed(&hit.letters, hit.reverse, &mut site);
            let pam = match self.pam_first {
                true => &site[..self.pam],
                false => &site[site.len() - self.pam..],
            };
            let lines = &mut self.lines[hit.pattern];
            if let Some(counts) = lines.get_mut(pam) {
                counts[hit.edits] += 1;
                continue;
            }
            self.room = self.room.checked_sub(1).ok_or_else(|| {
                Error::Input(format!(
                    "the table of off-targets has more than {} lines, for which there is no memory: give \
                     a shorter PAM, fewer patterns, or more `memory`",
                    thousands(self.most as u64)
                ))
            })?;
            let mut counts = vec![0; self.columns[hit.pattern]];
            counts[hit.edits] = 1;
            lines.insert(pam.to_vec(), counts);
        }
        Ok(())
    }

    /// Writes a table with a line for each pattern and PAM that have hits, in the order of the patterns, then of the
    /// letters of the PAM: the name of the pattern, the PAM, the number of hits with 0, 1, … edits, and that of all hits. A
    /// pattern that may have fewer edits than others has NA for the rest.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, patterns: &[Pattern], out: &mut dyn Write) -> io::Result<()> {
        let columns = self.columns.iter().max().copied().unwrap_or(0);
        let mut text = b"pattern\tpam".to_vec();
        super::counts::put_header(columns, &mut text);
        for (pattern, lines) in patterns.iter().zip(&self.lines) {
            for (pam, counts) in lines {
                text.extend_from_slice(pattern.name().as_bytes());
                text.push(b'\t');
                text.extend_from_slice(pam);
                super::counts::put_counts(counts, columns, &mut text);
                out.write_all(&text)?;
                text.clear();
            }
        }
        out.write_all(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Alignment, Operation, Threshold};

    fn hit(pattern: usize, edits: usize, reverse: bool, letters: &str) -> Hit {
        let operations = vec![(Operation::Match, letters.len() as u32)];
        let alignment = Alignment { start: 0, end: letters.len(), operations };
        Hit { pattern, reverse, edits, alignment, letters: letters.into() }
    }

    fn table(pam: &str, pam_first: bool, memory: u64) -> (OffTargets, [Pattern; 2]) {
        let pattern = |name: &str, letters: &str| Pattern::new(name, letters.as_bytes()).unwrap();
        let patterns = [pattern("a", "ACGTACGTAC"), pattern("b", "GGRCA")];
        let pam = Some(pam.parse().unwrap());
        let config = Config { pam, pam_first, ..Config::new(Threshold::Percent(20)) };
        (OffTargets::new(&config, &patterns, memory), patterns)
    }

    fn text(table: &OffTargets, patterns: &[Pattern]) -> String {
        let mut text = Vec::new();
        table.write(patterns, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn lines_are_those_of_patterns_and_pams() {
        let (mut table, patterns) = table("NGG", false, 1 << 20);
        let header = "pattern\tpam\tedits_0\tedits_1\tedits_2\ttotal\n";
        assert_eq!(text(&table, &patterns), header);
        let hits = [
            hit(1, 1, false, "GGACATGG"),
            hit(0, 2, false, "ACGTACGTACTGG"),
            hit(0, 0, true, "CCAGTACGTACGT"),
            hit(0, 2, false, "ACGTACGTTTTGG"),
        ];
        table.add(&hits).unwrap();
        let expected = "a\tTGG\t1\t0\t2\t3\nb\tTGG\t0\t1\tNA\t1\n";
        assert_eq!(text(&table, &patterns), format!("{header}{expected}"));
        table.add(&[hit(0, 1, true, "CCGAACGTACGTA")]).unwrap();
        assert!(text(&table, &patterns).contains("\na\tCGG\t0\t1\t0\t1\na\tTGG\t"));
    }

    #[test]
    fn pams_may_come_first_and_fill_the_memory() {
        let (mut table, patterns) = table("TTTV", true, 400);
        table.add(&[hit(0, 1, false, "TTTAACGTACGTAC"), hit(1, 0, true, "TGTCCGAAA")]).unwrap();
        let lines = text(&table, &patterns);
        assert!(lines.ends_with("\na\tTTTA\t0\t1\t0\t1\nb\tTTTC\t1\t0\tNA\t1\n"), "{lines}");
        let error = table.add(&[hit(1, 0, true, "TGTCCCAAA")]).unwrap_err().to_string();
        assert!(error.starts_with("the table of off-targets has more than 2 lines"), "{error}");
    }
}
