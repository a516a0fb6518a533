//! Batches that a device scans together.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use merganser_gpu::{Device, Pooled, Result as GpuResult};
use merganser_run::locks::lock;

use crate::cuda::{GpuPattern, GpuPatterns, GpuPiece, GpuScanner, PatternEnd};
use crate::queries::{Queries, Query};
use crate::scan::PieceEnd;
use crate::searcher::{Searcher, Text};
use crate::select::End;

/// The number of ends for which a scanner has room on the device.
pub(super) const ENDS: usize = if cfg!(test) { 1 << 12 } else { 8 << 20 };
/// The maximum number of ends of a group in each direction. The batches of a group with more are searched by the worker.
const MOST: usize = if cfg!(test) { 3000 } else { 16 << 20 };

/// The queries of a direction on a device, and the number of each.
pub(super) type Direction = (Arc<GpuPatterns>, Arc<[u32]>);

/// Copies queries to a device, separately for each direction in which they are scanned.
///
/// # Errors
/// If the device has too little memory, or fails.
pub(super) fn patterns<'q>(
    device: &Device,
    queries: &'q Queries,
) -> GpuResult<[Option<Direction>; 2]> {
    let of = |in_complement: bool| {
        if !queries.scans(in_complement) {
            return Ok(None);
        }
        let all = (0..).zip(queries.all());
        let here: Vec<_> = all.filter(|(_, one)| one.in_complement == in_complement).collect();
        let pattern =
            |&(_, one): &(u32, &'q Query)| GpuPattern { sets: &one.sets, edits: one.edits };
        let patterns: Vec<GpuPattern<'_>> = here.iter().map(pattern).collect();
        let anchor = queries.anchor().map_or(&[][..], |anchor| &anchor.pam);
        let patterns = GpuPatterns::new(device, &patterns, queries.n_matches(), anchor)?;
        let numbers = here.into_iter().map(|(number, _)| number).collect();
        Ok(Some((Arc::new(patterns), numbers)))
    };
    Ok([of(false)?, of(true)?])
}

/// A scanner of each direction, with the numbers of its queries.
pub(super) struct Scanners([Option<(GpuScanner, Arc<[u32]>)>; 2]);

impl Scanners {
    /// Creates scanners for up to `letters` letters.
    ///
    /// # Errors
    /// If the device has too little memory, or fails.
    pub(super) fn new(patterns: &[Option<Direction>; 2], letters: usize) -> GpuResult<Scanners> {
        let of = |direction: &Option<Direction>| {
            let Some((patterns, numbers)) = direction else { return Ok(None) };
            let scanner = GpuScanner::new(patterns, letters, ENDS)?;
            Ok(Some((scanner, Arc::clone(numbers))))
        };
        Ok(Scanners([of(&patterns[0])?, of(&patterns[1])?]))
    }

    /// Returns the time of kernels.
    pub(super) fn kernel_time(&self) -> Duration {
        self.0.iter().flatten().map(|(scanner, _)| scanner.kernel_time()).sum()
    }

    fn start(&mut self) -> GpuResult<()> {
        self.0.iter_mut().flatten().try_for_each(|(scanner, _)| scanner.start())
    }

    fn is_done(&self) -> GpuResult<bool> {
        for (scanner, _) in self.0.iter().flatten() {
            if !scanner.is_done()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the ends of each direction, sorted by piece; `None` if there are too many.
    fn finish(&mut self) -> GpuResult<Option<[Vec<PieceEnd>; 2]>> {
        let mut all = [Vec::new(), Vec::new()];
        let mut is_complete = true;
        for (direction, all) in self.0.iter_mut().zip(&mut all) {
            let Some((scanner, numbers)) = direction else { continue };
            let mut ends = Vec::new();
            is_complete &= scanner.finish(&mut ends, MOST)?;
            *all = ends.into_iter().map(|end| end_of(&end, numbers)).collect();
            all.sort_unstable();
        }
        Ok(is_complete.then_some(all))
    }
}

fn end_of(end: &PatternEnd, numbers: &[u32]) -> PieceEnd {
    PieceEnd {
        piece: end.piece,
        query: numbers[end.pattern as usize],
        end: End { position: end.end as usize, edits: usize::from(end.edits) },
    }
}

/// Batches that are scanned together.
pub(in crate::run) struct BatchGroup {
    state: State,
    /// The number of letters, those between texts included, and of texts.
    letters: usize,
    texts: u32,
}

/// Groups are open until they have enough letters, or a batch is wanted.
enum State {
    Open(Pooled<Scanners>),
    Started(Pooled<Scanners>),
    /// The ends of each direction, unless there are too many.
    Done(Option<[Vec<PieceEnd>; 2]>),
}

/// A group that the slots of its batches share. One worker has all of them.
pub(in crate::run) type Group = Arc<Mutex<BatchGroup>>;

impl BatchGroup {
    /// Returns a group without batches.
    pub(super) fn new(scanners: Pooled<Scanners>) -> Group {
        Arc::new(Mutex::new(BatchGroup { state: State::Open(scanners), letters: 0, texts: 0 }))
    }
}

/// The place of a batch in a group.
pub(in crate::run) struct Slot {
    group: Group,
    /// The first text, and the one after the last.
    texts: [u32; 2],
}

impl Slot {
    pub(super) fn new(group: &Group) -> Slot {
        Slot { group: Arc::clone(group), texts: [0; 2] }
    }

    pub(super) fn is_in(&self, group: &Group) -> bool {
        Arc::ptr_eq(&self.group, group)
    }

    /// Adds the texts of a batch, of `letters` letters, to the open group; returns the number of its letters.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn add(
        &mut self,
        texts: &[Text<'_>],
        searcher: &Searcher<'_>,
        letters: usize,
    ) -> GpuResult<usize> {
        let group = &mut *lock(&self.group);
        let State::Open(scanners) = &mut group.state else {
            unreachable!("batches are added to open groups");
        };
        let complements = searcher.complements(texts);
        let pieces = searcher.pieces(texts, &complements);
        for (direction, pieces) in scanners.0.iter_mut().zip(&pieces) {
            let Some((scanner, _)) = direction else { continue };
            for piece in pieces {
                let piece = GpuPiece { letters: piece.letters, owned: piece.owned.clone() };
                assert!(scanner.add(&piece)?, "an open group has room");
            }
        }
        self.texts = [group.texts, group.texts + texts.len() as u32];
        group.texts = self.texts[1];
        group.letters += letters;
        Ok(group.letters)
    }

    /// Starts the scan of the group, if it was not started.
    ///
    /// # Errors
    /// If the device fails.
    pub(super) fn start(&self) -> GpuResult<()> {
        lock(&self.group).start()
    }

    /// Whether the device is done with the group.
    ///
    /// # Errors
    /// If the device failed.
    pub(super) fn is_done(&self) -> GpuResult<bool> {
        match &lock(&self.group).state {
            State::Open(_) => Ok(false),
            State::Started(scanners) => scanners.is_done(),
            State::Done(_) => Ok(true),
        }
    }

    /// Waits for the ends of the group, and returns those of the batch in each direction, sorted; `None` if the group has
    /// too many ends.
    ///
    /// # Errors
    /// If the device failed.
    pub(super) fn finish(&self) -> GpuResult<Option<[Vec<PieceEnd>; 2]>> {
        let mut group = lock(&self.group);
        group.start()?;
        if let State::Started(scanners) = &mut group.state {
            let ends = scanners.finish()?;
            group.state = State::Done(ends);
        }
        let State::Done(Some(ends)) = &group.state else { return Ok(None) };
        let [first, last] = self.texts;
        let of = |ends: &Vec<PieceEnd>| {
            let [from, to] = [first, last].map(|text| ends.partition_point(|end| end.piece < text));
            let own = ends[from..to].iter();
            own.map(|end| PieceEnd { piece: end.piece - first, ..*end }).collect()
        };
        Ok(Some([of(&ends[0]), of(&ends[1])]))
    }
}

impl BatchGroup {
    fn start(&mut self) -> GpuResult<()> {
        let state = std::mem::replace(&mut self.state, State::Done(None));
        self.state = match state {
            State::Open(mut scanners) => {
                scanners.start()?;
                State::Started(scanners)
            }
            state => state,
        };
        Ok(())
    }
}
