//! Conversion between lines of SAM and records of BAM.

use noodles_sam::alignment::io::Write as _;

use super::header::References;

impl References {
    /// Appends the lines of records of BAM.
    pub(super) fn lines_of(&self, records: &[u8], out: &mut Vec<u8>) -> Result<(), String> {
        let mut reader = noodles_bam::io::Reader::from(records);
        let mut record = noodles_bam::Record::default();
        let mut writer = noodles_sam::io::Writer::new(out);
        while reader.read_record(&mut record).map_err(|error| error.to_string())? > 0 {
            writer
                .write_alignment_record(&self.header, &record)
                .map_err(|error| of_record(&error))?;
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

fn of_record(error: &std::io::Error) -> String {
    format!("an alignment cannot be written in this format: {error}")
}
