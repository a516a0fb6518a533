//! Splits off a part as a separate database, for machines that cannot hold the whole one.

use merganser_io::AtomicFile;
use merganser_run::{Cancel, ConfigError};

use super::file::Writer;
use super::{Content, Counts, Data, Database, GROUPS};
use crate::Error;

impl Database {
    /// Writes a part, numbered from 0, as a separate database.
    ///
    /// It has all targets and taxa, but finds only the targets of the part. The locations that features keep were
    /// chosen over all genomes, so that the results of reads from all parts, [joined](crate::Merger), equal those
    /// from the whole database. Nothing can be added to it.
    ///
    /// # Errors
    /// If there is no such part or the database has no file; if it is damaged; if writing fails, or the output is a
    /// pipe or a device; if cancelled.
    pub fn split(
        &self,
        part: usize,
        output: AtomicFile,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Database, Error> {
        let Data::File { mapping, header } = &self.data else {
            return Err(Error::Config(ConfigError::new("only a database in a file can be split")));
        };
        if part >= self.parts {
            let problem = format!("part {part} does not exist: there are {}, from 0", self.parts);
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
        // The data that was copied is valid only if the file has not changed meanwhile.
        self.check(threads, cancel)?;
        let (params, taxonomy) = (self.params, self.taxonomy.clone());
        let (targets, left_out) = (self.targets.clone(), self.left_out);
        let (parts, pruned) = (1, true);
        let content = Content { params, targets, taxonomy, parts, counts, pruned, left_out };
        writer.finish(&content, Database::of_file)
    }

    /// Counts the features of a part and their locations.
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
