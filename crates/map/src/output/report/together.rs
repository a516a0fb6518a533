//! Records of pairs.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use merganser_alignments::{MateTags, Record, Tags, flag};
use merganser_run::Cancel;

use super::{RecordSink, ReportUnit, Reporter, Role, room};
use crate::discordance::Arrangement;
use crate::hits::{Hit, Strata, quality};
use crate::index::IndexView;
use crate::pairs::Pairing;
use crate::rescue::Rescuer;
use crate::room::Room;
use crate::{Config, Error, Select};

/// SAM flags of the first and the second mate.
const MATES: [u16; 2] = [flag::PAIRED | flag::FIRST, flag::PAIRED | flag::LAST];

/// The highest mapping quality of a combination, by the number of edits that its hits have in addition to those of the best hit of
/// each mate; 0 with more. The mates may come from there, without being concordant: as in bwa mem, that costs 17 where an
/// edit costs 5, and each unit of the difference adds 6 to the quality.
const QUALITY_LIMITS: [u8; 4] = [60, 60, 42, 12];

/// A finder of the combinations of pairs, one for each thread.
pub(crate) struct PairFinder<'r> {
    pairing: Pairing<'r>,
    /// Finds mates near the hits of the other mates, if these are rescued.
    rescuer: Option<Rescuer<'r>>,
}

impl<'r> PairFinder<'r> {
    /// Creates a finder with this room for hits of each mate.
    pub(crate) fn new(
        view: IndexView<'r>,
        config: &'r Config,
        room: Room,
        cancel: &Cancel,
    ) -> PairFinder<'r> {
        let pairing = Pairing::new(view, config, cancel);
        PairFinder { pairing, rescuer: Rescuer::new(view, config, room, cancel) }
    }
}

impl<'r> Reporter<'r> {
    /// Reports a pair: its concordant combinations or, if it has none, the hits of each mate.
    pub(super) fn pair(
        &mut self,
        finder: &mut PairFinder<'r>,
        unit: &ReportUnit<'_>,
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        self.reported.pairs += 1;
        let PairFinder { pairing, rescuer } = finder;
        let mates = unit.mates();
        pairing.combine(&mates);
        if pairing.is_empty()
            && let Some(rescuer) = rescuer
        {
            let hits = rescuer.combine(&mates, pairing)?;
            if !pairing.is_empty() {
                self.reported.rescued += 1;
                return self.together(&ReportUnit { hits, ..*unit }, pairing, sink);
            }
        }
        match pairing.is_empty() {
            true => self.apart(unit, sink),
            false => self.together(unit, pairing, sink),
        }
    }

    /// Reports a pair by its combinations.
    fn together(
        &mut self,
        unit: &ReportUnit<'_>,
        pairing: &mut Pairing<'r>,
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        (0..2).for_each(|mate| self.count(unit, mate));
        self.reported.concordant += 1;
        self.tallies.concordant(unit.batch.segment());
        let strata = pairing.strata();
        let count = self.selected(strata.iter().copied());
        self.many.note(unit.batch, unit.read, count);
        if self.config.xa > 0 {
            self.name_others_of_mates(unit, pairing);
        }
        let mut number = 0;
        let done = pairing.each(&unit.mates(), |combination| {
            let hits = [0, 1].map(|mate| unit.hits[mate][combination.hits[mate] as usize]);
            let quality = match number {
                0 => self.quality(unit, &hits, strata.iter().copied()),
                _ => 0,
            };
            number += 1;
            self.combination(unit, &hits, [number, count], quality, sink);
            match sink.relieve() {
                Err(error) => ControlFlow::Break(Err(error)),
                Ok(()) if number == count => ControlFlow::Break(Ok(())),
                Ok(()) => ControlFlow::Continue(()),
            }
        });
        match done {
            ControlFlow::Break(done) => done,
            // Combinations are missing because the run was cancelled.
            ControlFlow::Continue(()) => Err(Error::Cancelled),
        }
    }

    /// Returns the mapping quality of the first combination.
    fn quality(&self, unit: &ReportUnit<'_>, hits: &[Hit; 2], strata: impl Strata) -> u8 {
        // A mate with more edits than a hit may have was searched only near the other one, so the other mate
        // decides.
        let rooms = [0, 1].map(|mate| room(unit, mate, &hits[mate]));
        let least = rooms.into_iter().flatten().min().unwrap_or(0);
        let quality = quality(self.config.select, strata, least);
        let best = unit.hits.iter().filter_map(|hits| hits.first());
        let excess = hits.iter().zip(best).map(|(hit, best)| hit.edits - best.edits).sum::<u32>();
        match self.config.select {
            Select::All => quality,
            Select::Best | Select::BestStrata => {
                quality.min(QUALITY_LIMITS.get(excess as usize).copied().unwrap_or(0))
            }
        }
    }

