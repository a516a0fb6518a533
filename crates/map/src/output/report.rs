//! Reporting: selects the hits of a read or pair, and turns them into records.

mod junction;
mod many;
mod tags;
mod together;

pub(crate) use many::ManyRecords;
pub(crate) use together::PairFinder;

use merganser_alignments::{MateTags, ReadTags, Record, RecordPlace, RecordStyle, Tags, flag};
use merganser_run::Cancel;

use super::placements::{FirstRecord, Placements};
use crate::discordance::{MatePlace, Tallies};
use crate::groups::KeptTags;
use crate::hits::{Hit, Strata, quality, strata};
use crate::index::IndexView;
use crate::pairs::Mates;
use crate::queries::Queries;
use crate::source::ReadBatch;
use crate::trace::Alignment;
use crate::{Config, Error, MAX_READ, Select};
use junction::SecondPart;

/// Numbers of reads, pairs and records that were reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reported {
    /// The number of reads; both mates of a pair count.
    pub reads: u64,
    /// The number of reads with a hit.
    pub mapped: u64,
    /// The number of reads with a single hit; if not all hits are reported, with a single hit that has the
    /// fewest edits.
    pub unique: u64,
    /// The number of records of hits.
    pub mappings: u64,
    /// The number of supplementary records: second parts of alignments over the junction of a circular contig.
    pub supplementary: u64,
    /// The number of pairs.
    pub pairs: u64,
    /// The number of concordant pairs.
    pub concordant: u64,
    /// The number of concordant pairs with a mate that has more edits than a hit may have.
    pub rescued: u64,
    /// The number of pairs with hits of both mates, but without a concordant combination.
    pub discordant: u64,
    /// The number of pairs with hits of only one mate.
    pub one_mate: u64,
    /// The number of reads with no more bases than edits are allowed, which never have hits.
    pub hopeless: u64,
    /// The number of reads of more than [`MAX_READ`] bases, which are not searched.
    pub too_long: u64,
    /// The number of reads or pairs whose hits exceed [`Config::max_hits`].
    pub cut: u64,
}

impl Reported {
    /// Returns the number of records written: those of hits and, if they are kept, one for each read without a
    /// hit, or else for each such read whose mate has one.
    pub(crate) fn records(&self, keeps_unmapped: bool) -> u64 {
        // An unmapped mate of a mapped read is always kept.
        self.mappings
            + self.supplementary
            + if keeps_unmapped { self.reads - self.mapped } else { self.one_mate }
    }

    pub(crate) fn add(&mut self, other: &Reported) {
        self.reads += other.reads;
        self.mapped += other.mapped;
        self.unique += other.unique;
        self.mappings += other.mappings;
        self.supplementary += other.supplementary;
        self.pairs += other.pairs;
        self.concordant += other.concordant;
        self.rescued += other.rescued;
        self.discordant += other.discordant;
        self.one_mate += other.one_mate;
        self.hopeless += other.hopeless;
        self.too_long += other.too_long;
        self.cut += other.cut;
    }
}

/// A destination of records as text.
pub(crate) trait RecordSink {
    /// Returns the buffer to which the text of records is appended.
    fn records(&mut self) -> &mut Vec<u8>;
    /// Returns the buffer for reads without a hit, if these are kept.
    fn unmapped(&mut self) -> Option<&mut Vec<u8>>;
    /// Passes the text on if it is long.
    ///
    /// # Errors
    /// If the run was cancelled or failed elsewhere.
    fn relieve(&mut self) -> Result<(), Error>;
}

/// A reporter of reads and pairs, one for each thread.
pub(crate) struct Reporter<'r> {
    view: IndexView<'r>,
    config: &'r Config,
    /// The style of all records, or one for each input.
    styles: &'r [RecordStyle],
    /// The style for the current batch.
    style: &'r RecordStyle,
    alignments: [Alignment; 2],
    /// The second parts of alignments over the junction of a circular contig.
    second_parts: [SecondPart; 2],
    /// The other best hits of each mate, as listed in the XA tag.
    others: [Vec<u8>; 2],
    /// The CIGAR of each mate's primary record, as listed in the MC tag of the other one.
    cigars: [Vec<u8>; 2],
    /// The tags of each mate that its records keep.
    tags: [ReadTags; 2],
    kept: &'r KeptTags,
    many: ManyRecords<'r>,
    pub(crate) reported: Reported,
    /// Pairs of each input by the arrangement of their mates.
    pub(crate) tallies: Tallies,
    /// Statistics about places, if requested.
    pub(crate) placements: Option<Placements>,
}

