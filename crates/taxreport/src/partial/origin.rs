//! The origin of results: the database, the options and the reads. Results of the same database and options,
//! but of different reads, can be joined.

use std::fmt::Display;
use std::io;
use std::path::Path;

use merganser_io::{QualityOffset, RecordBatch};
use merganser_seq::hash::murmur_finalizer;

use super::{BY_DATABASE, Decoder, Encoder, MAGIC, OF_RUNS, OF_SHARDS, WITH_BASES, WrittenShard};
use crate::Error;

/// Names and values, in the order in which they are compared.
pub type Fields = Vec<(String, String)>;

/// The origin of results, which is at the beginning of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Whether the database is a Kraken 2 database.
    pub is_kraken2: bool,
    /// The fields that identify the database.
    pub database: Fields,
    /// The options that the counts depend on.
    pub parameters: Fields,
    /// The [sum](reads_sum) over all reads.
    pub reads: u64,
    /// The shard of a job that was classified; `None` for a whole run.
    pub shard: Option<WrittenShard>,
    /// Whether the file also has the reads by database, which only some runs with several databases count.
    pub by_database: bool,
}

/// Returns a field with a value.
pub fn field(name: &str, value: impl Display) -> (String, String) {
    (name.to_owned(), value.to_string())
}

/// Returns a field with the value `yes` or `no`.
pub fn flag(name: &str, value: bool) -> (String, String) {
    field(name, if value { "yes" } else { "no" })
}

/// Returns a field with the offset of qualities, only if qualities are used and are not Phred+33: earlier versions
/// had no such field.
pub fn offset_field(least: u8, offset: QualityOffset) -> Option<(String, String)> {
    let matters = least > 0 && offset != QualityOffset::Phred33;
    matters.then(|| field("quality-offset", offset.number()))
}

impl Origin {
    /// Writes the magic, the version and the origin.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, encoder: &mut Encoder<'_>) -> io::Result<()> {
        encoder.bytes(&MAGIC)?;
        let version = if self.shard.is_some() { OF_SHARDS } else { OF_RUNS };
        let version = version + WITH_BASES + if self.by_database { BY_DATABASE } else { 0 };
        encoder.bytes(&version.to_le_bytes())?;
        encoder.number(self.is_kraken2.into())?;
        for fields in [&self.database, &self.parameters] {
            encoder.number(fields.len() as u64)?;
            for (name, value) in fields {
                encoder.text(name.as_bytes())?;
                encoder.text(value.as_bytes())?;
            }
        }
        encoder.bytes(&self.reads.to_le_bytes())?;
        self.shard.map_or(Ok(()), |shard| shard.write(encoder))
    }

    /// Reads an origin.
    ///
    /// # Errors
    /// If reading fails, or if the file is damaged.
    pub fn read(decoder: &mut Decoder) -> Result<Origin, Error> {
        let is_kraken2 = match decoder.number()? {
            0 => false,
            1 => true,
            _ => return Err(decoder.damaged("the kind of database is unknown")),
        };
        let (database, parameters) = (read_fields(decoder)?, read_fields(decoder)?);
        let reads = u64::from_le_bytes(decoder.array()?);
        let shard = decoder.is_of_shard().then(|| WrittenShard::read(decoder)).transpose()?;
        let by_database = decoder.is_by_database();
        Ok(Origin { is_kraken2, database, parameters, reads, shard, by_database })
    }

    /// Returns an error if results with this origin, in `path`, cannot be joined with those of `other`, in `first`;
    /// `None` if they can.
    pub fn differs(&self, path: &Path, other: &Origin, first: &Path) -> Option<Error> {
        let name = first.display();
        let refuse = |text: String| Some(Error::content(path, text));
        if self.is_kraken2 != other.is_kraken2 {
            let kind = |is_kraken2| if is_kraken2 { "of Kraken 2" } else { "of merganser" };
            let (own, others) = (kind(self.is_kraken2), kind(other.is_kraken2));
            return refuse(format!(
                "is of a database {own}, and {name} of one {others}: only results of the same \
                 database can be joined"
            ));
        }
        if let Some([field, own, others]) = difference(&self.database, &other.database) {
            return refuse(format!(
                "is of another database than {name} ({field} {own}, and there {others}): only \
                 results of the same one can be joined"
            ));
        }
        if self.by_database != other.by_database {
            let (with, not) = if self.by_database { ("has", "lacks") } else { ("lacks", "has") };
            return refuse(format!(
                "{with} the reads by database (classify --database-report), and {name} {not} them: only results of \
                 the same options can be joined"
            ));
        }
        let [field, own, others] = difference(&self.parameters, &other.parameters)?;
        refuse(format!(
            "was classified with {field} {own}, and {name} with {others}: only results of the same \
             options can be joined"
        ))
    }
}

fn read_fields(decoder: &mut Decoder) -> Result<Fields, Error> {
    let (count, mut fields) = (decoder.number()?, Fields::new());
    for _ in 0..count {
        let field = (decoder.text()?, decoder.text()?);
        // The fields are shown in messages.
        if field.0.contains(char::is_control) || field.1.contains(char::is_control) {
            return Err(decoder.damaged("an option has control characters"));
        }
        fields.push(field);
    }
    Ok(fields)
}

/// Finds the first field that differs; returns its name and both values, "none" for a field that is missing.
fn difference(one: &Fields, other: &Fields) -> Option<[String; 3]> {
    let value = |fields: &Fields, name: &str| {
        let field = fields.iter().find(|(other, _)| other == name);
        field.map_or_else(|| "none".to_owned(), |(_, value)| value.clone())
    };
    let values = |name: &String| [name.clone(), value(one, name), value(other, name)];
    let names = one.iter().chain(other).map(|(name, _)| name);
    names.map(values).find(|[_, own, others]| own != others)
}

/// Returns a sum of hashes of the names and letters of a batch's reads. The same reads give the same sum in any order,
/// so that results of the same reads are detected.
pub fn reads_sum(batch: &RecordBatch) -> u64 {
    let records = (0..batch.len()).map(|at| batch.record(at));
    let hash = |record: merganser_io::Record<'_>| {
        let [name, letters] = [record.name, record.letters].map(crc32fast::hash);
        murmur_finalizer(u64::from(name) << 32 | u64::from(letters))
    };
    records.map(hash).fold(0, u64::wrapping_add)
}
