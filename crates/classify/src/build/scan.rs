//! Reads the references: lists targets in input order, and sketches their windows on all workers.

mod pieces;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use merganser_alignments::ReaderOptions;
use merganser_gpu::DeviceInfo;
use merganser_io::{Chunk, Input, Reader, SpillFile};
use merganser_run::engine::Turns;
use merganser_run::locks::lock;
use merganser_run::{Budget, OnFailure, run_workers_collect, side_by_side, start_scoped};
use merganser_seq::base;

use super::Setup;
use super::target_taxa::ScannedTarget;
use crate::cpu::stretches;
use crate::cuda::{Collector, Starting};
use crate::entries::{AllEntries, Entries, Numbering, Unit};
use crate::params::Params;
use crate::{Error, Sketcher};
use pieces::{Piece, Records, Tail, Turn, Waiting};

/// The maximum number of windows: a location has 31 bits.
pub(crate) const MAX_WINDOWS: u64 = (1 << 31) - 1;

/// The result of the scan.
pub(crate) struct Scan {
    /// The targets of each input.
    pub(crate) files: Vec<Vec<ScannedTarget>>,
    pub(crate) entries: AllEntries,
    /// The sketches, if a device holds all of them; there are no entries then.
    pub(crate) sketches: Option<Arc<Collector>>,
    pub(crate) bases: u64,
    /// Memory of the targets, in bytes.
    pub(crate) target_bytes: u64,
    /// The number of secondary and supplementary alignments, which are not sequences.
    pub(crate) skipped_alignments: u64,
    /// The devices that sketched.
    pub(crate) devices: Vec<DeviceInfo>,
}

/// The results of an input's chunks so far, in the order of the input.
#[derive(Default)]
struct FileState {
    targets: Vec<ScannedTarget>,
    /// The rest of the last target, which may continue in the next chunk.
    tail: Option<Tail>,
}

struct Scanner<'a> {
    setup: &'a Setup<'a>,
    params: &'a Params,
    /// The bytes that targets and entries may take.
    memory: u64,
    /// The bytes of targets so far.
    target_bytes: AtomicU64,
    reader: Reader,
    files: Vec<Turns<FileState>>,
    windows: AtomicU64,
    first_window: u64,
    gpu: Option<&'a Starting>,
    /// The bytes that wait for the devices.
    waiting: AtomicU64,
    spill: SpillFile,
    /// Held while a worker spills: one at a time.
    spill_lock: Mutex<()>,
}

/// Reads and sketches `inputs` within `memory` bytes. Windows are numbered from `first_window` on. With `keep`,
/// sketches made on a device stay there if it has room for all.
///
/// # Errors
/// If reading fails or there are too many windows.
pub(super) fn scan(
    setup: &Setup<'_>,
    memory: u64,
    inputs: &[Input],
    first_window: u64,
    keep: bool,
) -> Result<Scan, Error> {
    let Setup { config, gpus, cancel, .. } = setup;
    let (threads, params) = (setup.context.threads, config.params());
    let options = ReaderOptions {
        workers: threads,
        max_record: merganser_io::longest_record(memory / 16, threads as u64 + 1),
        cancel: (*cancel).clone(),
        warnings: setup.context.warnings.clone(),
        ..ReaderOptions::default()
    };
    let reader = Reader::open(inputs, options)?;
    setup.progress.stage("build", merganser_run::Unit::Bytes, reader.bytes_total());
    let starting = Starting::default();
    let scanner = Scanner {
        setup,
        params: &params,
        memory: memory.saturating_sub(setup.fixed_memory()),
        target_bytes: AtomicU64::new(0),
        files: inputs.iter().map(|_| Turns::default()).collect(),
        reader,
        windows: AtomicU64::new(0),
        first_window,
        gpu: (!gpus.devices.is_empty()).then_some(&starting),
        waiting: AtomicU64::new(0),
        spill: SpillFile::new(&setup.context.temp_dir),
        spill_lock: Mutex::new(()),
    };
    let result = thread::scope(|scope| {
        if let Some(starting) = scanner.gpu {
            let make = || Collector::new(gpus, &params, keep);
            start_scoped(scope, move || starting.start(make))?;
        }
        run_workers_collect(threads, |_| {
            // When a worker fails or panics, the others must not wait for its turn.
            let gone = OnFailure::new(|| scanner.stop());
            let done = scanner.work()?;
            gone.disarm();
            Ok(done)
        })
    });
    let workers = match result {
        Ok(workers) => workers,
        // A read from a pipe that is interrupted by cancelling would otherwise be reported as an error of the pipe.
        Err(_) if cancel.is_cancelled() => return Err(Error::Cancelled),
        Err(Error::Io(error)) => return Err(scanner.reader.earliest_error(error).into()),
        // If starting the devices failed, that error is the reason.
        Err(error) => return starting.finish().and(Err(error)),
    };
    scanner.finish(workers)
}

