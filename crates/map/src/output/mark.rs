//! The mark of a shard: a comment line in its header, which is used to join the shards and is left out of the
//! result.

use merganser_store::shard::JobShard;

/// The mark of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardMark {
    /// The shard and its job, which is identified by the reads and the reference.
    pub(crate) of: JobShard,
    /// The compression level of BAM.
    pub(crate) level: u8,
    /// The content of the shard; zeros until the end of the run.
    pub(crate) content: ShardContent,
}

/// The size and digest of a shard's records, used to detect missing or changed records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShardContent {
    pub(crate) records: u64,
    /// The digest of the records' [blocks](merganser_alignments::BlockDigest).
    pub(crate) digest: u32,
}

/// The beginning of the mark's line.
const BEGIN: &str = "@CO\tmerganser map --shard ";

impl ShardMark {
    /// Returns the last line of the header. Its length does not depend on the content.
    pub(crate) fn line(&self) -> String {
        let ShardMark { of, level, content: ShardContent { records, digest } } = self;
        let (shard, job) = of.to_texts();
        format!(
            "{BEGIN}{shard} of job {job}, level {level}, {records:020} records, digest {digest:08x}\n"
        )
    }

    /// Splits a header's text into the text before the mark and the mark; `None` if there is no valid mark.
    pub(crate) fn split(text: &str) -> Option<(&str, ShardMark)> {
        let at = text.rfind(BEGIN)?;
        let (before, line) = text.split_at(at);
        let rest = line.strip_prefix(BEGIN)?.strip_suffix('\n')?;
        let (shard, rest) = rest.split_once(" of job ")?;
        let (job, rest) = rest.split_once(", level ")?;
        let (level, rest) = rest.split_once(", ")?;
        let (records, digest) = rest.split_once(" records, digest ")?;
        let mark = ShardMark {
            of: JobShard::of_texts(shard, job)?,
            level: level.parse().ok().filter(|level| *level <= 12)?,
            content: ShardContent {
                records: records.parse().ok()?,
                digest: u32::from_str_radix(digest, 16).ok()?,
            },
        };
        // Only accepts the line as it would be written.
        (mark.line() == line).then_some((before, mark))
    }
}

#[cfg(test)]
mod tests {
    use merganser_run::Shard;

    use super::*;

    #[test]
    fn marks_come_back() {
        let content = ShardContent { records: 70, digest: 0xcd };
        let of = JobShard { shard: Shard::new(2, 30).unwrap(), job: 0xab };
        let mark = ShardMark { of, level: 6, content };
        let open = ShardMark { content: ShardContent::default(), ..mark };
        assert_eq!(open.line().len(), mark.line().len());
        let text = format!("@HD\tVN:1.6\n{}", mark.line());
        assert_eq!(ShardMark::split(&text), Some(("@HD\tVN:1.6\n", mark)));
        for other in [
            "@HD\tVN:1.6\n".to_owned(),
            text[..text.len() - 1].to_owned(),
            text.replace("2/30", "31/30"),
            text.replace("level 6", "level 13"),
            text.replace("00ab", "0ab"),
            text.replace("070 records", "70 records"),
            text.replace(", 00000000000000000070 records, digest 000000cd", ""),
            format!("{text}@CO\tmore\n"),
        ] {
            assert_eq!(ShardMark::split(&other), None, "{other}");
        }
    }
}
