//! Counting the k-mers of a panel: one pass over the input, one counter for each k-mer. Each device has the whole panel with
//! counters of its own, which are added at the end.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use merganser_gpu::{Device, Result as GpuResult, Stream};
use merganser_kmers::formats::TableOutput;
use merganser_kmers::lookup::{DevicePanel, Panel};
use merganser_kmers::tables::AnyTable;
use merganser_run::{Context, DeviceChoice, GpuShortage, Unit, side_by_side, start_scoped};
use merganser_seq::kmer::Kmer;

use super::on_gpus::with_budgets;
use super::reading::read_all;
use super::{Outcome, RunContext};
use crate::Error;
use crate::cpu::Width;
use crate::cuda::feeding::{feed, read_beside, take_texts};
use crate::cuda::kernels::Letters;
use crate::cuda::letter_work::LetterWork;
use crate::cuda::plan::{self, Budget};
use crate::cuda::queue::Queue;
use crate::fragments::Tally;
use crate::panel::{PanelCounter, PanelResults, at_once};

/// Shorter k-mers are stored as those of this length, in 8 bytes: in lines of 64 bytes, 4 would not save memory, and
/// devices do not have such k-mers.
pub(super) const LEAST_K: usize = 17;
/// The smallest k of panels on devices. Single letters that are no bases have no cut between them and others.
const LEAST_K_OF_DEVICES: usize = 2;

/// Open devices with their memory.
type Devices = Vec<(Device, Budget)>;

/// A panel takes at most the memory of a device divided by this number; the rest is for letters.
const PANEL_SHARE: u64 = 2;

/// Checks that a panel fits into the memory of each device.
///
/// # Errors
/// If it does not fit.
fn check_room<K: Kmer>(panel: &Panel<K>, devices: &[(Device, Budget)]) -> Result<(), GpuShortage> {
    let needed = DevicePanel::bytes(panel);
    let is_short = |budget: &Budget| needed > budget.all / PANEL_SHARE;
    let Some((device, budget)) = devices.iter().find(|(_, budget)| is_short(budget)) else {
        return Ok(());
    };
    let (ordinal, available, needed) = (device.ordinal(), budget.all, needed * PANEL_SHARE);
    Err(GpuShortage { ordinal, what: "a panel", available, needed, remedy: "" })
}

