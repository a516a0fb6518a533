//! Counting the k-mers of a panel: one pass over the input, one counter for each k-mer. Each device has the whole panel with
//! counters of its own, which are added at the end. On the CPU, a counter for each possible k-mer is faster for small k.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use merganser_gpu::{Device, Result as GpuResult, Stream};
use merganser_kmers::Histogram;
use merganser_kmers::formats::TableOutput;
use merganser_kmers::lookup::{DevicePanel, Panel};
use merganser_kmers::tables::AnyTable;
use merganser_run::{Context, DeviceChoice, GpuShortage, Unit, each, side_by_side, start_scoped};
use merganser_seq::kmer::Kmer;

use super::on_gpus::with_budgets;
use super::reading::read_all;
use super::{Outcome, RunContext};
use crate::cpu::partition::Partitioned;
use crate::cpu::{Width, small};
use crate::cuda::feeding::{feed, read_beside, take_texts};
use crate::cuda::kernels::Letters;
use crate::cuda::letter_work::LetterWork;
use crate::cuda::plan::{self as gpu_plan, Budget};
use crate::cuda::queue::Queue;
use crate::panel::{PanelCounter, PanelLookup, SignaturePanel, Waiting};
use crate::results::Results;
use crate::{Error, Storage, plan};

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

/// A panel, loaded as the backend needs it.
enum Loaded<K> {
    OnDevices(Panel<K>, Devices),
    Small(Panel<K>),
    BySignatures(SignaturePanel<K>),
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
        let loaded = self.load_panel::<K>(table, context)?;
        outcome.stage("load", started);
        let started = Instant::now();
        self.progress.stage("reading", Unit::Bytes, self.reader.bytes_total());
        let panel = match loaded {
            Loaded::OnDevices(panel, devices) => {
                self.add_on_gpus(&panel, devices, &mut outcome)?;
                panel
            }
            Loaded::Small(panel) => {
                self.set_small(&panel, &mut outcome)?;
                panel
            }
            Loaded::BySignatures(panel) => {
                self.add_by_signatures(&panel, &mut outcome)?;
                panel.panel
            }
        };
        let pool = self.pool(plan::panel_results::<K>(self.job, panel.bytes()));
        let most = plan::sorted_at_once::<K>(self.job);
        let results = Results::new(self.config, &pool).sorting(most);
        let (histogram, absent) = self.read_out(&panel, &results)?;
        drop(panel);
        outcome.histogram = histogram;
        outcome.stage("count", started);
        self.keep(&mut outcome);
        outcome.kept_kmers += if self.config.least() == 0 { absent } else { 0 };
        self.write(&results, files, &mut outcome)?;
        outcome.spilled_bytes += pool.spilled();
        if outcome.spilled_bytes > 0 {
            outcome.enough_memory = plan::memory_for_panel(self.job, outcome.spilled_bytes);
        }
        self.progress.finish();
        Ok(outcome)
    }

    /// Loads the panel, and opens the devices of the job, unless the panel is too large for them and
    /// [`DeviceChoice::Auto`] chose them.
    fn load_panel<K: Width>(
        &self,
        table: &AnyTable,
        context: &Context,
    ) -> Result<Loaded<K>, Error> {
        let job = self.job;
        let by_prefix = |budget| Ok::<_, Error>(Panel::load(table, budget, context)?);
        let on_cpu = || match self.config.k <= small::MAX_K {
            true => Ok(Loaded::Small(by_prefix(plan::reading(job))?)),
            false => {
                let budget = plan::panel_counting(job);
                Ok(Loaded::BySignatures(SignaturePanel::load(self.config, table, budget, context)?))
            }
        };
        if job.devices.is_empty() || self.config.k < LEAST_K_OF_DEVICES {
            return on_cpu();
        }
        let budget = self.beside_devices();
        let (panel, devices) = thread::scope(|scope| {
            let (sent, opened) = mpsc::channel();
            // Initializes CUDA while the panel is loaded.
            start_scoped(scope, move || {
                let _ = sent.send(Device::open_all(job.devices));
            })?;
            Ok::<_, Error>((by_prefix(budget)?, with_budgets(job, opened)?))
        })?;
        match check_room(&panel, &devices) {
            Ok(()) => Ok(Loaded::OnDevices(panel, devices)),
            Err(shortage) if context.device == DeviceChoice::Auto => {
                self.progress.note(&format!("{shortage}: counting on the CPU instead"));
                drop((panel, devices));
                on_cpu()
            }
            Err(shortage) => Err(shortage.into()),
        }
    }

    /// Returns the budget of reading with devices, with the fewest batches of tiles.
    fn beside_devices(&self) -> merganser_run::Budget {
        let tiles = gpu_plan::Sizes::of(self.job, 1, None, 1).tiles;
        let batches = gpu_plan::batches(self.job, tiles, 0) * gpu_plan::batch_bytes(tiles);
        plan::reading(self.job).with(batches as u64)
    }

    /// Counts all k-mers, which are short, and sets the counters of the panel to their counts.
    fn set_small<K: Width>(&self, panel: &Panel<K>, outcome: &mut Outcome) -> Result<(), Error> {
        let (all, tally) = self.small_counts()?;
        let canonical = self.config.is_canonical();
        for number in 0..panel.sections() {
            panel.section(number).set(|kmer| all.count(kmer.low() as u32, canonical));
        }
        outcome.read(tally);
        outcome.total_kmers = all.kmers;
        Ok(())
    }

    /// Reads all input and adds its k-mers to the counters of the panel.
    fn add_by_signatures<K: Width>(
        &self,
        panel: &SignaturePanel<K>,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let sections = panel.panel.sections();
        // Whatever the storage, bins are emptied before their memory is full.
        let plan = plan::panel(self.job, panel.panel.bytes(), sections);
        let pool = self.pool_in(Storage::Auto, plan);
        let waiting = Waiting::new(panel, &pool);
        let make = || PanelCounter::new(self.config, &waiting);
        let (counters, tally) = read_all(&self.reading(), None, make)?;
        let mut sent = Partitioned::default();
        for counter in counters {
            sent.add(counter.finish()?);
        }
        each(self.job.threads, 0..sections, self.cancel, |numbers| {
            let mut lookup = PanelLookup::new(self.config, &waiting);
            numbers.try_for_each(|bin| lookup.look_up(bin))
        })?;
        outcome.read(tally);
        outcome.total_kmers = sent.kmers;
        outcome.super_kmers = sent.super_kmers;
        outcome.super_kmer_bytes = sent.bytes;
        outcome.spilled_bytes = panel.panel.spilled() + pool.spilled();
        Ok(())
    }

    /// Passes the k-mers of a panel to the results and releases their memory; returns the histogram of those that occur,
    /// and the number of those that do not.
    fn read_out<K: Width>(
        &self,
        panel: &Panel<K>,
        results: &Results<'_, K>,
    ) -> Result<(Histogram, u64), Error> {
        let parts = each(self.job.threads, 0..panel.sections(), self.cancel, |numbers| {
            let (mut writer, mut kmers, mut absent) = (results.writer(), Vec::new(), 0);
            for number in numbers {
                let section = std::mem::take(&mut *panel.section(number));
                section.each(|kmer, count| kmers.push((kmer, count)));
                for (kmer, count) in kmers.drain(..) {
                    match count {
                        0 => {
                            absent += 1;
                            writer.keep_absent(kmer)?;
                        }
                        _ => writer.add(kmer, count)?,
                    }
                }
            }
            Ok::<_, Error>((writer.finish()?, absent))
        })?;
        let mut all = (Histogram::default(), 0);
        for (histogram, absent) in parts {
            all.0.merge(&histogram);
            all.1 += absent;
        }
        Ok(all)
    }

    /// Does on devices what [`add_by_signatures`](Self::add_by_signatures) does on the CPU.
    fn add_on_gpus<K: Kmer>(
        &self,
        panel: &Panel<K>,
        mut devices: Devices,
        outcome: &mut Outcome,
    ) -> Result<(), Error> {
        let canonical = self.config.is_canonical();
        let on_devices = side_by_side(devices.iter(), |(device, _)| {
            Ok::<_, Error>(DevicePanel::new(panel, device, canonical)?)
        })?;
        outcome.devices = devices.iter().map(|(device, _)| device.info().clone()).collect();
        let sizes = gpu_plan::Sizes::of(self.job, 1, None, 1);
        let left = self.beside_devices().with(panel.bytes()).left();
        let queue = Queue::new(gpu_plan::batches(self.job, sizes.tiles, left), sizes.tiles);
        let reading = self.reading();
        let (mut tally, on_gpus) = read_beside(&reading, None, &queue, |ready| {
            let budgets = devices.iter_mut().map(|(_, budget)| budget);
            let texts = take_texts(&reading, sizes, budgets, &queue);
            feed(&reading, &on_devices, (texts, sizes.streams), &queue, ready)
        })?;
        tally.add(on_gpus);
        outcome.read(tally);
        for on_device in on_devices {
            outcome.total_kmers += on_device.finish(panel)?;
        }
        Ok(())
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
