//! SAM's header: the text that BAM has, too.

use merganser_filter::Threshold;
use merganser_run::ConfigError;

use super::ShardMark;
use crate::index::Index;
use crate::{Config, Error, Format, Metric, NMode, Select, Strand};

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
        let wrong = |what: &str| {
            Error::Config(ConfigError::new(format!(
                "`read_group` '{text}': {what}, e.g. '@RG\\tID:a\\tSM:b'"
            )))
        };
        let line = text.replace("\\t", "\t");
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
        if line.contains(['\n', '\r']) {
            return Err(wrong("give one line"));
        }
        match id {
            Some(id) => Ok(ReadGroup { line, id }),
            None => Err(wrong("an ID is missing")),
        }
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

/// The mark of a shard.
fn mark(config: &Config, index: &Index) -> Option<ShardMark> {
    let (share, Format::Bam(level)) = (config.share.as_ref()?, config.format) else { return None };
    let job = share.job() ^ u64::from(index.view().text.checksum()) << 32;
    Some(ShardMark { shard: share.shard(), job, level })
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
    if config.metric == Metric::Hamming {
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
        (config.extended_cigars, " --eqx"),
        (!config.keep_unmapped, " --no-unmapped"),
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
        for wrong in ["ID:x", "@RG\\tSM:y", "@RG\\tID:", "@RG\\tIDx"] {
            let message = ReadGroup::parse(wrong).unwrap_err().to_string();
            assert!(message.starts_with(&format!("`read_group` '{wrong}': ")), "{message}");
        }
    }
}
