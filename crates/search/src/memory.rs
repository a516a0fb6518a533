//! Search of texts in memory.

use merganser_seq::simd::Level;

use crate::places::Decider;
use crate::queries::Queries;
use crate::scan::{Piece, Scanner};
use crate::{Config, Error, Hit, Pattern};

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
    let (mut scanner, mut decider) = (Scanner::new(Level::best()), Decider::default());
    let find = |text: &T| {
        let letters = text.as_ref();
        let piece = Piece { letters, owned: 1..letters.len() + 1 };
        let mut ends = Vec::new();
        scanner.scan(std::slice::from_ref(&piece), &queries, usize::MAX, &mut ends);
        decider.decide(&queries, &piece, &ends, [false; 2]).hits
    };
    Ok(texts.iter().map(find).collect())
}