/// A read or pair with its hits, which is reported together.
#[derive(Clone, Copy)]
pub(crate) struct ReportUnit<'a> {
    pub(crate) batch: &'a ReadBatch,
    pub(crate) queries: &'a Queries,
    /// The index of the first read.
    pub(crate) read: usize,
    /// The hits of the read, or of both mates.
    pub(crate) hits: [&'a [Hit]; 2],
    /// The scripts that the hits refer to.
    pub(crate) scripts: &'a [u16],
}

impl<'a> ReportUnit<'a> {
    /// Returns both reads as the mates of a pair.
    fn mates(&self) -> Mates<'a> {
        let ReportUnit { queries, read, hits, scripts, .. } = *self;
        Mates { queries, read, hits, scripts }
    }
}

impl<'r> Reporter<'r> {
    pub(crate) fn new(
        view: IndexView<'r>,
        config: &'r Config,
        styles: &'r [RecordStyle],
        kept: &'r KeptTags,
        many: ManyRecords<'r>,
        cancel: &Cancel,
    ) -> Reporter<'r> {
        let alignments = [Alignment::of_run(cancel), Alignment::of_run(cancel)];
        let (others, cigars, tags, reported, second_parts) = Default::default();
        let style = &styles[0];
        let lengths = view.text.contigs.iter().map(|contig| u64::from(contig.len));
        let placements = config.placements.then(|| Placements::of_contigs(lengths));
        Reporter {
            view,
            config,
            styles,
            style,
            alignments,
            second_parts,
            others,
            cigars,
            tags,
            kept,
            many,
            reported,
            tallies: Tallies::default(),
            placements,
        }
    }

    /// Reports a read, or a pair by the combinations that `finder` finds.
    ///
    /// # Errors
    /// If the sink fails, or the mates have more hits than there is room for.
    pub(crate) fn report(
        &mut self,
        finder: &mut PairFinder<'r>,
        unit: &ReportUnit<'_>,
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        self.style = &self.styles[unit.batch.segment().min(self.styles.len() - 1)];
        if self.config.tags.is_some() {
            self.take_tags(unit, self.config.format, self.config.crop);
        }
        if unit.batch.paired {
            return self.pair(finder, unit, sink);
        }
        self.count(unit, 0);
        self.each(unit, 0, &Role::default(), sink)?;
        if unit.hits[0].is_empty() {
            self.set_aside(unit, sink);
        }
        Ok(())
    }

    fn count(&mut self, unit: &ReportUnit<'_>, mate: usize) {
        let hits = unit.hits[mate];
        let query = unit.queries.get(2 * (unit.read + mate));
        let [letters, _] = self.cropped(unit, mate);
        match letters.len() > MAX_READ {
            true => self.reported.too_long += 1,
            false => self.reported.hopeless += u64::from(query.len <= query.most),
        }
        self.reported.reads += 1;
        self.reported.mapped += u64::from(!hits.is_empty());
        let rivals = match self.config.select {
            Select::All => hits.len(),
            _ => hits.iter().take_while(|hit| hit.edits == hits[0].edits).count(),
        };
        self.reported.unique += u64::from(rivals == 1);
    }

    /// Returns the number of hits or combinations to report, given their strata.
    fn selected(&mut self, strata: impl Strata) -> u64 {
        let (reported, cut) = selected(self.config, strata);
        self.reported.cut += u64::from(cut);
        reported
    }

    /// Returns the letters and qualities of the part of a read that is mapped.
    fn cropped<'a>(&self, unit: &ReportUnit<'a>, mate: usize) -> [&'a [u8]; 2] {
        let [_, letters, qualities] = unit.batch.get(unit.read + mate);
        [letters, qualities].map(|text| self.config.cropped(text))
    }

    /// Writes the records of a read's hits, or an unmapped record.
    fn each(
        &mut self,
        unit: &ReportUnit<'_>,
        mate: usize,
        role: &Role,
        sink: &mut dyn RecordSink,
    ) -> Result<(), Error> {
        let hits = unit.hits[mate];
        let Role { flags, other, .. } = *role;
        let name = unit.batch.name(unit.read);
        let letters = Some(self.cropped(unit, mate));
        let mate_place = other.map(|other| other.place);
        if hits.is_empty() {
            if let Some(placements) = &mut self.placements {
                placements.unplaced();
            }
            // A mapped read is never without its mate.
            if !self.config.no_unmapped || other.is_some() {
                let mate_tags = self.mate_tags(role, mate);
                let record = Record::unmapped(name, flags, mate_place, letters);
                let read_tags = self.tags[mate].bytes();
                self.style.write(&Record { mate_tags, read_tags, ..record }, sink.records());
            }
            return sink.relieve();
        }
        let best = self.quality_of(unit, mate);
        let strata = strata(hits);
        let rivals = strata.clone().next().map_or(0, |(_, count)| count as usize);
        self.name_others(unit, mate, &hits[1..rivals]);
        let count = self.selected(strata) as usize;
        self.many.note(unit.batch, unit.read, count as u64);
        for (number, hit) in hits[..count].iter().enumerate() {
            let own = self.placed(unit, mate, hit, 0);
            let strand = if hit.reverse { flag::REVERSE } else { 0 };
            let first = number == 0;
            let alone = flags & flag::MATE_UNMAPPED != 0;
            let record = Record {
                name,
                flags: flags | strand | if first { 0 } else { flag::SECONDARY },
                place: Some(own.place),
                quality: if first { best } else { 0 },
                operations: &self.alignments[0].operations,
                // The record of an unmapped mate has the place of its mapped mate.
                mate: if alone { Some(own.place) } else { mate_place },
                template: other.map_or(0, |other| self.template(own, other, mate)),
                letters: letters.filter(|_| first || self.config.secondary_seq),
                hit: Some(Tags {
                    edits: own.edits,
                    md: &self.alignments[0].md,
                    hits: count as u32,
                    number: number as u32 + 1,
                    others: if first { &self.others[mate] } else { &[] },
                    parts: &[],
                }),
                mate_tags: if first { self.mate_tags(role, mate) } else { None },
                read_tags: self.tags[mate].bytes(),
            };
            self.reported.supplementary += self.write(&record, 0, sink.records());
            self.reported.mappings += 1;
            if first {
                self.note(unit, mate, (count, best), &own);
            }
            sink.relieve()?;
        }
        Ok(())
    }

    /// Returns the tags about the mate of a read; `None` for a single read.
    fn mate_tags(&self, role: &Role, mate: usize) -> Option<MateTags<'_>> {
        role.mate_score.map(|score| MateTags {
            quality: role.other.map(|_| role.mate_quality),
            cigar: &self.cigars[1 - mate],
            score,
        })
    }

    /// Returns the mapping quality of a read's first hit; 0 if it has none.
    fn quality_of(&self, unit: &ReportUnit<'_>, mate: usize) -> u8 {
        let hits = unit.hits[mate];
        let Some(best) = hits.first() else { return 0 };
        let room = room(unit, mate, best).unwrap_or(0);
        quality(self.config.select, strata(hits), room)
    }

    /// Stores the CIGAR of a mate's alignment for the tag MC of the other one.
    fn name_cigar(&mut self, mate: usize) {
        let cigar = &mut self.cigars[mate];
        cigar.clear();
        self.style.write_cigar(&self.alignments[mate].operations, cigar);
    }

    /// Adds a read's first of `count` records, with this mapping quality, to the statistics about places, if requested.
    fn note(
        &mut self,
        unit: &ReportUnit<'_>,
        mate: usize,
        (count, quality): (usize, u8),
        own: &Placed,
    ) {
        let [letters, _] = self.cropped(unit, mate);
        if let Some(placements) = &mut self.placements {
            let contig = &self.view.text.contigs[own.place.contig as usize];
            placements.placed(&FirstRecord {
                hits: count as u32,
                edits: own.edits,
                quality,
                contig: own.place.contig,
                start: u64::from(own.place.at),
                bases: letters.len() as u64,
                circle: contig.is_circular().then_some(contig.len.into()),
            });
        }
    }

    /// Fills in the XA tag of a mate with its other hits; leaves it empty if it is not requested or there are
    /// too many.
    fn name_others(&mut self, unit: &ReportUnit<'_>, mate: usize, others: &[Hit]) {
        let mut named = std::mem::take(&mut self.others[mate]);
        named.clear();
        if others.len() <= self.config.xa as usize {
            for hit in others {
                if !self.style.may_name(hit.contig) {
                    named.clear();
                    break;
                }
                let Placed { place, reverse, edits, .. } = self.placed(unit, mate, hit, mate);
                let operations = &self.alignments[mate].operations;
                self.style.name_hit(place, reverse, operations, edits, &mut named);
            }
        }
        self.others[mate] = named;
    }

    /// Returns SAM's template length of a record, given the places of the record and its mate: the number of bases from the
    /// first sequenced base of the read to that of its mate, negative if the mate's is on the left, as BWA-MEM and htsjdk
    /// have it; on a circular contig, the shorter way around. If both are at the same position, the first mate's is
    /// positive.
    fn template(&self, own: Placed, other: Placed, mate: usize) -> i64 {
        if own.place.contig != other.place.contig {
            return 0;
        }
        let contig = &self.view.text.contigs[own.place.contig as usize];
        let mut distance = i64::from(other.first_sequenced) - i64::from(own.first_sequenced);
        if contig.is_circular() {
            let len = i64::from(contig.len);
            distance %= len;
            if 2 * distance.abs() > len {
                distance -= distance.signum() * len;
            }
        }
        bases_between(distance, mate)
    }

    /// Returns the template length of the first mate of a concordant pair, as [`template`](Self::template) does; on a
    /// circular contig, the way around is that of the insert size.
    fn template_of_pair(&self, places: [Placed; 2]) -> i64 {
        let contig = &self.view.text.contigs[places[0].place.contig as usize];
        let orientation = self.config.orientation;
        let turned = orientation.left(places.map(|placed| placed.reverse)).and_then(|left| {
            let [one, other] = [left, 1 - left].map(|mate| {
                let [start, end] = places[mate].whole;
                [start, end - 1]
            });
            let (_, turns) = orientation.insert_with_turns(contig, one, other)?;
            let turns = if left == 0 { turns } else { [turns[1], turns[0]] };
            Some([0, 1].map(|mate| {
                i64::from(places[mate].first_sequenced) + i64::from(turns[mate] * contig.len)
            }))
        });
        match turned {
            Some([own, other]) => bases_between(other - own, 0),
            None => self.template(places[0], places[1], 0),
        }
    }

    /// Computes the alignment of a hit into `self.alignments[into]`, and returns its place.
    fn placed(&mut self, unit: &ReportUnit<'_>, mate: usize, hit: &Hit, into: usize) -> Placed {
        let (text, config) = (&self.view.text, self.config);
        let (alignment, read) = (&mut self.alignments[into], unit.read + mate);
        alignment.of_hit(unit.queries, read, hit, text, config.n_mode, unit.scripts);
        let whole = [alignment.start, alignment.end];
        let mut edits = alignment.finish(unit.queries, read, hit, text, config);
        let contig = &text.contigs[hit.contig as usize];
        let first_sequenced = if hit.reverse { alignment.end - 1 } else { alignment.start };
        let first_sequenced = first_sequenced - contig.start;
        let second = &mut self.second_parts[into];
        second.is_there = false;
        if contig.is_circular() && alignment.end > contig.start + contig.len {
            second.is_there = alignment.cut(contig, text, &mut second.alignment);
            edits = alignment.edits();
        }
        let place = RecordPlace { contig: hit.contig, at: alignment.start - contig.start };
        Placed { place, first_sequenced, reverse: hit.reverse, edits, whole }
    }
}

