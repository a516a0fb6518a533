//! Search of sequences one by one, as single reads, whose hits are kept until all are known.

use merganser_run::Cancel;

use super::{Mapper, Strata};
use crate::hits::{Hit, hits_of};
use crate::index::IndexView;
use crate::room::Room;
use crate::{Config, Error};

/// A search of single sequences, one for each thread.
pub(crate) struct Singles<'r> {
    pub(crate) mapper: Mapper<'r>,
    strata: Strata<'r>,
    hits: Vec<Hit>,
    bounds: Vec<usize>,
    found: Vec<Hit>,
    found_bounds: Vec<usize>,
}

impl<'r> Singles<'r> {
    /// Returns a search with this room for hits of a sequence.
    pub(crate) fn new(
        view: IndexView<'r>,
        config: &'r Config,
        gaps: &'r [[u32; 2]],
        room: Room,
        cancel: &Cancel,
    ) -> Singles<'r> {
        Singles {
            mapper: Mapper::new(view, config, gaps, None, cancel).with_room(room),
            strata: Strata::new(view, config, cancel),
            hits: Vec::new(),
            bounds: Vec::new(),
            found: Vec::new(),
            found_bounds: Vec::new(),
        }
    }

    /// Searches [all strata together](Strata::at_once).
    pub(crate) fn at_once(self) -> Singles<'r> {
        Singles { strata: self.strata.at_once(), ..self }
    }

    /// Finds the hits of sequences.
    ///
    /// # Errors
    /// If one has letters that are not of DNA: its number, and a message. If a search fails, or the run is cancelled.
    pub(crate) fn search<'l>(
        &mut self,
        sequences: impl Iterator<Item = &'l [u8]>,
        problem: impl Fn(usize, String) -> Error,
    ) -> Result<(), Error> {
        self.mapper.clear(1);
        self.hits.clear();
        self.bounds.clear();
        let mut count = 0;
        for letters in sequences {
            self.mapper.push(letters).map_err(|message| problem(count, message))?;
            count += 1;
        }
        let mut from = 0;
        while from < count {
            let (found, bounds) = (&mut self.found, &mut self.found_bounds);
            let to = self.strata.map(&mut self.mapper, from..count, 1, found, bounds)?;
            let before = self.hits.len();
            self.hits.append(found);
            self.bounds.extend(bounds.iter().map(|bound| before + bound));
            from = to;
        }
        Ok(())
    }

    /// Returns the hits of a sequence of the last search.
    pub(crate) fn hits(&self, at: usize) -> &[Hit] {
        hits_of(&self.hits, &self.bounds, at)
    }
}
