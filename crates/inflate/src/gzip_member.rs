//! Writes gzip with a single member, for small contents that are compressed as a whole.

use libdeflater::{CompressionLvl, Compressor};

/// A compressor that makes each content a gzip file of one member, without time and name.
pub struct GzipMember(Compressor);

impl std::fmt::Debug for GzipMember {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("GzipMember")
    }
}

impl GzipMember {
    /// Returns a compressor with libdeflate's level 6.
    #[allow(clippy::new_without_default, reason = "a default would hide the level")]
    pub fn new() -> GzipMember {
        GzipMember(Compressor::new(CompressionLvl::default()))
    }

    /// Appends the compressed content to `out`.
    pub fn pack(&mut self, content: &[u8], out: &mut Vec<u8>) {
        let begin = out.len();
        out.resize(begin + self.0.gzip_compress_bound(content.len()), 0);
        // The bound is large enough for any content, so this cannot fail.
        let len = self.0.gzip_compress(content, &mut out[begin..]).unwrap_or_default();
        out.truncate(begin + len);
    }
}
