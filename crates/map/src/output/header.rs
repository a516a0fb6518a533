//! SAM's header: the text that BAM has, too.

use merganser_filter::Threshold;
use merganser_run::ConfigError;
use merganser_store::shard::JobShard;

use super::{ShardContent, ShardMark};
use crate::index::Index;
use crate::{Config, Error, Format, NMode, Select, Strand};

/// A read group, SAM's `@RG`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadGroup {
    line: String,
    id: String,
}

impl ReadGroup {
    /// Reads `@RG\tID:…`; `\t` may be written as these two letters.
    ///
    /// # Errors
    /// If it is no such line.
    pub fn parse(text: &str) -> Result<ReadGroup, Error> {
        ReadGroup::of_line(text.replace("\\t", "\t"), text)
    }

    /// Reads a line with tabs, which messages call `text`.
    fn of_line(line: String, text: &str) -> Result<ReadGroup, Error> {
        let wrong = |what: &str| {
            Error::Config(ConfigError::new(format!(
                "`read_group` '{text}': {what}, e.g. '@RG\\tID:a\\tSM:b'"
            )))
        };
        let mut fields = line.split('\t');
        if fields.next() != Some("@RG") {
            return Err(wrong("give a line that begins with @RG"));
        }
        let mut id = None;
        for field in fields {
            match field.split_once(':') {
                Some((tag, value)) if tag.len() == 2 && !value.is_empty() => {
                    if tag == "ID" {
                        id = Some(value.to_owned());
                    }
                }
                _ => return Err(wrong("give TAG:VALUE fields")),
            }
        }
        if line.contains(|letter: char| letter.is_control() && letter != '\t') {
            return Err(wrong("give one line, without control characters"));
        }
        match id {
            Some(id) => Ok(ReadGroup { line, id }),
            None => Err(wrong("an ID is missing")),
        }
    }

    /// The same fields with other values, which `fill` makes of each tag and value. Control characters of these become
    /// `_`: a value has none (SAM specification, section 1.3).
    ///
    /// # Errors
    /// If a value is empty then.
    pub fn filled(&self, fill: impl Fn(&str, &str) -> String) -> Result<ReadGroup, Error> {
        let field = |field: &str| match field.split_once(':') {
            Some((tag, value)) => {
                format!("{tag}:{}", fill(tag, value).replace(char::is_control, "_"))
            }
            None => field.to_owned(),
        };
        let line = self.line.split('\t').map(field).collect::<Vec<_>>().join("\t");
        ReadGroup::of_line(line.clone(), &line)
    }

    /// Its ID.
    pub fn id(&self) -> &str {
        &self.id
    }
}

/// The header's text: contigs, with their checksums if there are any, read groups, and the options that decide what is written.
pub(super) fn text(config: &Config, index: &Index, checksums: &[String], paired: bool) -> String {
    let order = if config.sort { "SO:coordinate" } else { "SO:unsorted\tGO:query" };
    let mut text = format!("@HD\tVN:1.6\t{order}\n");
    for (number, contig) in index.contigs().iter().enumerate() {
        text += &format!("@SQ\tSN:{}\tLN:{}", contig.name, contig.len);
        if let Some(checksum) = checksums.get(number) {
            text += &format!("\tM5:{checksum}");
        }
        text.push('\n');
    }
    for group in &config.read_groups {
        text += &format!("{}\n", group.line);
    }
    let version = env!("CARGO_PKG_VERSION");
    let options = options(config, paired);
    text += &format!("@PG\tID:merganser\tPN:merganser\tVN:{version}\tCL:merganser map {options}\n");
    text + &mark(config, index).map_or_else(String::new, |mark| mark.line())
}

/// The mark of a shard, whose content is not known yet.
pub(super) fn mark(config: &Config, index: &Index) -> Option<ShardMark> {
    let (share, Format::Bam(level)) = (config.share.as_ref()?, config.format) else { return None };
    let job = share.job() ^ u64::from(index.view().text.checksum()) << 32;
    let of = JobShard { shard: share.shard(), job };
    Some(ShardMark { of, level, content: ShardContent::default() })
}

fn options(config: &Config, paired: bool) -> String {
    let mut options = format!("-e {}", shown(config.threshold));
    options += match config.select {
        Select::All => " --all",
        Select::Best => " --best",
        Select::BestStrata => " --best-strata",
    };
    if config.max_hits > 0 {
        options += &format!(" --max-hits {}", config.max_hits);
    }
    if config.xa > 0 {
        options += &format!(" --xa {}", config.xa);
    }
    if config.hamming {
        options += " --hamming";
    }
    options += match config.strand {
        Strand::Both => "",
        Strand::Forward => " --strand forward",
        Strand::Reverse => " --strand reverse",
    };
    if config.n_mode == NMode::Match {
        options += " --n-mode match";
    }
    if let Some(crop) = config.crop {
        options += &format!(" --crop {crop}");
    }
    if paired {
        let (least, most) = (config.min_insert, config.max_insert);
        options += &format!(" --min-insert {least} --max-insert {most}");
        if let Some(edits) = config.rescue {
            options += &format!(" --rescue {}", shown(edits));
        }
    }
    for (given, option) in [
        (config.clip, " --clip"),
        (config.eqx, " --eqx"),
        (config.no_unmapped, " --no-unmapped"),
        (config.sort, " --sort"),
    ] {
        if given {
            options += option;
        }
    }
    options
}

/// A threshold as it is given on the command line.
fn shown(threshold: Threshold) -> String {
    match threshold {
        Threshold::Edits(edits) => edits.to_string(),
        Threshold::Percent(percent) => format!("{percent}%"),
    }
}

#[cfg(test)]
mod tests {
    use super::ReadGroup;

    #[test]
    fn read_groups() {
        let group = ReadGroup::parse("@RG\\tID:x\\tSM:y z").unwrap();
        assert_eq!((group.id(), &group.line[..]), ("x", "@RG\tID:x\tSM:y z"));
        let filled = group.filled(|_, value| value.replace('x', "a\t\\tb\n")).unwrap();
        assert_eq!((filled.id(), &filled.line[..]), ("a_\\tb_", "@RG\tID:a_\\tb_\tSM:y z"));
        for wrong in ["ID:x", "@RG\\tSM:y", "@RG\\tID:", "@RG\\tIDx"] {
            let message = ReadGroup::parse(wrong).unwrap_err().to_string();
            assert!(message.starts_with(&format!("`read_group` '{wrong}': ")), "{message}");
        }
    }
}
