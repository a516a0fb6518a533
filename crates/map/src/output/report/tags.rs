//! Tags of reads that their records keep, and reads without a hit.

use super::{RecordSink, ReportUnit, Reporter};
use crate::Format;

impl Reporter<'_> {
    /// Takes the tags that records of the reads keep, in the form of `format`, if they have the first `crop` bases.
    pub(super) fn take_tags(&mut self, unit: &ReportUnit<'_>, format: Format, crop: Option<u32>) {
        for mate in 0..unit.batch.unit() {
            let read = unit.read + mate;
            let [_, letters, _] = unit.batch.get(read);
            let is_cut = crop.is_some_and(|crop| letters.len() > crop as usize);
            let tags = &mut self.tags[mate];
            tags.fill(unit.batch.comment(read), self.kept.rule(), is_cut, format);
            if let Some(group) = tags.group() {
                self.kept.note_group(unit.batch, read, group);
            }
        }
    }

    /// Writes the reads of a unit as FASTQ, or as FASTA if they have no qualities, with the tags that records keep.
    pub(super) fn set_aside(&mut self, unit: &ReportUnit<'_>, sink: &mut dyn RecordSink) {
        let Some(out) = sink.unmapped() else { return };
        if self.config.tags.is_some() {
            self.take_tags(unit, Format::Sam, None);
        }
        for mate in 0..unit.batch.unit() {
            let [name, letters, qualities] = unit.batch.get(unit.read + mate);
            let fasta = qualities.is_empty() && !letters.is_empty();
            out.push(if fasta { b'>' } else { b'@' });
            out.extend_from_slice(name);
            out.extend_from_slice(self.tags[mate].bytes());
            out.push(b'\n');
            out.extend_from_slice(letters);
            out.push(b'\n');
            if !fasta {
                out.extend_from_slice(b"+\n");
                out.extend_from_slice(qualities);
                out.push(b'\n');
            }
        }
    }
}
