//! The rule that decides by the hits of both mates of a pair.

merganser_run::named! {
    /// The rule for keeping a pair.
    #[derive(Default)]
    pub enum Mates {
        /// A pair is kept if any mate would be kept.
        #[default]
        Any = "any",
        /// A pair is kept if both mates would be kept.
        Both = "both",
        /// A pair is kept by the hits of both mates together.
        Together = "together",
    }
}

/// A number of hits, at least 1, and the mates that must have it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Enough {
    pub(super) hits: u64,
    /// Whether any mate, both, or both together must have the hits.
    pub(super) mates: Mates,
}

impl Enough {
    /// Whether the hits of the mates are enough.
    pub(super) fn are(self, mut hits: impl Iterator<Item = u64>) -> bool {
        match self.mates {
            Mates::Any => hits.any(|hits| hits >= self.hits),
            Mates::Both => hits.all(|hits| hits >= self.hits),
            Mates::Together => hits.sum::<u64>() >= self.hits,
        }
    }
}
