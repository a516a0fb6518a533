//! When the hits of the mates of a pair are enough.

merganser_run::named! {
    /// When a pair stays.
    #[derive(Default)]
    pub enum Mates {
        /// If either mate would stay.
        #[default]
        Any = "any",
        /// If both would.
        Both = "both",
        /// By the hits of both mates together.
        Together = "together",
    }
}

/// So many hits, 1 or more,
#[derive(Clone, Copy, Debug)]
pub(super) struct Enough {
    pub(super) hits: u64,
    /// of each mate, of any of them, or of both together.
    pub(super) mates: Mates,
}

impl Enough {
    /// Whether the hits of each mate are enough.
    pub(super) fn are(self, mut hits: impl Iterator<Item = u64>) -> bool {
        match self.mates {
            Mates::Any => hits.any(|hits| hits >= self.hits),
            Mates::Both => hits.all(|hits| hits >= self.hits),
            Mates::Together => hits.sum::<u64>() >= self.hits,
        }
    }
}
