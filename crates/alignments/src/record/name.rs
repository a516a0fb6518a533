//! Names that records can have.

use super::Format;

/// The maximum length of a name in bytes (SAM specification, section 4.2).
const MAX_NAME: usize = 254;

/// Returns the reason why no record of this format can have a name, if there is one. In SAM, lines that begin with `@`
/// belong to the header.
pub fn name_problem(name: &[u8], format: Format) -> Option<String> {
    let shown = || String::from_utf8_lossy(name).into_owned();
    if name.iter().fold(false, |found, byte| found | byte.is_ascii_control()) {
        return Some(format!("the name {} has control characters: rename the read", shown()));
    }
    if name.len() > MAX_NAME {
        return Some(format!("a name of {} bytes: SAM, BAM and CRAM allow {MAX_NAME}", name.len()));
    }
    (format == Format::Sam && name.starts_with(b"@")).then(|| {
        format!(
            "the name {} begins with @, which would make its line of SAM a header line: write BAM (-o \
             FILE.bam), or rename the read",
            shown()
        )
    })
}
