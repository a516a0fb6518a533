//! Search of texts in memory.

use merganser_seq::simd::Level;

use crate::queries::Queries;
use crate::searcher::{Searcher, Text};
use crate::seeds::{Limits, Seeds};
use crate::{Config, Error, Hit, Pattern};

/// The bytes that tables of seeds may take.
const MEMORY: u64 = 512 << 20;

/// Searches patterns in texts that are in memory; returns the hits of each text, sorted by start, end, pattern and
/// strand.
///
/// ```
/// use merganser_search::{Config, Pattern, Threshold, find};
///
/// let patterns = [Pattern::new("515F", b"GTGYCAGCMGCCGCGGTAA")?];
/// let text = b"TTGTGCCAGCAGCCGCGGTAATT";
/// let hits = find(&Config::new(Threshold::Edits(1)), &patterns, &[text])?;
/// assert_eq!((hits[0][0].alignment.start, hits[0][0].edits), (2, 0));
/// # Ok::<(), merganser_search::Error>(())
/// ```
///
/// # Errors
/// If a pattern would match everywhere.
pub fn find<T: AsRef<[u8]>>(
    config: &Config,
    patterns: &[Pattern],
    texts: &[T],
) -> Result<Vec<Vec<Hit>>, Error> {
    let queries = Queries::new(config, patterns)?;
    let letters = texts.iter().map(|text| text.as_ref().len() as u64).sum();
    let limits = Limits { letters: Some(letters), memory: MEMORY, threads: 1 };
    let (seeds, _) = Seeds::plan(&queries, limits, Level::best());
    let mut searcher = Searcher::new(&queries, Some(&seeds));
    let mut find = |text: &T| {
        let text = Text { letters: text.as_ref(), goes_on: [false; 2] };
        let places = searcher.places(&[text], usize::MAX).unwrap_or_default();
        places.into_iter().flat_map(|places| places.hits).collect()
    };
    Ok(texts.iter().map(&mut find).collect())
}
