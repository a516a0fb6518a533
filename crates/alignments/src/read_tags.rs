//! Tags of reads that their records keep.

use merganser_io::CommentTags;
use merganser_run::ConfigError;

use crate::Format;
use crate::kept::reads::{Tag, tags_of};

/// Tags that a mapper writes itself.
const OWN: [&[u8; 2]; 9] = [b"NM", b"MD", b"NH", b"HI", b"XA", b"SA", b"MQ", b"MC", b"ms"];
/// Tags with a value for each base, in the order of the bases of their record, which changes with the strand.
const OF_BASES: [&[u8; 2]; 7] = [b"OQ", b"BQ", b"E2", b"U2", b"SQ", b"BD", b"BI"];
/// Tags of base modifications. They count bases in the order of sequencing (SAM tags specification, section 1.7), so they
/// do not change with the strand, but they belong to the whole read.
const OF_MODIFICATIONS: [&[u8; 2]; 5] = [b"MM", b"ML", b"MN", b"Mm", b"Ml"];
/// Tags that describe an alignment, and their type, or `*` for any type: those of the SAM tags specification, of BWA,
/// Bowtie 2 and HISAT2 (which use names that others use for barcodes, with another type), and of minimap2.
const OF_ALIGNMENTS: [&[u8; 3]; 49] = [
    b"AM*", b"AS*", b"CC*", b"CG*", b"CMi", b"CP*", b"H0*", b"H1*", b"H2*", b"IH*", b"PG*", b"PQ*",
    b"SMi", b"TSA", b"UQ*", b"X0i", b"X1i", b"XGi", b"XMi", b"XNi", b"XOi", b"XSi", b"XSA", b"XTA",
    b"YSi", b"YTZ", b"ZSi", b"cg*", b"cmi", b"csZ", b"def", b"dsZ", b"dvf", b"nni", b"rli", b"s1i",
    b"s2i", b"tpA", b"tsA", b"zdi", b"paf", b"XBZ", b"XEi", b"XFi", b"YFZ", b"ZsZ", b"OA*", b"OC*",
    b"OP*",
];
const GROUP: [u8; 2] = *b"RG";

/// The rule that decides which tags of a read its records keep.
///
/// - Tags that a mapper writes itself (NM, MD, NH, HI, XA, SA, MQ, MC, ms) are never kept, and neither are those with a
///   value for each base in the order of the record (OQ, BQ, E2, U2, SQ, BD, BI).
/// - The read group (RG) is always kept, unless the output has read groups of its own.
/// - `*` keeps no tags that describe an earlier alignment, such as AS and XS. If they are named, they are kept.
/// - Base modifications (MM, ML, MN) are not kept for a read that is cut.
/// - Of several tags with one name, the first is kept.
#[derive(Clone, Debug)]
pub struct TagRule {
    which: CommentTags,
    keeps_group: bool,
}

impl TagRule {
    /// Returns the rule for these tags. `keeps_group` decides whether read groups are kept.
    pub fn new(which: &CommentTags, keeps_group: bool) -> TagRule {
        TagRule { which: which.clone(), keeps_group }
    }

    /// Refuses names of tags that are never kept.
    ///
    /// # Errors
    /// If such a name is among `tags`; the message names the option `tags`.
    pub fn check(tags: &CommentTags) -> Result<(), ConfigError> {
        let CommentTags::These(names) = tags else { return Ok(()) };
        let problem = |name: &[u8; 2]| match name {
            name if OWN.contains(&name) => Some("is written for the new alignment"),
            name if OF_BASES.contains(&name) => {
                Some("is in the order of the bases of its record, which depends on the strand")
            }
            _ => None,
        };
        let found = names.iter().find_map(|name| problem(name).map(|problem| (name, problem)));
        let Some((name, problem)) = found else { return Ok(()) };
        let name = String::from_utf8_lossy(name);
        Err(ConfigError::new(format!("`tags`: {name} {problem}: leave it out")))
    }

    /// Returns the tags that a reader must return as comments.
    pub fn of_reader(&self) -> CommentTags {
        if self.keeps_group { self.which.with(GROUP) } else { self.which.clone() }
    }

    fn keeps(&self, name: [u8; 2], kind: u8, is_cut: bool) -> bool {
        let is_in = |list: &[&[u8; 2]]| list.contains(&&name);
        if is_in(&OWN) || is_in(&OF_BASES) || is_cut && is_in(&OF_MODIFICATIONS) {
            return false;
        }
        if name == GROUP {
            return self.keeps_group && kind == b'Z';
        }
        let describes_alignment =
            |known: &&&[u8; 3]| known[..2] == name && (known[2] == kind || known[2] == b'*');
        match &self.which {
            CommentTags::All => OF_ALIGNMENTS.iter().find(describes_alignment).is_none(),
            these => these.have(name),
        }
    }
}

