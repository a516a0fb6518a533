//! A part of a database as a database of its own, for machines that cannot hold all.

use merganser_io::AtomicFile;
use merganser_run::{Cancel, ConfigError};

use super::file::Writer;
use super::{Content, Counts, Data, Database, GROUPS};
use crate::Error;

impl Database {
    /// Writes a part, from 0, as a database of its own: it has all targets and taxa, and finds the targets of
    /// the part. Which locations of a feature are kept was decided over all genomes, so that what reads
    /// are found to be in the parts comes, [joined](crate::Merger), to what they are in the whole. Nothing can
    /// be added to it.
    ///
    /// # Errors
    /// If there is no such part or the database is in no file; if it is damaged; as writing, also to a pipe or a
    /// device; if cancelled.
    pub fn split(
        &self,
        part: usize,
        output: AtomicFile,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Database, Error> {
        let Data::File { mapping, header } = &self.data else {
            return Err(Error::Config(ConfigError::new("only a database in a file is divided")));
        };
        if part >= self.parts {
            let problem = format!("part {part} of {}: there is none", self.parts);
            return Err(Error::Config(ConfigError::new(problem)));
        }
        output.refuse_direct()?;
        self.check(threads, cancel)?;
        let writer = Writer::new(output, 1);
        for group in 0..GROUPS {
            cancel.check()?;
            let (tables, sections, checksum) = header.table(mapping.bytes(), group, part);
            let place = writer.place(0, tables.len() as u64 / 8, sections);
            writer.write(place, 0, tables)?;
            writer.check(place, checksum);
        }
        let counts = Counts { overfull: 0, dropped: 0, ..self.counts_of(part) };
        // What was read is right only if the file is still what it was.
        self.check(threads, cancel)?;
        let (params, taxonomy) = (self.params, self.taxonomy.clone());
        let (targets, left_out) = (self.targets.clone(), self.left_out);
        let (parts, pruned) = (1, true);
        let content = Content { params, targets, taxonomy, parts, counts, pruned, left_out };
        writer.finish(&content, Database::of_file)
    }

    /// The features of a part and their locations.
    fn counts_of(&self, part: usize) -> Counts {
        let mut counts = Counts::default();
        for section in self.sections(part) {
            for (_, locations) in section.features() {
                counts.features += 1;
                counts.locations += locations.len() as u64;
            }
        }
        counts
    }
}
