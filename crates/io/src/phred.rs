//! The encoding of FASTQ qualities.

use std::fmt;
use std::str::FromStr;

use merganser_run::options::{Serialize, Serializer};
use merganser_run::{Warnings, thousands};

use crate::{FileKind, Input};

/// The letter that encodes quality 0. SAM, BAM and CRAM always use Phred+33.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QualityOffset {
    /// Phred+33, from `!`: all instruments since 2011.
    #[default]
    Phred33,
    /// Phred+64, from `@`: Illumina 1.3 to 1.7. Solexa qualities, which begin at -5, are read as these.
    Phred64,
}

impl QualityOffset {
    /// Returns the offset with this number.
    pub fn of_number(number: u8) -> Option<QualityOffset> {
        [QualityOffset::Phred33, QualityOffset::Phred64]
            .into_iter()
            .find(|offset| offset.number() == number)
    }

    /// Returns the number: 33 or 64.
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
        offset.ok_or("it must be 33 or 64")
    }
}

/// The options for reading FASTQ qualities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Phred {
    /// The encoding in the files. Qualities are always returned as Phred+33.
    pub offset: QualityOffset,
    /// The quality below which the job drops bases, if any. If it is set, there are warnings about files whose
    /// qualities seem to have another offset.
    pub least: Option<u8>,
}

/// The lowest letter of Solexa qualities: -5 at offset 64.
const LOWEST_64: u8 = b';';
/// The range of the highest letter in a Phred+64 file: qualities 31 to 42. In Phred+33 these letters are qualities
/// 62 to 73, which is above those of short reads and Nanopore, and below the 93 that is frequent in HiFi and
/// consensus reads.
const HIGHEST_64: std::ops::RangeInclusive<u8> = b'_'..=b'j';
/// The minimum number of letters in a sample that is evaluated.
const MIN_LETTERS: u64 = 100;
/// The maximum number of records in a sample.
const MAX_RECORDS: u64 = 10_000;

/// Statistics of the qualities in the first records of a file.
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

    /// Whether the qualities seem to be Phred+64 and some of them are below `least`, which they would not be as
    /// Phred+33.
    fn is_64(&self, least: u8) -> bool {
        let low = LOWEST_64..64u8.saturating_add(least);
        self.letters >= MIN_LETTERS
            && low.contains(&self.lowest)
            && HIGHEST_64.contains(&self.highest)
    }

    /// Warns if qualities seem to be Phred+64 while bases below `least` are dropped.
    pub(crate) fn warn(&self, name: &str, least: u8, warnings: &Warnings) {
        if self.is_64(least) {
            let [lowest, highest] = [self.lowest, self.highest].map(char::from);
            warnings.push(format!(
                "{name}: the qualities of the first {} records lie between '{lowest}' and \
                 '{highest}', as in Phred+64, but `min_qual` reads them as Phred+33: give \
                 `quality_offset` 64",
                thousands(self.records)
            ));
        }
    }
}

impl Phred {
    /// Warns if Phred+64 is requested although all inputs that can have qualities are alignments.
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
                // The contents of a pipe are unknown.
                _ => return,
            }
        }
        let Some(first) = found.first() else { return };
        let more = match found.len() - 1 {
            0 => String::new(),
            more => format!(" (and {more} more inputs)"),
        };
        warnings.push(format!(
            "{first}{more}: the qualities of alignments are always Phred+33: leave out \
             `quality_offset`"
        ));
    }
}

/// Replaces `converted` with Phred+64 qualities converted to Phred+33.
///
/// # Errors
/// If a letter is not valid in Phred+64: that letter.
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
        // Illumina 1.5, 1.3, Solexa, and current qualities shifted by 31.
        for qualities in [["hgfhB", "hhhB"], ["h@Yb", "ggg"], [";ABh", "hh"], ["eYKB", "eee"]] {
            assert!(is_64(20, &qualities), "{qualities:?}");
        }
        // No base would be dropped.
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
            // HiFi: all high, with few low qualities, binned.
            ["~~~~~", "~~~~~"],
            ["~~~n~", "~@~~~"],
            ["IDDIA", "IIIID"],
            // Long reads and consensus reads of other makers, good reads only.
            ["SSSMS", "SSHHA"],
            ["]]]]U", "]]S@]"],
            ["zzz@z", "zzzzz"],
            ["#hhhh", "hhhhh"],
            // Made-up qualities.
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
