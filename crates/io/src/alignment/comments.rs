//! Tags of alignments that become comments of reads.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use merganser_run::options::{Serialize, Serializer};

/// The tags of alignments that are written into the headers of their reads, after the name: `BC:Z:ACGT`, each after a
/// tab, as `samtools fastq -T` writes them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CommentTags {
    /// None.
    #[default]
    None,
    /// All.
    All,
    /// The tags with these names.
    These(Arc<[[u8; 2]]>),
}

impl CommentTags {
    /// Whether no tag is written.
    pub fn is_none(&self) -> bool {
        *self == CommentTags::None
    }

    /// Whether a tag is among them.
    pub fn have(&self, tag: [u8; 2]) -> bool {
        match self {
            CommentTags::None => false,
            CommentTags::All => true,
            CommentTags::These(tags) => tags.contains(&tag),
        }
    }
}

impl CommentTags {
    /// Returns these tags and another one.
    #[must_use]
    pub fn with(&self, tag: [u8; 2]) -> CommentTags {
        match self {
            CommentTags::None => CommentTags::These(Arc::new([tag])),
            CommentTags::These(tags) if !tags.contains(&tag) => {
                CommentTags::These(tags.iter().copied().chain([tag]).collect())
            }
            _ => self.clone(),
        }
    }
}

impl fmt::Display for CommentTags {
    /// Writes the text that [`FromStr`] parses; nothing for no tags.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommentTags::None => Ok(()),
            CommentTags::All => formatter.write_str("*"),
            CommentTags::These(tags) => {
                let names = tags.iter().map(|&tag| tag.map(char::from).iter().collect::<String>());
                formatter.write_str(&names.collect::<Vec<_>>().join(","))
            }
        }
    }
}

impl Serialize for CommentTags {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for CommentTags {
    type Err = String;

    /// Parses names separated by commas, or `*` for all tags.
    fn from_str(text: &str) -> Result<CommentTags, String> {
        if text == "*" {
            return Ok(CommentTags::All);
        }
        let name = |name: &str| match *name.as_bytes() {
            [first, second] if first.is_ascii_alphabetic() && second.is_ascii_alphanumeric() => {
                Ok([first, second])
            }
            _ => Err(format!(
                "'{name}' is not the name of a tag, such as BC; separate them by commas, or give * for all"
            )),
        };
        Ok(CommentTags::These(text.split(',').map(name).collect::<Result<_, String>>()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_letter_and_another_letter_or_digit() {
        let tags: CommentTags = "BC,X0,zz".parse().unwrap();
        assert!(tags.have(*b"X0") && !tags.have(*b"RX") && !tags.is_none());
        assert!("*".parse::<CommentTags>().unwrap().have(*b"RX"));
        assert_eq!(tags.with(*b"RG").with(*b"BC").to_string(), "BC,X0,zz,RG");
        assert_eq!(CommentTags::All.with(*b"RG").to_string(), "*");
        assert_eq!(CommentTags::None.with(*b"RG").to_string(), "RG");
        assert!(CommentTags::default().is_none());
        for wrong in ["", "B", "BCX", "0X", "BC,", "BC RX", "B-"] {
            wrong.parse::<CommentTags>().unwrap_err();
        }
    }
}
