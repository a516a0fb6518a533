//! The taxids of the sequences of a Kraken 2 library.

use merganser_io::Input;
use merganser_library::{HeaderRule, LibraryMaps, TaxidSearch};

use crate::{Error, Kraken2Sequence};

/// Finds the taxids of the sequences of a Kraken 2 library, in the same places as for a database of merganser.
/// The only difference is that taxids in headers count only if Kraken 2 accepts them. `sequences` are those of
/// all inputs, in order.
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
    search.look_everywhere(
        (maps.given, maps.beside),
        inputs,
        maps.taxonomy,
        &*maps.context.progress,
    )?;
    let tree = maps.taxonomy.map(|dump| &dump.taxonomy);
    search.conflicts(tree).iter().for_each(|conflict| conflict.warn(&maps.context.warnings));
    Ok(search.into_taxids())
}
