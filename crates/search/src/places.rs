//! From ends to hits: the ends of a query in a piece are divided into clusters, and each cluster is decided.
//!
//! Ends further apart than [`reach`] do not silence each other. A cluster at the border of a stretch of a long sequence
//! may go on in the next stretch: it is returned undecided, with all alignments, and [`crate::join`] decides it.

use merganser_alignments::Operation;

use crate::align::{Aligner, Alignment, Begin, append, diagonal};
use crate::anchor::Anchor;
use crate::hit::Hit;
use crate::letters::text_bases;
use crate::queries::{Queries, Query};
use crate::scan::{Piece, PieceEnd};
use crate::searcher::Text;
use crate::select::{End, occurrences, reach};

/// An undecided end with the hit that it would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) end: End,
    pub(crate) hit: Hit,
}

/// An undecided cluster at a border of a stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    pub(crate) query: usize,
    pub(crate) candidates: Vec<Candidate>,
    /// Whether it may go on in the stretch before, and in the one after.
    pub(crate) is_open: [bool; 2],
}

/// The hits and the undecided clusters of a piece. Positions are those of the piece.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    pub(crate) hits: Vec<Hit>,
    pub(crate) clusters: Vec<Cluster>,
}

/// Decides ends. Each thread has its own.
#[derive(Debug, Default)]
pub(crate) struct Decider {
    aligner: Aligner,
    /// The bases of the letters around a cluster.
    window: Vec<u8>,
}

