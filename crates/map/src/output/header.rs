//! The text of the SAM header, which BAM and CRAM contain, too.

use merganser_io::QualityOffset;
use merganser_store::shard::JobShard;

use super::{ShardContent, ShardMark};
use crate::index::Index;
use crate::{Config, Format, NMode, Strand};

/// Returns the header's text: contigs, with checksums if given, read groups, and the options that determine the
/// output.
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
        text += &format!("{}\n", group.line());
    }
    let version = env!("CARGO_PKG_VERSION");
    let options = options(config, paired);
    text += &format!("@PG\tID:merganser\tPN:merganser\tVN:{version}\tCL:merganser map {options}\n");
    text + &mark(config, index).map_or_else(String::new, |mark| mark.line())
}

/// Returns the mark of a shard with unknown content, or `None` if the run is not a shard.
pub(super) fn mark(config: &Config, index: &Index) -> Option<ShardMark> {
    let (share, Format::Bam(level)) = (config.share.as_ref()?, config.format) else { return None };
    let job = share.job() ^ u64::from(index.view().text.checksum()) << 32;
    let of = JobShard { shard: share.shard(), job };
    Some(ShardMark { of, level, content: ShardContent::default() })
}

fn options(config: &Config, paired: bool) -> String {
    let mut options = format!("-e {}", config.threshold);
    options += &format!(" --{}", config.select);
    if config.max_hits > 0 {
        options += &format!(" --max-hits {}", config.max_hits);
    }
    if config.xa > 0 {
        options += &format!(" --xa {}", config.xa);
    }
    if config.hamming {
        options += " --hamming";
    }
    if config.strand != Strand::default() {
        options += &format!(" --strand {}", config.strand);
    }
    if config.n_mode != NMode::default() {
        options += &format!(" --n-mode {}", config.n_mode);
    }
    if config.quality_offset != QualityOffset::default() {
        options += &format!(" --quality-offset {}", config.quality_offset);
    }
    if let Some(crop) = config.crop {
        options += &format!(" --crop {crop}");
    }
    if paired {
        let (least, most) = (config.min_insert, config.max_insert);
        options += &format!(" --min-insert {least} --max-insert {most}");
        if let Some(edits) = config.rescue {
            options += &format!(" --rescue {}", edits);
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
