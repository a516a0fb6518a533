//! The taxids of the sequences of a Kraken 2 library.

use merganser_io::Input;
use merganser_library::{HeaderRule, LibraryMaps, TaxidSearch};

use crate::{Error, Kraken2Sequence};

/// The taxids of the sequences of a Kraken 2 library, found where those of a build of a database of ours
/// are, but for taxids in headers, of which those count that count in Kraken 2. `sequences` are those of all
/// inputs, in their order.
///
/// # Errors
/// If one of these files cannot be read, or is malformed.
pub fn taxids_of_library(
    sequences: &[Kraken2Sequence],
    inputs: &[Input],
    maps: &LibraryMaps<'_>,
) -> Result<Vec<Option<u32>>, Error> {
    let mut files = vec![Vec::new(); inputs.len()];
    sequences.iter().for_each(|sequence| files[sequence.input].push(sequence));
    let mut search = TaxidSearch::new(
        inputs,
        &files,
        |sequence| (sequence.name(), &sequence.header),
        HeaderRule::Kraken,
    );
    search.look_everywhere((maps.given, maps.beside), inputs, maps.taxonomy, maps.progress)?;
    let tree = maps.taxonomy.map(|dump| &dump.taxonomy);
    search.conflicts(tree).iter().for_each(|conflict| conflict.warn(maps.warnings));
    Ok(search.into_taxids())
}