/// The tags of a read that its records keep, in the format of the output.
#[derive(Debug, Default)]
pub struct ReadTags {
    bytes: Vec<u8>,
    names: Vec<[u8; 2]>,
    group: Vec<u8>,
}

impl ReadTags {
    /// Replaces the tags by those that a comment has and `rule` keeps. The comment is the rest of a read's header after
    /// the name, with tags between tabs; other text in it is ignored. `is_cut` tells whether the records have only a
    /// part of the read.
    pub fn fill(&mut self, comment: &[u8], rule: &TagRule, is_cut: bool, format: Format) {
        self.clear();
        for text in tags_of(comment) {
            let &[first, second, b':', kind, b':', ref value @ ..] = text else { continue };
            let name = [first, second];
            if !rule.keeps(name, kind, is_cut) || self.names.contains(&name) {
                continue;
            }
            let Some(tag) = Tag::of(text) else { continue };
            self.names.push(name);
            match format {
                Format::Sam => {
                    self.bytes.push(b'\t');
                    self.bytes.extend_from_slice(text);
                }
                Format::Bam(_) | Format::Cram => tag.put(&mut self.bytes),
            }
            if name == GROUP {
                self.group.extend_from_slice(value);
            }
        }
    }

    /// Removes all tags.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.names.clear();
        self.group.clear();
    }

    /// Returns the tags as they follow the others of a record; in SAM, each after a tab.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the ID of the read group; `None` if no read group is kept.
    pub fn group(&self) -> Option<&[u8]> {
        self.names.contains(&GROUP).then_some(&self.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(comment: &str, tags: &str, keeps_group: bool, is_cut: bool) -> String {
        let mut found = ReadTags::default();
        let rule = TagRule::new(&tags.parse().unwrap(), keeps_group);
        found.fill(comment.as_bytes(), &rule, is_cut, Format::Sam);
        let group = found.group().map(|group| String::from_utf8_lossy(group).into_owned());
        assert_eq!(group.is_some(), keeps_group && comment.contains("RG:Z:"));
        assert!(group.is_none_or(|group| comment.contains(&format!("RG:Z:{group}"))));
        String::from_utf8_lossy(found.bytes()).into_owned()
    }

    #[test]
    fn named_tags_are_kept() {
        let comment = " BC:Z:AC\tRX:Z:GG\t1:N:0:AC\tRG:Z:a\tAS:i:5\tBC:Z:TT";
        assert_eq!(kept(comment, "BC,ZZ", true, false), "\tBC:Z:AC\tRG:Z:a");
        assert_eq!(kept(comment, "AS,RX,RG", false, false), "\tRX:Z:GG\tAS:i:5");
        assert_eq!(kept("\tBC:Z:AC", "BC", true, false), "\tBC:Z:AC");
        for other in ["", " ", " 1:N:0:ACGT", "\tBC:Z", "\tBC:i:x", "\tRG:A:x"] {
            assert_eq!(kept(other, "*", true, false), "", "{other}");
        }
    }

    #[test]
    fn all_tags_are_those_that_do_not_depend_on_the_alignment() {
        let alignment =
            "\tNM:i:1\tMD:Z:5\tms:i:3\tMC:Z:*\tAS:i:1\tXS:A:+\tXM:i:1\tts:A:+\tcg:B:I,5\tOQ:Z:II";
        let read = "\tXM:Z:ACG\tts:i:5\tMM:Z:C+m,1;\tML:B:C,9\tMN:i:4\tXT:i:7\tRG:Z:";
        assert_eq!(kept(&format!("{alignment}{read}"), "*", true, false), read);
        let cut = "\tXM:Z:ACG\tts:i:5\tXT:i:7\tRG:Z:";
        assert_eq!(kept(read, "*", true, true), cut);
        assert_eq!(kept(alignment, "AS,XS,ts", true, false), "\tAS:i:1\tXS:A:+\tts:A:+");
    }

    #[test]
    fn names_of_tags_that_are_never_kept_are_refused() {
        let of = |tags: &str| TagRule::check(&tags.parse().unwrap());
        assert!(of("*").is_ok() && of("BC,AS,RG").is_ok());
        for (tags, said) in [("BC,NM", "NM is written"), ("OQ", "OQ is in the order of the bases")]
        {
            let message = of(tags).unwrap_err().to_string();
            assert!(message.starts_with(&format!("`tags`: {said}")), "{message}");
        }
    }
}
