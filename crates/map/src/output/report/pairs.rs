//! Pairs: which combinations of the mates' hits are concordant.

use super::{RecordSink, ReportUnit, Reporter, set_aside, template};
use crate::Error;
use crate::hits::{Hit, quality};
use crate::output::record::{Record, Tags, flag};
use crate::trace::Alignment;

/// A thread's memory.
#[derive(Debug, Default)]
pub(super) struct PairMemory {
    combinations: Vec<Combination>,
    /// The positions of the first and last base of each hit of a mate, once they are known.
    spans: [Vec<Option<[u32; 2]>>; 2],
    /// Hits of a mate on the reverse strand, by contig and end.
    reverse: Vec<u32>,
}

impl PairMemory {
    /// Forgets all but the memory, for the hits of another pair.
    fn begin(&mut self, unit: &ReportUnit<'_>) {
        self.combinations.clear();
        for (spans, hits) in self.spans.iter_mut().zip(unit.hits) {
            spans.clear();
            spans.resize(hits.len(), None);
        }
    }
}

/// A concordant combination, in the order in which they are reported: by the edits of both, contig,
/// the ends of both, and the first mate's strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Combination {
    edits: u32,
    contig: u32,
    ends: [u32; 2],
    reverse: bool,
    hits: [u32; 2],
}

/// What a record is of a pair.
const MATES: [u16; 2] = [flag::PAIRED | flag::FIRST, flag::PAIRED | flag::LAST];

impl Reporter<'_> {
    /// Reports a pair: its concordant combinations or, if there is none, each mate's hits.
    pub(super) fn pair(
        &mut self,
        unit: &ReportUnit<'_>,
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        (0..2).for_each(|mate| self.count(unit, mate));
        self.reported.pairs += 1;
        let mut memory = std::mem::take(&mut self.pairs);
        self.combine(unit, &mut memory);
        let done = if memory.combinations.is_empty() {
            self.apart(unit, sink)
        } else {
            self.together(unit, &memory.combinations, sink)
        };
        self.pairs = memory;
        done
    }

    fn together(
        &mut self,
        unit: &ReportUnit<'_>,
        combinations: &[Combination],
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        self.reported.concordant += 1;
        let edits = combinations.iter().map(|combination| combination.edits);
        let best = quality(edits.clone());
        let count = self.selected(edits);
        for (number, combination) in combinations[..count].iter().enumerate() {
            let hits = [0, 1].map(|mate| unit.hits[mate][combination.hits[mate] as usize]);
            let places = [0, 1].map(|mate| self.placed(unit, mate, &hits[mate], mate));
            let first = number == 0;
            for mate in 0..2 {
                let own = if hits[mate].reverse { flag::REVERSE } else { flag::MATE_REVERSE };
                let record = Record {
                    name: unit.batch.name(unit.read),
                    flags: MATES[mate]
                        | flag::PROPER
                        | own
                        | if first { 0 } else { flag::SECONDARY },
                    place: Some(places[mate].0),
                    quality: if first { best } else { 0 },
                    operations: &self.alignments[mate].operations,
                    mate: Some(places[1 - mate].0),
                    template: template(places[mate], places[1 - mate], mate),
                    letters: first.then(|| self.cropped(unit, mate)),
                    hit: Some(Tags {
                        edits: hits[mate].edits,
                        md: &self.alignments[mate].md,
                        hits: count as u32,
                        number: number as u32 + 1,
                    }),
                };
                self.style.write(&record, sink.records());
                self.reported.mappings += 1;
            }
            sink.relieve()?;
        }
        Ok(())
    }

    fn apart(&mut self, unit: &ReportUnit<'_>, sink: &mut dyn RecordSink) -> Result<(), Error> {
        let firsts = unit.hits.map(<[Hit]>::first);
        match firsts {
            [Some(_), Some(_)] => self.reported.discordant += 1,
            [None, None] => set_aside(unit, sink),
            _ => self.reported.one_mate += 1,
        }
        for mate in 0..2 {
            let other = firsts[1 - mate];
            let mate_flags = match other {
                None => flag::MATE_UNMAPPED,
                Some(hit) if hit.reverse => flag::MATE_REVERSE,
                Some(_) => 0,
            };
            self.each(unit, mate, MATES[mate] | mate_flags, other, sink)?;
        }
        Ok(())
    }

    /// Finds the concordant combinations: on opposite strands of one contig, the mate on the
    /// forward strand beginning and ending no later than the other, and from its first base to the
    /// other's last a distance that the configuration allows. An alignment may end behind its hit,
    /// up to as many bases as it has edits.
    fn combine(&mut self, unit: &ReportUnit<'_>, memory: &mut PairMemory) {
        memory.begin(unit);
        let PairMemory { combinations, spans, reverse } = memory;
        if unit.hits.iter().any(|hits| hits.is_empty()) {
            return;
        }
        let (least, most) = (self.config.min_insert, self.config.max_insert);
        for mate in 0..2 {
            let others = unit.hits[1 - mate];
            let place = |&at: &u32| (others[at as usize].contig, others[at as usize].end);
            reverse.clear();
            reverse.extend((0..others.len() as u32).filter(|&at| others[at as usize].reverse));
            reverse.sort_unstable_by_key(place);
            let most_edits = others.last().map_or(0, |hit| hit.edits);
            for (at, hit) in unit.hits[mate].iter().enumerate().filter(|(_, hit)| !hit.reverse) {
                let first = (hit.contig, hit.end.saturating_sub(most_edits));
                let from = reverse.partition_point(|other| place(other) < first);
                for &other in &reverse[from..] {
                    if self.cancel.is_cancelled() {
                        return;
                    }
                    let partner = &others[other as usize];
                    // The first base is known only once the hit is traced.
                    let own = spans[mate][at];
                    let reach = own.map_or(hit.end + hit.edits, |own| own[0]).saturating_add(most);
                    if partner.contig != hit.contig || partner.end > reach {
                        break;
                    }
                    let own = own.unwrap_or_else(|| self.span(unit, mate, hit));
                    spans[mate][at] = Some(own);
                    // Both are near enough if the partner ends where its hit does, or behind.
                    let distance = |end: u32| (end + 1).saturating_sub(own[0]);
                    if distance(partner.end) > most
                        || distance(partner.end + partner.edits) < least
                        || partner.end + partner.edits < own[1]
                    {
                        continue;
                    }
                    let theirs = &mut spans[1 - mate][other as usize];
                    let theirs = *theirs.get_or_insert_with(|| self.span(unit, 1 - mate, partner));
                    let apart = (least..=most).contains(&distance(theirs[1]));
                    if theirs[0] < own[0] || theirs[1] < own[1] || !apart {
                        continue;
                    }
                    let pick = |own, other| if mate == 0 { [own, other] } else { [other, own] };
                    combinations.push(Combination {
                        edits: hit.edits + partner.edits,
                        contig: hit.contig,
                        ends: pick(hit.end, partner.end),
                        reverse: mate == 1,
                        hits: pick(at as u32, other),
                    });
                }
            }
        }
        combinations.sort_unstable();
    }

    /// The positions of a hit's first and last base.
    fn span(&mut self, unit: &ReportUnit<'_>, mate: usize, hit: &Hit) -> [u32; 2] {
        self.placed(unit, mate, hit, 0);
        let Alignment { start, end, .. } = self.alignments[0];
        [start, end - 1]
    }
}