impl RunContext<'_> {
    /// Counts the k-mers of a panel: one pass, one counter for each.
    pub(super) fn count_panel<K: Width>(
        self,
        table: &AnyTable,
        context: &Context,
        files: TableOutput,
    ) -> Result<Outcome, Error> {
        let mut outcome = Outcome::default();
        let started = Instant::now();
        let (panel, devices) = self.load_panel::<K>(table, context)?;
        outcome.stage("load", started);
        let started = Instant::now();
        self.progress.stage("reading", Unit::Bytes, self.reader.bytes_total());
        let (tally, kmers) = match devices.is_empty() {
            true => self.add_on_cpu(&panel)?,
            false => self.add_on_gpus(&panel, devices, &mut outcome)?,
        };
        outcome.read(tally);
        outcome.total_kmers = kmers;
        let results = PanelResults::new(&panel, self.config);
        let (histogram, absent) = results.histogram(self.job.threads, self.cancel)?;
        outcome.histogram = histogram;
        outcome.stage("count", started);
        self.keep(&mut outcome);
        outcome.kept_kmers += if self.config.least() == 0 { absent } else { 0 };
        self.write(&results, files, &mut outcome)?;
        self.progress.finish();
        Ok(outcome)
    }

    /// Loads the panel, and opens the devices of the job; returns no device if the panel is too large for them and
    /// [`DeviceChoice::Auto`] chose them.
    fn load_panel<K: Width>(
        &self,
        table: &AnyTable,
        context: &Context,
    ) -> Result<(Panel<K>, Devices), Error> {
        let job = self.job;
        let load = |budget| Ok::<_, Error>(Panel::load(table, budget, context)?);
        if job.devices.is_empty() || self.config.k < LEAST_K_OF_DEVICES {
            return Ok((load(crate::plan::reading(job))?, Vec::new()));
        }
        let budget = self.beside_devices();
        thread::scope(|scope| {
            let (sent, opened) = mpsc::channel();
            // Initializes CUDA while the panel is loaded.
            start_scoped(scope, move || {
                let _ = sent.send(Device::open_all(job.devices));
            })?;
            let (panel, devices) = (load(budget)?, with_budgets(job, opened)?);
            match check_room(&panel, &devices) {
                Ok(()) => Ok((panel, devices)),
                Err(shortage) if context.device == DeviceChoice::Auto => {
                    self.progress.note(&format!("{shortage}: counting on the CPU instead"));
                    Ok((panel, Vec::new()))
                }
                Err(shortage) => Err(shortage.into()),
            }
        })
    }

    /// Returns the budget of reading with devices, with the fewest batches of tiles.
    fn beside_devices(&self) -> merganser_run::Budget {
        let tiles = plan::Sizes::of(self.job, 1, None, 1).tiles;
        let batches = plan::batches(self.job, tiles, 0) * plan::batch_bytes(tiles);
        crate::plan::reading(self.job).with(batches as u64)
    }

    /// Reads all input and adds its k-mers to the counters of the panel; returns the counts of what was read, and the
    /// number of k-mers.
    fn add_on_cpu<K: Width>(&self, panel: &Panel<K>) -> Result<(Tally, u64), Error> {
        let left = crate::plan::reading(self.job).with(panel.bytes()).left();
        let at_once = at_once(panel, left, self.job.threads);
        let make = || PanelCounter::new(panel, self.config, at_once);
        let (mut counters, tally) = read_all(&self.reading(), None, make)?;
        side_by_side(&mut counters, |counter| {
            counter.send();
            Ok::<_, Error>(())
        })?;
        Ok((tally, counters.iter().map(|counter| counter.kmers).sum()))
    }

    /// Does on devices what [`add_on_cpu`](Self::add_on_cpu) does on the CPU.
    fn add_on_gpus<K: Kmer>(
        &self,
        panel: &Panel<K>,
        mut devices: Devices,
        outcome: &mut Outcome,
    ) -> Result<(Tally, u64), Error> {
        let canonical = self.config.is_canonical();
        let on_devices = side_by_side(devices.iter(), |(device, _)| {
            Ok::<_, Error>(DevicePanel::new(panel, device, canonical)?)
        })?;
        outcome.devices = devices.iter().map(|(device, _)| device.info().clone()).collect();
        let sizes = plan::Sizes::of(self.job, 1, None, 1);
        let left = self.beside_devices().with(panel.bytes()).left();
        let queue = Queue::new(plan::batches(self.job, sizes.tiles, left), sizes.tiles);
        let reading = self.reading();
        let (mut tally, on_gpus) = read_beside(&reading, None, &queue, |ready| {
            let budgets = devices.iter_mut().map(|(_, budget)| budget);
            let texts = take_texts(&reading, sizes, budgets, &queue);
            feed(&reading, &on_devices, (texts, sizes.streams), &queue, ready)
        })?;
        tally.add(on_gpus);
        let mut kmers = 0;
        for on_device in on_devices {
            kmers += on_device.finish(panel)?;
        }
        Ok((tally, kmers))
    }
}

impl<K: Kmer> LetterWork for DevicePanel<K> {
    type Workspace = ();

    fn device(&self) -> &Device {
        self.device()
    }

    fn workspace(&self) -> GpuResult<()> {
        Ok(())
    }

    fn process(&self, (): &mut (), stream: &Stream, letters: Letters<'_>) -> Result<(), Error> {
        Ok(self.add(stream, letters.bases, letters.cuts, letters.end)?)
    }
}
