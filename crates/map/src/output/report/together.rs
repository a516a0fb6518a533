//! The records of pairs.

use super::{RecordSink, ReportUnit, Reporter, room, set_aside, template};
use crate::Error;
use crate::discordance::Arrangement;
use crate::hits::{Hit, quality};
use crate::output::record::{Record, Tags, flag};
use crate::pairs::{Combination, Mates};

/// What a record is of a pair.
const MATES: [u16; 2] = [flag::PAIRED | flag::FIRST, flag::PAIRED | flag::LAST];

impl Reporter<'_> {
    /// Reports a pair: its concordant combinations or, if there is none, each mate's hits.
    pub(super) fn pair(
        &mut self,
        unit: &ReportUnit<'_>,
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        self.reported.pairs += 1;
        let ReportUnit { queries, read, hits, scripts, .. } = *unit;
        let mates = Mates { queries, read, hits, scripts };
        self.pairing.combine(&mates);
        if self.pairing.combinations.is_empty()
            && let Some(mut rescuer) = self.rescuer.take()
        {
            let hits = rescuer.combine(&mates, &mut self.pairing);
            let is_rescued = !self.pairing.combinations.is_empty();
            let rescued = ReportUnit { hits, ..*unit };
            self.reported.rescued += u64::from(is_rescued);
            let done = self.combined(if is_rescued { &rescued } else { unit }, sink);
            self.rescuer = Some(rescuer);
            return done;
        }
        self.combined(unit, sink)
    }

    /// Reports a pair whose combinations are known.
    fn combined(&mut self, unit: &ReportUnit<'_>, sink: &mut dyn RecordSink) -> Result<(), Error> {
        (0..2).for_each(|mate| self.count(unit, mate));
        let combinations = std::mem::take(&mut self.pairing.combinations);
        let done = if combinations.is_empty() {
            self.apart(unit, sink)
        } else {
            self.together(unit, &combinations, sink)
        };
        self.pairing.combinations = combinations;
        done
    }

    fn together(
        &mut self,
        unit: &ReportUnit<'_>,
        combinations: &[Combination],
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        self.reported.concordant += 1;
        self.tallies.concordant(unit.batch.segment());
        let edits = combinations.iter().map(|combination| combination.edits);
        // A mate that has more edits than a hit may have was not looked for elsewhere: the other one tells.
        let rooms = [0, 1]
            .map(|mate| room(unit, mate, &unit.hits[mate][combinations[0].hits[mate] as usize]));
        let least = rooms.into_iter().flatten().min().unwrap_or(0);
        let best = quality(self.config.select, edits.clone(), least);
        if self.config.xa > 0 {
            self.name_others_of_mates(unit, combinations);
        }
        let count = self.selected(edits);
        for (number, combination) in combinations[..count].iter().enumerate() {
            let hits = [0, 1].map(|mate| unit.hits[mate][combination.hits[mate] as usize]);
            let places = [0, 1].map(|mate| self.placed(unit, mate, &hits[mate], mate));
            let first = number == 0;
            for mate in 0..2 {
                let strand = if hits[mate].reverse { flag::REVERSE } else { flag::MATE_REVERSE };
                let record = Record {
                    name: unit.batch.name(unit.read),
                    flags: MATES[mate]
                        | flag::PROPER
                        | strand
                        | if first { 0 } else { flag::SECONDARY },
                    place: Some(places[mate].place),
                    quality: if first { best } else { 0 },
                    operations: &self.alignments[mate].operations,
                    mate: Some(places[1 - mate].place),
                    template: template(places[mate], places[1 - mate], mate),
                    letters: first.then(|| self.cropped(unit, mate)),
                    hit: Some(Tags {
                        edits: places[mate].edits,
                        md: &self.alignments[mate].md,
                        hits: count as u32,
                        number: number as u32 + 1,
                        others: if first { &self.others[mate] } else { &[] },
                    }),
                };
                self.style.write(&record, sink.records());
                self.reported.mappings += 1;
                if first {
                    self.note(unit, mate, count, &places[mate]);
                }
            }
            if let Some(placements) = self.placements.as_mut().filter(|_| first) {
                placements.insert(template(places[0], places[1], 0).unsigned_abs());
            }
            sink.relieve()?;
        }
        Ok(())
    }

    /// Makes what XA says of each mate: its hits in other combinations with as few edits, each once.
    fn name_others_of_mates(&mut self, unit: &ReportUnit<'_>, combinations: &[Combination]) {
        let best = combinations[0];
        for mate in 0..2 {
            let same = combinations.iter().take_while(|other| other.edits == best.edits);
            let mut others: Vec<u32> = same.map(|other| other.hits[mate]).collect();
            others.sort_unstable();
            others.dedup();
            others.retain(|&other| other != best.hits[mate]);
            let others: Vec<Hit> =
                others.iter().map(|&other| unit.hits[mate][other as usize]).collect();
            self.name_others(unit, mate, &others);
        }
    }

    fn apart(&mut self, unit: &ReportUnit<'_>, sink: &mut dyn RecordSink) -> Result<(), Error> {
        let firsts = unit.hits.map(<[Hit]>::first);
        match firsts {
            [Some(_), Some(_)] => self.reported.discordant += 1,
            [None, None] => set_aside(unit, sink),
            _ => self.reported.one_mate += 1,
        }
        let places = [0, 1].map(|mate| firsts[mate].map(|hit| self.placed(unit, mate, hit, mate)));
        if let [Some(one), Some(two)] = places {
            let mates = [one.of_mate(unit.hits[0]), two.of_mate(unit.hits[1])];
            let known = Arrangement::of(mates, self.config);
            self.tallies.discordant(unit.batch.segment(), known);
        }
        for mate in 0..2 {
            let other = places[1 - mate];
            let mate_flags = match other {
                None => flag::MATE_UNMAPPED,
                Some(place) if place.reverse => flag::MATE_REVERSE,
                Some(_) => 0,
            };
            self.each(unit, mate, MATES[mate] | mate_flags, other, sink)?;
        }
        Ok(())
    }
}
