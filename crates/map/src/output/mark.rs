//! The mark of a shard: a comment in its header, by which shards are joined and which the whole lacks.

use merganser_run::Shard;

/// What a shard's records are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShardMark {
    pub(crate) shard: Shard,
    /// What tells the reads and the reference from others.
    pub(crate) job: u64,
    /// How hard BAM is compressed.
    pub(crate) level: u8,
}

/// What its line begins with.
const BEGIN: &str = "@CO\tmerganser map --shard ";

impl ShardMark {
    /// The last line of the header.
    pub(crate) fn line(&self) -> String {
        let ShardMark { shard, job, level } = self;
        format!("{BEGIN}{shard} of job {job:016x}, level {level}\n")
    }

    /// The header's text before the mark, and the mark, if there is one.
    pub(crate) fn split(text: &str) -> Option<(&str, ShardMark)> {
        let at = text.rfind(BEGIN)?;
        let (before, line) = text.split_at(at);
        let rest = line.strip_prefix(BEGIN)?.strip_suffix('\n')?;
        let (shard, rest) = rest.split_once(" of job ")?;
        let (job, level) = rest.split_once(", level ")?;
        let mark = ShardMark {
            shard: shard.parse().ok()?,
            job: u64::from_str_radix(job, 16).ok()?,
            level: level.parse().ok().filter(|level| *level <= 12)?,
        };
        // As it would be written.
        (mark.line() == line).then_some((before, mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_come_back() {
        let mark = ShardMark { shard: Shard::new(2, 30).unwrap(), job: 0xab, level: 6 };
        let text = format!("@HD\tVN:1.6\n{}", mark.line());
        assert_eq!(ShardMark::split(&text), Some(("@HD\tVN:1.6\n", mark)));
        for other in [
            "@HD\tVN:1.6\n".to_owned(),
            text[..text.len() - 1].to_owned(),
            text.replace("2/30", "31/30"),
            text.replace("level 6", "level 13"),
            text.replace("00ab", "0ab"),
            format!("{text}@CO\tmore\n"),
        ] {
            assert_eq!(ShardMark::split(&other), None, "{other}");
        }
    }
}
