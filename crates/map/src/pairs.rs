//! Pairs: which combinations of the mates' hits are concordant.

use merganser_run::Cancel;

use crate::Config;
use crate::hits::Hit;
use crate::index::IndexView;
use crate::queries::Queries;
use crate::trace::Alignment;

/// The mates of a pair.
#[derive(Clone, Copy)]
pub(crate) struct Mates<'a> {
    pub(crate) queries: &'a Queries,
    /// The index of the first one; the second one follows.
    pub(crate) read: usize,
    /// The hits of each in their order.
    pub(crate) hits: [&'a [Hit]; 2],
    /// What the hits' scripts are in.
    pub(crate) scripts: &'a [u16],
}

/// A concordant combination, in the order in which they are reported: by the edits of both, contig,
/// the ends of both, and the first mate's strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Combination {
    pub(crate) edits: u32,
    contig: u32,
    ends: [u32; 2],
    reverse: bool,
    /// Which hits of the mates.
    pub(crate) hits: [u32; 2],
}

/// A thread's memory, which finds combinations.
pub(crate) struct Pairing<'r> {
    view: IndexView<'r>,
    config: &'r Config,
    alignment: Alignment,
    /// The positions of the first and last base of each hit of a mate, once they are known.
    spans: [Vec<Option<[u32; 2]>>; 2],
    /// Hits of a mate on the reverse strand, by contig and end.
    reverse: Vec<u32>,
    /// Ends the work on a pair with very many combinations.
    cancel: Cancel,
    /// What was found, in its order.
    pub(crate) combinations: Vec<Combination>,
}

impl<'r> Pairing<'r> {
    pub(crate) fn new(view: IndexView<'r>, config: &'r Config, cancel: &Cancel) -> Pairing<'r> {
        Pairing {
            view,
            config,
            alignment: Alignment::of_run(cancel),
            spans: Default::default(),
            reverse: Vec::new(),
            cancel: cancel.clone(),
            combinations: Vec::new(),
        }
    }

    /// Finds the concordant combinations: on opposite strands of one contig, the mate on the
    /// forward strand beginning and ending no later than the other, and from its first base to the
    /// other's last a distance that the configuration allows. An alignment may end behind its hit,
    /// up to as many bases as it has edits. Once the run is cancelled, some are missing.
    pub(crate) fn combine(&mut self, mates: &Mates<'_>) {
        self.combinations.clear();
        if mates.hits.iter().any(|hits| hits.is_empty()) {
            return;
        }
        for (spans, hits) in self.spans.iter_mut().zip(mates.hits) {
            spans.clear();
            spans.resize(hits.len(), None);
        }
        for forward in 0..2 {
            self.with_forward(mates, forward);
        }
        self.combinations.sort_unstable();
    }

    /// The combinations of which one of the mates is on the forward strand.
    fn with_forward(&mut self, mates: &Mates<'_>, mate: usize) {
        let others = mates.hits[1 - mate];
        let place = |&at: &u32| (others[at as usize].contig, others[at as usize].end);
        let mut reverse = std::mem::take(&mut self.reverse);
        reverse.clear();
        reverse.extend((0..others.len() as u32).filter(|&at| others[at as usize].reverse));
        reverse.sort_unstable_by_key(place);
        let most_edits = others.last().map_or(0, |hit| hit.edits);
        for (at, hit) in mates.hits[mate].iter().enumerate().filter(|(_, hit)| !hit.reverse) {
            let first = (hit.contig, hit.end.saturating_sub(most_edits));
            let from = reverse.partition_point(|other| place(other) < first);
            for &other in &reverse[from..] {
                if self.cancel.is_cancelled() {
                    return;
                }
                let partner = &others[other as usize];
                // The first base is known only once the hit is traced.
                let begin = self.spans[mate][at].map_or(hit.end + hit.edits, |own| own[0]);
                let reach = begin.saturating_add(self.config.max_insert);
                if partner.contig != hit.contig || partner.end > reach {
                    break;
                }
                if self.is_concordant(mates, mate, [at, other as usize]) {
                    let pick = |own, other| if mate == 0 { [own, other] } else { [other, own] };
                    self.combinations.push(Combination {
                        edits: hit.edits + partner.edits,
                        contig: hit.contig,
                        ends: pick(hit.end, partner.end),
                        reverse: mate == 1,
                        hits: pick(at as u32, other),
                    });
                }
            }
        }
        self.reverse = reverse;
    }

    /// Whether a hit of a mate on the forward strand and one of the other on the reverse strand of the
    /// same contig are in order and as far apart as they may be.
    fn is_concordant(&mut self, mates: &Mates<'_>, mate: usize, at: [usize; 2]) -> bool {
        let (least, most) = (self.config.min_insert, self.config.max_insert);
        let partner = &mates.hits[1 - mate][at[1]];
        let own = self.span(mates, mate, at[0]);
        // Both are near enough if the partner ends where its hit does, or behind.
        let distance = |end: u32| (end + 1).saturating_sub(own[0]);
        if distance(partner.end) > most
            || distance(partner.end + partner.edits) < least
            || partner.end + partner.edits < own[1]
        {
            return false;
        }
        let theirs = self.span(mates, 1 - mate, at[1]);
        theirs[0] >= own[0] && theirs[1] >= own[1] && (least..=most).contains(&distance(theirs[1]))
    }

    /// The positions of a hit's first and last base.
    fn span(&mut self, mates: &Mates<'_>, mate: usize, at: usize) -> [u32; 2] {
        if let Some(span) = self.spans[mate][at] {
            return span;
        }
        let (text, mode, hit) = (&self.view.text, self.config.n_mode, &mates.hits[mate][at]);
        self.alignment.of_hit(mates.queries, mates.read + mate, hit, text, mode, mates.scripts);
        let span = [self.alignment.start, self.alignment.end - 1];
        self.spans[mate][at] = Some(span);
        span
    }
}
