//! Alignments that are kept beside their reads, and the check that those of a template lie side by side.

use merganser_io::{AlignmentBytes, Reads, Role, WhichAlignments};

use super::{Alignment, NOT_PRIMARY, add};
use crate::flag;

/// Adds alignments and keeps those that are wanted, in whole chunks of templates.
#[derive(Default)]
pub(super) struct Templates {
    /// The name of the last alignment.
    name: Vec<u8>,
    /// Whether there was an alignment.
    begun: bool,
    /// The primary alignments of this template: their roles, at most two.
    primary: Vec<Role>,
    /// Whether the last primary alignment lacks its mate.
    lacks_mate: bool,
}

impl Templates {
    /// Adds the read of an alignment, whose record in the file `put` appends.
    pub(super) fn add(
        &mut self,
        reads: &mut Reads,
        alignment: &impl Alignment,
        put: impl FnOnce(&mut AlignmentBytes) -> Result<(), String>,
    ) -> Result<(), String> {
        let is_primary = alignment.flags() & NOT_PRIMARY == 0;
        if reads.which == WhichAlignments::OfTemplates {
            self.check(reads, alignment)?;
        }
        add(reads, alignment)?;
        match reads.which {
            WhichAlignments::None => return Ok(()),
            WhichAlignments::OfReads if !is_primary => return Ok(()),
            _ => {}
        }
        put(&mut reads.alignments)?;
        if is_primary || reads.which == WhichAlignments::All {
            reads.alignments.end_read();
        } else if !self.primary.is_empty() {
            reads.alignments.add_to_last();
        }
        Ok(())
    }

    /// Checks that the templates of a chunk are whole.
    pub(super) fn end(&mut self, reads: &mut Reads) -> Result<(), String> {
        match reads.which {
            WhichAlignments::OfTemplates => self.end_template(reads),
            _ => Ok(()),
        }
    }

    fn check(&mut self, reads: &mut Reads, alignment: &impl Alignment) -> Result<(), String> {
        let name = alignment.name().unwrap_or(b"*");
        if !self.begun || name != self.name {
            self.end_template(reads)?;
            self.begun = true;
            self.primary.clear();
            self.name.clear();
            self.name.extend_from_slice(name);
        }
        let flags = alignment.flags();
        if flags & NOT_PRIMARY != 0 {
            return Ok(());
        }
        let role = Role::of(flags);
        let is_next = match self.primary[..] {
            [] => true,
            [Role::First] => role == Role::Second,
            _ => false,
        };
        if !is_next {
            return self
                .ungrouped(reads, "has several reads that are not a first and a second mate");
        }
        self.primary.push(role);
        self.lacks_mate = flags & flag::PAIRED != 0 && self.primary.len() == 1;
        Ok(())
    }

    fn end_template(&mut self, reads: &mut Reads) -> Result<(), String> {
        if !self.begun {
            return Ok(());
        }
        if self.primary.is_empty() {
            return self.ungrouped(reads, "has no primary alignment beside its other alignments");
        }
        if self.lacks_mate && !reads.is_grouped {
            return self.ungrouped(reads, "is not beside its mate");
        }
        Ok(())
    }

    fn ungrouped(&self, reads: &mut Reads, what: &str) -> Result<(), String> {
        reads.is_ungrouped = true;
        Err(format!("read '{}' {what}", String::from_utf8_lossy(&self.name)))
    }
}
