//! A sample of the first reads: the distribution of k-mers over signatures, and an estimate of their number
//! (RapidGKC §III-D.4).

use super::partition::SuperKmers;
use crate::binmap::Slots;
use crate::fragments::{Consumer, Fragment};
use crate::{Config, Error};

/// Counts k-mers by the slot of their signature.
pub(crate) struct Sampler {
    superkmers: SuperKmers,
    slots: Slots,
    pub(crate) weights: Vec<u64>,
    pub(crate) kmers: u64,
}

impl Sampler {
    pub(crate) fn new(config: &Config) -> Sampler {
        let slots = Slots::new(config.signature_bases());
        Sampler {
            superkmers: SuperKmers::new(config),
            slots,
            weights: vec![0; slots.count()],
            kmers: 0,
        }
    }

    pub(crate) fn slots(&self) -> Slots {
        self.slots
    }
}

impl Consumer for Sampler {
    fn batch(&mut self, codes: &[u8], fragments: &[Fragment]) -> Result<(), Error> {
        let (weights, slots, all) = (&mut self.weights, self.slots, &mut self.kmers);
        self.superkmers.each(codes, fragments, |signature, _, kmers| {
            weights[slots.of(signature)] += kmers as u64;
            *all += kmers as u64;
            Ok(())
        })
    }
}
