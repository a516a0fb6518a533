//! Conversion between lines of SAM and records of BAM.

use noodles_sam::alignment::io::Write as _;

use super::header::References;
use crate::cram::Stored;
use crate::fields::records;
use memchr::memmem;

impl References {
    /// Appends the lines of records of BAM. Their CIGAR is that of the tag CG, if they have one in its place (SAM
    /// specification, section 4.2.2).
    pub(super) fn lines_of(&self, all: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let mut reader = noodles_bam::io::Reader::from(all);
        let mut record = noodles_bam::Record::default();
        for bytes in records(all) {
            reader.read_record(&mut record).map_err(|error| error.to_string())?;
            let start = out.len();
            noodles_sam::io::Writer::new(&mut *out)
                .write_alignment_record(&self.header, &record)
                .map_err(|error| of_record(&error))?;
            if Stored::new(bytes).is_long() {
                remove_long_cigar(out, start);
            }
        }
        Ok(())
    }

    /// Appends the records of BAM of lines.
    pub(super) fn records_of(&self, lines: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let mut reader = noodles_sam::io::Reader::new(lines);
        let mut record = noodles_sam::Record::default();
        let mut writer = noodles_bam::io::Writer::from(out);
        while reader.read_record(&mut record).map_err(|error| error.to_string())? > 0 {
            writer
                .write_alignment_record(&self.header, &record)
                .map_err(|error| of_record(&error))?;
        }
        Ok(())
    }
}

/// Removes the tag CG from the line that begins at `start`.
fn remove_long_cigar(text: &mut Vec<u8>, start: usize) {
    let Some(at) = memmem::find(&text[start..], b"\tCG:B:I,") else { return };
    let (from, next) = (start + at, start + at + 1);
    let len = text[next..].iter().position(|byte| matches!(byte, b'\t' | b'\n'));
    text.drain(from..len.map_or(text.len(), |len| next + len));
}

fn of_record(error: &std::io::Error) -> String {
    format!("an alignment cannot be written in this format: {error}")
}

#[cfg(test)]
mod tests {
    use merganser_io::AlignmentHeader;

    use super::References;

    /// Appends tags to the only record.
    fn add(tags: &[u8], record: &mut Vec<u8>) {
        record.extend_from_slice(tags);
        let size = record.len() as u32 - 4;
        record[..4].copy_from_slice(&size.to_le_bytes());
    }

    #[test]
    fn a_long_cigar_is_no_tag_in_sam() {
        let header = AlignmentHeader::Sam(b"@SQ\tSN:c\tLN:900\n".to_vec());
        let references = References::of(&header).unwrap();
        let line = |cigar: &str, tags: &str| {
            format!("r\t0\tc\t7\t9\t{cigar}\t*\t0\t0\tACGT\tIIII{tags}\n")
        };
        // 1M1I2M in BAM's numbers.
        let operations = [3u32, 16, 17, 32].map(u32::to_le_bytes).concat();
        let long = [b"CGBI", &operations[..]].concat();
        // The placeholder has all bases of the read, and those of the reference.
        for (cigar, [before, behind], expected) in [
            ("4S3N", ["", ""], ""),
            ("4S3N", ["", "BCZx\0"], "\tBC:Z:x"),
            ("4S3N", ["NMC\x01", "BCZx\0"], "\tNM:i:1\tBC:Z:x"),
            ("4M", ["NMC\x01", ""], "\tNM:i:1\tCG:B:I,16,17,32"),
        ] {
            let (mut bam, mut sam) = (Vec::new(), Vec::new());
            references.records_of(line(cigar, "").as_bytes(), &mut bam).unwrap();
            add(&[before.as_bytes(), &long, behind.as_bytes()].concat(), &mut bam);
            references.records_of(line("4M", "").as_bytes(), &mut bam).unwrap();
            references.lines_of(&bam, &mut sam).unwrap();
            let cigar = if cigar == "4M" { cigar } else { "1M1I2M" };
            let expected = [line(cigar, expected), line("4M", "")].concat();
            assert_eq!(String::from_utf8(sam).unwrap(), expected);
        }
    }
}
