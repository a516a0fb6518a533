//! The text of the SAM header, which BAM and CRAM contain, too.

use merganser_io::ReadInput;
use merganser_store::shard::JobShard;

use super::command::command;
use super::{ShardContent, ShardMark};
use crate::index::Index;
use crate::{Config, Format};

/// Returns the header's text before and after the read groups: contigs, with checksums if given, and the command.
pub(super) fn text(
    config: &Config,
    index: &Index,
    checksums: &[String],
    inputs: &[ReadInput],
) -> [String; 2] {
    let order = if config.sort { "SO:coordinate" } else { "SO:unsorted\tGO:query" };
    let mut text = format!("@HD\tVN:1.6\t{order}\n");
    for (number, contig) in index.contigs().iter().enumerate() {
        text += &format!("@SQ\tSN:{}\tLN:{}", contig.name, contig.len);
        if let Some(checksum) = checksums.get(number) {
            text += &format!("\tM5:{checksum}");
        }
        if contig.is_circular() {
            text += "\tTP:circular";
        }
        if let Some(uri) = &config.cram_uri {
            text += &format!("\tUR:{uri}");
        }
        text.push('\n');
    }
    let version = env!("CARGO_PKG_VERSION");
    let command = command(config, index, inputs);
    let rest = format!("@PG\tID:merganser\tPN:merganser\tVN:{version}\tCL:{command}\n");
    [text, rest + &mark(config, index).map_or_else(String::new, |mark| mark.line())]
}

/// Returns the mark of a shard with unknown content, or `None` if the run is not a shard.
pub(super) fn mark(config: &Config, index: &Index) -> Option<ShardMark> {
    let (share, Format::Bam(level)) = (config.share.as_ref()?, config.format) else { return None };
    let job = share.job() ^ u64::from(index.view().text.checksum()) << 32;
    let of = JobShard { shard: share.shard(), job };
    Some(ShardMark { of, level, content: ShardContent::default() })
}
