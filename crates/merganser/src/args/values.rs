//! Values of options that are not plain numbers.

use merganser_io::QualityOffset;
use merganser_taxonomy::Rank;
use std::fmt;
use std::str::FromStr;

/// A number, or `auto` to have it chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Auto(pub(crate) Option<usize>);

impl FromStr for Auto {
    type Err = String;

    fn from_str(text: &str) -> Result<Auto, String> {
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Auto(None));
        }
        text.parse().map(|number| Auto(Some(number))).map_err(|_| "give a number or auto".into())
    }
}

impl fmt::Display for Auto {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(formatter),
            None => formatter.write_str("auto"),
        }
    }
}

/// 33 or 64, as `--quality-offset` takes.
pub(super) fn quality_offset(text: &str) -> Result<QualityOffset, String> {
    let offset = text.parse().ok().and_then(QualityOffset::of_number);
    offset.ok_or_else(|| "it is 33 or 64".to_owned())
}

/// Bases of a k-mer, 1 to 128.
pub(super) fn kmer_length(text: &str) -> Result<u8, String> {
    let k = text.parse().ok().filter(|k| (1..=128).contains(k));
    k.ok_or_else(|| "k is a whole number from 1 to 128".to_owned())
}

/// A rank by its name.
pub(super) fn rank(text: &str) -> Result<Rank, String> {
    let all = || Rank::all().map(Rank::name).collect::<Vec<_>>().join(", ");
    Rank::named(text).ok_or_else(|| format!("give one of {}", all()))
}

#[cfg(test)]
mod tests {
    use super::{Auto, kmer_length};

    #[test]
    fn k_is_a_whole_number_of_bases() {
        assert_eq!((kmer_length("1"), kmer_length("128")), (Ok(1), Ok(128)));
        for wrong in ["0", "129", "11.9", "-21", "21 ", "k", ""] {
            assert!(kmer_length(wrong).unwrap_err().ends_with("from 1 to 128"), "{wrong}");
        }
    }

    #[test]
    fn numbers_and_auto() {
        assert_eq!("auto".parse(), Ok(Auto(None)));
        assert_eq!("12".parse(), Ok(Auto(Some(12))));
        assert!("-1".parse::<Auto>().is_err());
        assert_eq!(Auto(None).to_string(), "auto");
    }
}
