//! The sequences of a reference and their names in SAM.

use merganser_run::{Warnings, thousands};

/// The maximum number of bases of a contig: positions and template lengths are signed 32-bit numbers in BAM,
/// and SAM text has the same limit (SAM specification, sections 1.3 and 4.2).
const MAX_CONTIG: u32 = i32::MAX as u32;

/// A sequence of the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contig {
    /// The name: the FASTA header up to the first blank.
    pub name: String,
    /// The position of the first base when all sequences are concatenated.
    pub start: u32,
    /// The length in bases.
    pub len: u32,
    /// The number of first bases that follow the last one once more in the concatenation, so that reads over the
    /// junction of a circular contig align there; 0 for a linear contig.
    pub repeated: u32,
}

impl Contig {
    /// Returns an error message if no record can contain the name, because it would change the meaning of a SAM line.
    pub fn unnameable(&self) -> Option<String> {
        let name = &self.name;
        let has_blank = name.contains(|letter: char| letter.is_control() || letter == ' ');
        (name.is_empty() || name.starts_with(['*', '=']) || has_blank).then(|| {
            format!("'{}' cannot be the name of a contig in SAM: rename it", name.escape_default())
        })
    }

    /// Whether SAM allows the name (specification, section 1.2.1).
    fn is_allowed(&self) -> bool {
        let legal = |byte: u8| byte.is_ascii_graphic() && !b"\\,\"'`()[]{}<>".contains(&byte);
        self.name.bytes().all(legal)
    }

    /// Returns whether the tag XA can contain the name: whether it has none of the separators of XA.
    pub fn may_stand_in_xa(name: &str) -> bool {
        !name.contains([',', ';'])
    }

    /// Returns an error message if the contig is too long for the positions of SAM and BAM.
    pub fn too_long(&self) -> Option<String> {
        let Contig { name, len, .. } = self;
        (*len > MAX_CONTIG).then(|| {
            format!(
                "contig {name} is longer than the {MAX_CONTIG} bases that SAM and BAM can hold: \
                 split it"
            )
        })
    }

    /// Returns the position after the last base, including those that are repeated.
    pub fn end(&self) -> u32 {
        self.start + self.len + self.repeated
    }

    /// Whether the last base is followed by the first one.
    pub fn is_circular(&self) -> bool {
        self.repeated > 0
    }
}

/// Warns about contigs whose names SAM does not allow, although many programs accept them.
pub fn warn_of_names(contigs: &[Contig], warnings: &Warnings) {
    let mut others = contigs.iter().filter(|contig| !contig.is_allowed());
    let Some(first) = others.next() else { return };
    let count = thousands(1 + others.count() as u64);
    warnings.push(format!(
        "{count} contigs have names that SAM does not allow (first: {}), and some programs reject them: \
         rename these sequences, without any of \\ , \" ' ` ( ) [ ] {{ }} < >",
        first.name
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contigs_beyond_the_limit_of_sam_are_refused() {
        let contig = |len| Contig { name: "c".into(), start: 0, len, repeated: 0 };
        assert_eq!(contig(i32::MAX as u32).too_long(), None);
        let problem = contig(i32::MAX as u32 + 1).too_long().unwrap();
        let expected =
            "contig c is longer than the 2147483647 bases that SAM and BAM can hold: split it";
        assert_eq!(problem, expected);
    }
}