impl Scanner<'_> {
    fn stop(&self) {
        self.reader.stop();
        self.files.iter().for_each(|file| file.stop(0));
    }

    fn work(&self) -> Result<(Entries, Vec<Unit>, u64), Error> {
        let threads = self.setup.context.threads as u64;
        let mut entries = Entries::new(self.entry_memory() / threads);
        let mut units = Vec::new();
        let mut bases = 0;
        let mut sketcher = Sketcher::new(self.params);
        let (mut chunk, mut records) = (Chunk::default(), Records::default());
        let mut waiting = Vec::new();
        while self.reader.next_chunk(&mut chunk)? {
            self.setup.cancel.check()?;
            records.letters.clear();
            records.starts.clear();
            bases += chunk.parse(&mut records)?.bases;
            let Some(mut turn) = self.take_turn(&chunk, &mut records) else { break };
            self.check_targets()?;
            entries.keep_within(self.entry_memory() / threads);
            turn.mask(self.params.masking, &mut records);
            let pieces = turn.pieces(self.params.masking, &records);
            self.note_kmers(chunk.file(), turn.target, &pieces);
            let unit = self.unit((chunk.file(), chunk.ordinal()), &pieces)?;
            units.push(unit);
            if self.gpu.is_some() {
                let provisional = unit.provisional as u32;
                let held = Waiting { provisional, turn, records };
                records = self.send(held, &mut waiting, &mut entries)?;
            } else {
                self.sketch(unit, &pieces, &mut sketcher, &mut entries);
            }
            self.spill_if_full(&mut entries)?;
            self.setup.progress.advance(chunk.source_bytes());
        }
        if let Some(starting) = self.gpu.filter(|_| !waiting.is_empty()) {
            let collector = starting.get()?;
            self.send_all(&collector, &mut waiting, &mut entries)?;
        }
        self.setup.cancel.check()?;
        Ok((entries, units, bases))
    }

    /// Waits for the turn of this chunk in its file, takes over the unfinished target of the chunk before, and
    /// leaves its own. Returns `None` if the scan has failed elsewhere.
    fn take_turn(&self, chunk: &Chunk, records: &mut Records) -> Option<Turn> {
        self.files[chunk.file()].take(chunk.ordinal(), |state| self.turn(state, records))
    }

    fn turn(&self, state: &mut FileState, records: &mut Records) -> Turn {
        let mut lead = None;
        let resumed = matches!(records.starts.first(), Some((None, _)));
        let only = records.starts.len() == 1;
        let before = state.targets.len();
        if let Some(mut tail) = state.tail.take() {
            if resumed {
                let letters = &records.letters[records.range(0)];
                tail.extend(letters);
                if let Some(target) = state.targets.last_mut() {
                    target.bases += letters.len() as u64;
                }
            }
            if resumed && only {
                state.tail = Some(tail.rest(self.params));
            }
            lead = Some((tail, !(resumed && only)));
        }
        let from = usize::from(resumed);
        let mut target_bytes = 0;
        for at in from..records.starts.len() {
            let letters = &records.letters[records.range(at)];
            if at + 1 == records.starts.len() {
                state.tail = Some(Tail::of_beginning(self.params, letters));
            }
            let bases = letters.len() as u64;
            let header = records.starts[at].0.take().unwrap_or_default();
            let name = header.split_ascii_whitespace().next().unwrap_or_default().to_owned();
            let target = ScannedTarget { name, header, bases, has_kmer: false };
            target_bytes += target.bytes();
            state.targets.push(target);
        }
        self.target_bytes.fetch_add(target_bytes, Ordering::Relaxed);
        Turn { target: before - usize::from(lead.is_some()), lead, from }
    }

    /// Returns the bytes that entries and records waiting for devices may take; the rest is for groups of tables
    /// while they are made.
    fn entry_memory(&self) -> u64 {
        self.memory.saturating_sub(self.target_bytes.load(Ordering::Relaxed)) / 10 * 9
    }

    /// Checks that targets leave enough memory for their entries.
    fn check_targets(&self) -> Result<(), Error> {
        let bytes = self.target_bytes.load(Ordering::Relaxed);
        if bytes <= self.memory / 2 {
            return Ok(());
        }
        let memory = self.setup.memory;
        let budget = Budget::of_part(memory).with(memory - self.memory).with(2 * bytes);
        let what = "a reference with this many sequences needs";
        let remedy = "or build several databases, and classify with all of them at once";
        Err(budget.shortage(what, remedy).into())
    }

    /// Notes which targets have a k-mer, given pieces of the targets from `target` on.
    fn note_kmers(&self, file: usize, target: usize, pieces: &[Piece<'_>]) {
        let found: Vec<bool> = pieces.iter().map(|piece| self.has_kmer(piece.letters)).collect();
        self.files[file].change(|state| {
            for (target, found) in state.targets[target..].iter_mut().zip(found) {
                target.has_kmer |= found;
            }
        });
    }

    /// Whether there is a k-mer of bases only; in most sequences the first one is.
    fn has_kmer(&self, letters: &[u8]) -> bool {
        let mut run = 0;
        letters.iter().any(|&letter| {
            run = if base::code(letter).is_some() { run + 1 } else { 0 };
            run == self.params.k
        })
    }

    /// Assigns provisional numbers to windows.
    fn unit(&self, (file, ordinal): (usize, u64), pieces: &[Piece<'_>]) -> Result<Unit, Error> {
        let params = self.params;
        let windows: u64 = pieces.iter().map(|piece| piece.windows(params) as u64).sum();
        let provisional = self.windows.fetch_add(windows, Ordering::Relaxed);
        if self.first_window + provisional + windows > MAX_WINDOWS {
            return Err(Error::Input(format!(
                "the reference has more than {MAX_WINDOWS} windows: build several databases, \
                 and classify with all of them at once, or use a longer `stride`"
            )));
        }
        Ok(Unit { file, ordinal, provisional, windows })
    }

    fn sketch(
        &self,
        unit: Unit,
        pieces: &[Piece<'_>],
        sketcher: &mut Sketcher,
        entries: &mut Entries,
    ) {
        let params = self.params;
        let windows = pieces.iter().map(|piece| (piece.letters, piece.windows(params)));
        stretches::sketch(params, unit.provisional as u32, windows, sketcher, entries);
    }

    /// Sends records to the devices, or keeps them until the devices are ready. Returns records for reuse.
    fn send(
        &self,
        held: Waiting,
        waiting: &mut Vec<Waiting>,
        entries: &mut Entries,
    ) -> Result<Records, Error> {
        let Some(starting) = self.gpu else { return Ok(held.records) };
        let all = self.waiting.fetch_add(held.bytes(), Ordering::Relaxed);
        waiting.push(held);
        // Waiting records use the memory of entries, as there are no entries yet.
        let collector = match all > self.entry_memory() / 2 {
            true => Some(starting.get()?),
            false => starting.try_get()?,
        };
        match collector {
            Some(collector) => self.send_all(&collector, waiting, entries),
            None => Ok(Records::default()),
        }
    }

    fn send_all(
        &self,
        collector: &Collector,
        waiting: &mut Vec<Waiting>,
        entries: &mut Entries,
    ) -> Result<Records, Error> {
        let mut records = Records::default();
        for held in waiting.drain(..) {
            let pieces = held.pieces(self.params.masking);
            self.add(collector, held.provisional, &pieces, entries)?;
            self.waiting.fetch_sub(held.bytes(), Ordering::Relaxed);
            records = held.records;
        }
        Ok(records)
    }

    fn add(
        &self,
        collector: &Collector,
        provisional: u32,
        pieces: &[Piece<'_>],
        entries: &mut Entries,
    ) -> Result<(), Error> {
        let params = self.params;
        let stretches = pieces.iter().map(|piece| (piece.letters, piece.windows(params)));
        collector.add(provisional, stretches, entries)?;
        self.spill_if_full(entries)
    }

    fn spill_if_full(&self, entries: &mut Entries) -> Result<(), Error> {
        if !entries.is_full() {
            return Ok(());
        }
        let _one = lock(&self.spill_lock);
        entries.spill(&self.spill)
    }

    /// Sketches the last windows of each file, then numbers all windows.
    fn finish(mut self, workers: Vec<(Entries, Vec<Unit>, u64)>) -> Result<Scan, Error> {
        let mut all = Vec::new();
        let mut units = Vec::new();
        let mut bases = 0;
        for (entries, own, own_bases) in workers {
            all.push(entries);
            units.extend(own);
            bases += own_bases;
        }
        let collector = self.gpu.map(Starting::get).transpose()?;
        let mut sketcher = Sketcher::new(self.params);
        let mut files = Vec::new();
        for (file, state) in std::mem::take(&mut self.files).into_iter().enumerate() {
            let mut state = state.into_inner();
            if let (Some(tail), Some(entries)) = (state.tail.take(), all.first_mut()) {
                let mut turn = Turn { lead: Some((tail, true)), from: 0, target: 0 };
                let mut none = Records::default();
                turn.mask(self.params.masking, &mut none);
                let pieces = turn.pieces(self.params.masking, &none);
                if let Some(target) = state.targets.last_mut() {
                    target.has_kmer |= pieces.iter().any(|piece| self.has_kmer(piece.letters));
                }
                let unit = self.unit((file, u64::MAX), &pieces)?;
                match &collector {
                    Some(collector) => {
                        self.add(collector, unit.provisional as u32, &pieces, entries)?;
                    }
                    None => self.sketch(unit, &pieces, &mut sketcher, entries),
                }
                units.push(unit);
            }
            files.push(state.targets);
        }
        let devices = collector.as_ref().map_or(Vec::new(), |collector| collector.devices());
        let sketches = match collector {
            Some(collector) if collector.has_overflown() => {
                all = self.bring_back(&collector, all)?;
                None
            }
            sketches => sketches,
        };
        let numbering = Numbering::new(units, self.first_window);
        let entries = AllEntries { workers: all, spill: self.spill, numbering };
        let skipped_alignments = self.reader.skipped_alignments();
        let target_bytes = self.target_bytes.into_inner();
        Ok(Scan { files, entries, sketches, bases, target_bytes, skipped_alignments, devices })
    }

    /// Turns the sketches on a device into entries, in addition to the entries of sketches that did not fit on it.
    fn bring_back(&self, collector: &Collector, all: Vec<Entries>) -> Result<Vec<Entries>, Error> {
        let batches = Mutex::new(collector.take_batches()?);
        side_by_side(all, |mut entries| {
            loop {
                // Not in the condition of the loop: the lock would be held during its body.
                let batch = lock(&batches).pop();
                let Some(batch) = batch else { return Ok(entries) };
                collector.bring(&batch, &mut entries)?;
                self.spill_if_full(&mut entries)?;
            }
        })
    }
}
