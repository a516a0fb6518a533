//! Tags of alignments that become comments of reads.

use std::str::FromStr;
use std::sync::Arc;

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
        assert!(CommentTags::default().is_none());
        for wrong in ["", "B", "BCX", "0X", "BC,", "BC RX", "B-"] {
            wrong.parse::<CommentTags>().unwrap_err();
        }
    }
}
