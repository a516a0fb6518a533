//! What the letters of FASTQ qualities mean.

use std::fmt;
use std::str::FromStr;

use merganser_run::options::{Serialize, Serializer};
use merganser_run::{Warnings, thousands};

use crate::{FileKind, Input};

/// The letter of quality 0. SAM, BAM and CRAM have Phred+33 always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QualityOffset {
    /// `!`: all instruments since 2011.
    #[default]
    Phred33,
    /// `@`: Illumina 1.3 to 1.7. Solexa's qualities, of -5 and more, are read as these.
    Phred64,
}

impl QualityOffset {
    /// The offset with this number.
    pub fn of_number(number: u8) -> Option<QualityOffset> {
        [QualityOffset::Phred33, QualityOffset::Phred64]
            .into_iter()
            .find(|offset| offset.number() == number)
    }

    /// 33 or 64.
    pub fn number(self) -> u8 {
        match self {
            QualityOffset::Phred33 => 33,
            QualityOffset::Phred64 => 64,
        }
    }
}

impl fmt::Display for QualityOffset {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(formatter)
    }
}

impl Serialize for QualityOffset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u8(self.number())
    }
}

impl FromStr for QualityOffset {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<QualityOffset, Self::Err> {
        let offset = text.parse().ok().and_then(QualityOffset::of_number);
        offset.ok_or("it is 33 or 64")
    }
}

/// How qualities of FASTQ are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phred {
    /// What the files have. What is handed out is Phred+33.
    pub offset: QualityOffset,
    /// The job drops bases of lower quality: it is warned of files whose qualities seem to have another
    /// offset.
    pub least: Option<u8>,
}

/// The lowest letter of Solexa's qualities: -5 at 64.
const LOWEST_64: u8 = b';';
/// Where the highest letter of a file of Phred+64 lies: at qualities from 31 to 42. In Phred+33 that is
/// 62 to 73: above what short reads and Nanopore have, and below the 93 that HiFi and consensus reads
/// have in any number of letters.
const HIGHEST_64: std::ops::RangeInclusive<u8> = b'_'..=b'j';
/// Fewer letters tell nothing.
const LEAST_LETTERS: u64 = 100;
/// Records that are looked at.
const MAX_RECORDS: u64 = 10_000;

/// The qualities of the first records of a file.
#[derive(Debug)]
pub(crate) struct Sample {
    records: u64,
    letters: u64,
    lowest: u8,
    highest: u8,
}

impl Sample {
    pub(crate) fn new() -> Sample {
        Sample { records: 0, letters: 0, lowest: u8::MAX, highest: 0 }
    }

    pub(crate) fn add(&mut self, quality: &[u8]) {
        if self.records == MAX_RECORDS {
            return;
        }
        self.records += 1;
        self.letters += quality.len() as u64;
        self.lowest = quality.iter().fold(self.lowest, |lowest, &letter| lowest.min(letter));
        self.highest = quality.iter().fold(self.highest, |highest, &letter| highest.max(letter));
    }

    /// Whether these are Phred+64, and some of them below `least`, which they are not as Phred+33.
    fn is_64(&self, least: u8) -> bool {
        let low = LOWEST_64..64u8.saturating_add(least);
        self.letters >= LEAST_LETTERS
            && low.contains(&self.lowest)
            && HIGHEST_64.contains(&self.highest)
    }

    /// Warns of qualities that seem to be Phred+64, if bases below `least` are dropped.
    pub(crate) fn warn(&self, name: &str, least: u8, warnings: &Warnings) {
        if self.is_64(least) {
            let [lowest, highest] = [self.lowest, self.highest].map(char::from);
            warnings.push(format!(
                "{name}: the qualities of the first {} records lie between '{lowest}' and \
                 '{highest}', as Phred+64 has them, and `min_qual` takes them for Phred+33: give \
                 `quality_offset` 64",
                thousands(self.records)
            ));
        }
    }
}

impl Phred {
    /// Warns of alignments where qualities of Phred+64 are asked for, and no other input may have some.
    pub fn warn_of_alignments<'a>(
        self,
        inputs: impl IntoIterator<Item = &'a Input>,
        warnings: &Warnings,
    ) {
        if self.offset == QualityOffset::Phred33 || self.least.is_none() {
            return;
        }
        let mut found: Vec<&Input> = Vec::new();
        for input in inputs {
            match input.path().and_then(FileKind::of_path) {
                Some(FileKind::Sam | FileKind::Bam | FileKind::Cram) => found.push(input),
                Some(FileKind::Fasta) => {}
                // Of a pipe nobody knows.
                _ => return,
            }
        }
        let Some(first) = found.first() else { return };
        let more = match found.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more inputs)"),
        };
        warnings.push(format!(
            "{first}{more}: the qualities of alignments are Phred+33, and are read so: leave out \
             `quality_offset`"
        ));
    }
}

/// Puts qualities of Phred+64 into `converted` as Phred+33.
///
/// # Errors
/// A letter that Phred+64 does not have.
pub(crate) fn to_33(quality: &[u8], converted: &mut Vec<u8>) -> Result<(), u8> {
    converted.clear();
    converted.extend(quality.iter().map(|&letter| letter.saturating_sub(31).max(b'!')));
    match quality.iter().find(|letter| **letter < LOWEST_64) {
        Some(&letter) => Err(letter),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_64(least: u8, qualities: &[&str]) -> bool {
        let mut sample = Sample::new();
        qualities.iter().for_each(|quality| sample.add(quality.repeat(30).as_bytes()));
        sample.is_64(least)
    }

    #[test]
    fn phred_64_is_known_by_its_range() {
        // Illumina 1.5, 1.3, Solexa, and qualities of today moved up by 31.
        for qualities in [["hgfhB", "hhhB"], ["h@Yb", "ggg"], [";ABh", "hh"], ["eYKB", "eee"]] {
            assert!(is_64(20, &qualities), "{qualities:?}");
        }
        // Nothing would be dropped.
        assert!(!is_64(20, &["hhhh", "hhTh"]));
        assert!(is_64(21, &["hhhh", "hhTh"]));
    }

    #[test]
    fn sound_phred_33_is_not_taken_for_phred_64() {
        let sound = [
            ["IIIII", "IIIII"],
            ["FFFFF", "FF:F,"],
            ["JJJJ@", "KKKKC"],
            ["#AAFF", "JJJJJ"],
            // HiFi: all high, with few low ones, binned.
            ["~~~~~", "~~~~~"],
            ["~~~n~", "~@~~~"],
            ["IDDIA", "IIIID"],
            // Long reads and consensus of other makers, of good reads only.
            ["SSSMS", "SSHHA"],
            ["]]]]U", "]]S@]"],
            ["zzz@z", "zzzzz"],
            ["#hhhh", "hhhhh"],
            // Fakes.
            ["BBBBB", "BBBBB"],
            ["hhhhh", "hhhhh"],
        ];
        for qualities in sound {
            for least in [1, 20, 30] {
                assert!(!is_64(least, &qualities), "{qualities:?}");
            }
        }
        assert!(!Sample::new().is_64(20));
    }

    #[test]
    fn qualities_are_converted() {
        let mut converted = Vec::new();
        assert_eq!(to_33(b"@ABhj~;", &mut converted), Ok(()));
        assert_eq!(converted, b"!\"#IK_!");
        assert_eq!(to_33(b"hh:h", &mut converted), Err(b':'));
    }
}