    /// Writes the records of combination `number`, counted from 1, of `count`.
    fn combination(
        &mut self,
        unit: &ReportUnit<'_>,
        hits: &[Hit; 2],
        [number, count]: [u64; 2],
        quality: u8,
        sink: &mut dyn RecordSink,
    ) {
        let places = [0, 1].map(|mate| self.placed(unit, mate, &hits[mate], mate));
        let (first, template) = (number == 1, self.template_of_pair(places));
        // Tags hold 32-bit numbers.
        let [number, count] =
            [number, count].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
        if first {
            (0..2).for_each(|mate| self.name_cigar(mate));
        }
        for mate in 0..2 {
            let own_strand = if hits[mate].reverse { flag::REVERSE } else { 0 };
            let mate_strand = if hits[1 - mate].reverse { flag::MATE_REVERSE } else { 0 };
            let mate_tags = first.then(|| MateTags {
                quality: Some(quality),
                cigar: &self.cigars[1 - mate],
                score: MateTags::score_of(self.cropped(unit, 1 - mate)),
            });
            let letters = (first || self.config.secondary_seq).then(|| self.cropped(unit, mate));
            let record = Record {
                name: unit.batch.name(unit.read),
                flags: MATES[mate]
                    | flag::PROPER
                    | own_strand
                    | mate_strand
                    | if first { 0 } else { flag::SECONDARY },
                place: Some(places[mate].place),
                quality,
                operations: &self.alignments[mate].operations,
                mate: Some(places[1 - mate].place),
                template: if mate == 0 { template } else { -template },
                letters,
                hit: Some(Tags {
                    edits: places[mate].edits,
                    md: &self.alignments[mate].md,
                    hits: count,
                    number,
                    others: if first { &self.others[mate] } else { &[] },
                    parts: &[],
                }),
                mate_tags,
                read_tags: self.tags[mate].bytes(),
            };
            self.reported.supplementary += self.write(&record, mate, sink.records());
            self.reported.mappings += 1;
            if first {
                self.note(unit, mate, (count as usize, quality), &places[mate]);
            }
        }
        if let Some(placements) = self.placements.as_mut().filter(|_| first) {
            placements.insert(template.unsigned_abs());
        }
    }

    /// Fills in the XA tag of each mate: its hits in other combinations with the same number of
    /// edits, each listed once.
    fn name_others_of_mates(&mut self, unit: &ReportUnit<'_>, pairing: &mut Pairing<'r>) {
        let (mut best, mut others) = (None, [BTreeSet::new(), BTreeSet::new()]);
        // With this many, the tag is left out anyway.
        let enough = self.config.xa as usize + 2;
        let _ = pairing.each(&unit.mates(), |other| {
            let first = best.get_or_insert(*other);
            if other.edits > first.edits || others.iter().all(|named| named.len() >= enough) {
                return ControlFlow::Break(());
            }
            for (named, hit) in others.iter_mut().zip(other.hits) {
                if named.len() < enough {
                    named.insert(hit);
                }
            }
            ControlFlow::Continue(())
        });
        for (mate, named) in others.iter().enumerate() {
            let other = |&&hit: &&u32| best.is_some_and(|best| hit != best.hits[mate]);
            let named: Vec<Hit> =
                named.iter().filter(other).map(|&hit| unit.hits[mate][hit as usize]).collect();
            self.name_others(unit, mate, &named);
        }
    }

    fn apart(&mut self, unit: &ReportUnit<'_>, sink: &mut dyn RecordSink) -> Result<(), Error> {
        (0..2).for_each(|mate| self.count(unit, mate));
        let firsts = unit.hits.map(<[Hit]>::first);
        self.cigars.iter_mut().for_each(Vec::clear);
        match firsts {
            [Some(_), Some(_)] => self.reported.discordant += 1,
            // Their records are written first, as the tags take another form here.
            [None, None] => {}
            _ => self.reported.one_mate += 1,
        }
        let places = [0, 1].map(|mate| firsts[mate].map(|hit| self.placed(unit, mate, hit, mate)));
        if let [Some(one), Some(two)] = places {
            let mates = [one.of_mate(unit.hits[0]), two.of_mate(unit.hits[1])];
            let known = Arrangement::of(mates, self.config);
            self.tallies.discordant(unit.batch.segment(), known);
        }
        for mate in 0..2 {
            match [firsts[mate], firsts[1 - mate]] {
                [Some(_), _] => self.name_cigar(mate),
                [None, Some(_)] => self.cigars[mate].push(b'*'),
                [None, None] => {}
            }
        }
        for mate in 0..2 {
            let other = places[1 - mate];
            let mate_flags = match other {
                None => flag::MATE_UNMAPPED,
                Some(place) if place.reverse => flag::MATE_REVERSE,
                Some(_) => 0,
            };
            let role = Role {
                flags: MATES[mate] | mate_flags,
                other,
                mate_quality: self.quality_of(unit, 1 - mate),
                mate_score: Some(MateTags::score_of(self.cropped(unit, 1 - mate))),
            };
            self.each(unit, mate, &role, sink)?;
        }
        if firsts == [None, None] {
            self.set_aside(unit, sink);
        }
        Ok(())
    }
}