/// Returns the number of bases from one position to another at a signed distance, both included; at the same position,
/// that of the first mate is positive.
fn bases_between(distance: i64, mate: usize) -> i64 {
    match distance {
        0 if mate == 0 => 1,
        0 => -1,
        _ => distance + distance.signum(),
    }
}

/// The role of a read in a pair whose mates are reported separately; the default is that of a single read.
#[derive(Clone, Copy, Debug, Default)]
struct Role {
    /// The flags as a mate.
    flags: u16,
    /// The place of the mate's first hit, if there is one.
    other: Option<Placed>,
    /// The mapping quality of that hit.
    mate_quality: u8,
    /// The score of the mate's qualities ([`MateTags::score`]); `None` for single reads.
    mate_score: Option<u32>,
}

/// The place of a hit's alignment.
#[derive(Clone, Copy, Debug)]
struct Placed {
    place: RecordPlace,
    /// The position in the contig of the first sequenced base that is aligned. On a circular contig, it may be up to
    /// twice the contig's length.
    first_sequenced: u32,
    reverse: bool,
    edits: u32,
    /// The positions of the first base and after the last base, including clipped ends.
    whole: [u32; 2],
}

impl Placed {
    /// Returns the place of a mate's first hit, given all of its hits.
    fn of_mate(&self, hits: &[Hit]) -> MatePlace {
        MatePlace {
            contig: self.place.contig,
            span: self.whole,
            reverse: self.reverse,
            is_unique: hits.get(1).is_none_or(|next| next.edits > hits[0].edits),
        }
    }
}

/// Returns how many more edits a hit of a mate may have; `None` if it already has more than a hit may have.
fn room(unit: &ReportUnit<'_>, mate: usize, hit: &Hit) -> Option<u32> {
    (unit.queries.get(2 * (unit.read + mate)).most as u32).checked_sub(hit.edits)
}

/// Returns the number of hits or combinations to report, given their strata, and whether [`Config::max_hits`]
/// leaves some out.
pub(crate) fn selected(config: &Config, mut strata: impl Strata) -> (u64, bool) {
    let wanted = match config.select {
        Select::All => strata.map(|(_, count)| count).sum(),
        Select::Best => strata.next().map_or(0, |_| 1),
        Select::BestStrata => strata.next().map_or(0, |(_, count)| count),
    };
    let most = match config.max_hits {
        0 => u64::MAX,
        most => most.into(),
    };
    (wanted.min(most), wanted > most)
}
