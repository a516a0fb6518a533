//! The alignment formats, for the readers of `merganser-io`.

use std::io::{self, Read};
use std::path::Path;

use merganser_io::{Alignments, Containers, Formats, Problem, Reads};

use crate::read::{bam, cram, sam};

/// SAM, BAM and CRAM. CRAM requires the feature `cram`; without it, such files are rejected.
#[derive(Clone, Copy, Debug, Default)]
pub struct AllFormats;

impl Formats for AllFormats {
    fn alignments(&self) -> Option<&'static dyn Alignments> {
        Some(&AllFormats)
    }
}

impl Alignments for AllFormats {
    fn is_sam_header(&self, line: &[u8]) -> bool {
        sam::is_header(line)
    }

    fn read_sam(&self, lines: &[u8], reads: &mut Reads) -> Result<(), Problem> {
        sam::read(lines, reads)
    }

    fn bam_header(&self, bytes: &[u8]) -> Option<usize> {
        bam::header(bytes)
    }

    fn whole_bam(&self, bytes: &[u8], templates: bool) -> Result<(usize, u64), u64> {
        bam::whole(bytes, templates)
    }

    fn bam_record_size(&self, bytes: &[u8]) -> usize {
        bam::needs(bytes)
    }

    fn read_bam(&self, records: &[u8], reads: &mut Reads) -> Result<(), Problem> {
        bam::read(records, reads)
    }

    fn open_cram(
        &self,
        input: Box<dyn Read + Send>,
        reference: Option<&Path>,
    ) -> io::Result<Box<dyn Containers>> {
        cram::open(input, reference)
    }
}