impl Decider {
    /// Returns the places of the ends of one text, which are sorted by query and position. `pieces` are the text and, if
    /// it was scanned, its reverse complement. `goes_on` says whether the sequence has letters before and after the text.
    pub(crate) fn decide(
        &mut self,
        queries: &Queries,
        pieces: [Option<&Piece<'_>>; 2],
        ends: &[PieceEnd],
        goes_on: [bool; 2],
    ) -> Places {
        let mut places = Places::default();
        for ends in ends.chunk_by(|a, b| a.query == b.query) {
            let number = ends[0].query as usize;
            let query = &queries.all()[number];
            let [Some(text), _] = pieces else { continue };
            let Some(piece) = pieces[usize::from(query.in_complement)] else { continue };
            let ends: Vec<End> = ends.iter().map(|end| end.end).collect();
            let reach = if queries.every_end() { 0 } else { reach(query.edits) };
            let close = |a: &End, b: &End| b.position - a.position <= reach;
            for cluster in ends.chunk_by(close) {
                let (first, last) = (cluster[0].position, cluster[cluster.len() - 1].position);
                let before = goes_on[0] && first < piece.owned.start + reach;
                let after = goes_on[1] && last + reach >= piece.owned.end;
                if (before || after) && reach > 0 {
                    let candidates = cluster
                        .iter()
                        .map(|&end| Candidate { end, hit: self.hit(queries, query, piece, end) });
                    places.clusters.push(Cluster {
                        query: number,
                        candidates: candidates.collect(),
                        is_open: [before, after],
                    });
                } else {
                    self.decide_cluster(queries, query, [text, piece], cluster, &mut places.hits);
                }
            }
        }
        places.hits.sort_unstable_by_key(Hit::key);
        places
    }

    fn decide_cluster(
        &mut self,
        queries: &Queries,
        query: &Query,
        [text, piece]: [&Piece<'_>; 2],
        cluster: &[End],
        hits: &mut Vec<Hit>,
    ) {
        if let Some(anchor) = queries.anchor() {
            for &end in cluster {
                hits.extend(self.anchored_hit(queries, anchor, query, [text, piece], end));
            }
            return;
        }
        if queries.every_end() {
            hits.extend(cluster.iter().map(|&end| self.hit(queries, query, piece, end)));
            return;
        }
        let mut known: Vec<Option<Hit>> = vec![None; cluster.len()];
        let taken = occurrences(cluster, query.edits, |at| {
            let hit = known[at].get_or_insert_with(|| self.hit(queries, query, piece, cluster[at]));
            hit.alignment.start
        });
        hits.extend(taken.into_iter().map(|at| {
            known[at].take().unwrap_or_else(|| self.hit(queries, query, piece, cluster[at]))
        }));
    }

    /// Returns the hit of an end.
    fn hit(&mut self, queries: &Queries, query: &Query, piece: &Piece<'_>, end: End) -> Hit {
        let letters = piece.letters;
        let outside = end.position.saturating_sub(letters.len());
        let sets = &query.sets[..query.sets.len() - outside];
        let position = end.position - outside;
        let from = position.saturating_sub(sets.len() + end.edits);
        let to = letters.len().min(position + end.edits);
        self.window.clear();
        let bases = |&letter: &u8| text_bases(letter, queries.n_matches());
        self.window.extend(letters[from..to].iter().map(bases));
        let position = position - from;
        let mut alignment = match queries.hamming() {
            true => {
                let start = position - sets.len();
                let operations = diagonal(sets, &self.window[start..]);
                Alignment { start, end: position, operations }
            }
            false => {
                let overhang = queries.overhang();
                let edits = end.edits - overhang.map_or(0, |overhang| overhang.cost(outside));
                let begin = match overhang {
                    Some(overhang) if piece.begins && from == 0 => Begin::Outside(overhang),
                    _ => Begin::Anywhere,
                };
                let may_move = !queries.every_end() && outside == 0;
                self.aligner.align(sets, &self.window, End { position, edits }, may_move, begin)
            }
        };
        if outside > 0 {
            append(&mut alignment.operations, Operation::Clip, outside as u32);
        }
        alignment.start += from;
        alignment.end += from;
        Hit {
            pattern: query.pattern,
            reverse: query.reverse,
            edits: end.edits,
            letters: letters[alignment.start..alignment.end].to_ascii_uppercase(),
            alignment,
        }
    }
}

impl Decider {
    /// Returns the hit of an end that the anchor fixes, in the direction of the text; `None` if the seed region has too
    /// many edits.
    fn anchored_hit(
        &mut self,
        queries: &Queries,
        anchor: &Anchor,
        query: &Query,
        [text, piece]: [&Piece<'_>; 2],
        end: End,
    ) -> Option<Hit> {
        let from = end.position.saturating_sub(query.sets.len() + query.edits);
        let to = end.position + anchor.pam.len();
        self.window.clear();
        let bases = |&letter: &u8| text_bases(letter, queries.n_matches());
        self.window.extend(piece.letters[from..end.position].iter().map(bases));
        let (edits, mut alignment) = match queries.hamming() {
            true => anchor.align_diagonal(&query.sets, &self.window, query.edits),
            false => anchor.align(&mut self.aligner, &query.sets, &self.window, query.edits),
        }?;
        append(&mut alignment.operations, Operation::Match, anchor.pam.len() as u32);
        (alignment.start, alignment.end) = (alignment.start + from, to);
        if query.in_complement {
            alignment.operations.reverse();
            let whole = piece.letters.len();
            (alignment.start, alignment.end) = (whole - to, whole - alignment.start);
        }
        // Those of the text: the complements have no U, and no letters that are not IUPAC's.
        let letters = text.letters[alignment.start..alignment.end].to_ascii_uppercase();
        Some(Hit { pattern: query.pattern, reverse: query.reverse, edits, alignment, letters })
    }
}

/// Returns the hits of a cluster whose ends and alignments are known.
pub(crate) fn decide_candidates(candidates: Vec<Candidate>, e: usize, hits: &mut Vec<Hit>) {
    let ends: Vec<End> = candidates.iter().map(|candidate| candidate.end).collect();
    let taken = occurrences(&ends, e, |at| candidates[at].hit.alignment.start);
    let mut taken = taken.into_iter().peekable();
    hits.extend(
        candidates.into_iter().enumerate().filter_map(|(at, candidate)| {
            (taken.next_if_eq(&at).is_some()).then_some(candidate.hit)
        }),
    );
}

/// The lengths of the overlaps of the stretches of a long sequence.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlap {
    /// The number of letters that an alignment may have before its end.
    pub(crate) before: usize,
    /// The number of letters after an end that its alignment may end at, or that its PAM has.
    pub(crate) after: usize,
}

impl Overlap {
    /// Returns the overlap that the queries need.
    pub(crate) fn of(queries: &Queries) -> Overlap {
        let after = match queries.every_end() {
            true => queries.pam_letters(),
            false => queries.most_edits(),
        };
        Overlap { before: queries.reach(), after }
    }

    /// Returns the number of letters that a stretch repeats from the one before.
    pub(crate) fn letters(self) -> usize {
        self.before + self.after
    }

    /// Returns the piece of a text.
    pub(crate) fn forward<'t>(self, text: &Text<'t>) -> Piece<'t> {
        let Text { letters, goes_on } = *text;
        let first = if goes_on[0] { self.before + 1 } else { 1 };
        let end = letters.len() + 1 - if goes_on[1] { self.after } else { 0 };
        Piece { letters, owned: first..end.max(first), begins: !goes_on[0] }
    }

    /// Returns the piece of the reverse complement of a text, which ends where the one before begins.
    pub(crate) fn backward<'c>(self, text: &Text<'_>, complement: &'c [u8]) -> Piece<'c> {
        let first = if text.goes_on[1] { self.before + 1 } else { 1 };
        let repeated = if text.goes_on[0] { self.after } else { 0 };
        let end = complement.len() + 1 - repeated;
        Piece { letters: complement, owned: first..end.max(first), begins: !text.goes_on[1] }
    }
}
