//! Profiles of the reads of a run: lengths, GC, and bases and qualities by position.

use std::thread::JoinHandle;

use anyhow::Result;
use merganser_alignments::ReaderOptions;
use merganser_io::{FileKind, Input, NoProfile, Phred, PositionGroup, QualityOffset, ReadProfile};
use merganser_report::data::{Data, Reads};
use merganser_run::Cancel;

use super::name_of;
use crate::interrupt;

/// The maximum number of inputs with a profile: a page cannot show more.
const MOST: usize = 64;

/// The highest quality (Phred).
const HIGHEST: u8 = 93;

/// A profile, or the reason why it is missing, as a remark for the page.
enum Profile {
    Taken(Reads),
    Missing(String),
}

/// The profiles of the inputs of a run, taken on a thread beside it. The first records are read a second time, so that no
/// job has to keep qualities and positions for all of its records. Pipes, which can be read only once, have none.
#[derive(Debug)]
pub(super) struct Profiles {
    work: Work,
    /// `None` if no thread could be started.
    thread: Option<JoinHandle<Result<Vec<Profile>>>>,
}

impl Profiles {
    /// Begins to take the profiles.
    pub(super) fn begin<'i>(
        inputs: impl Iterator<Item = &'i Input>,
        offset: QualityOffset,
    ) -> Profiles {
        let work = Work {
            inputs: inputs.cloned().collect(),
            offset,
            cancel: interrupt::cancellation().of_part(),
        };
        let own = work.clone();
        let thread = std::thread::Builder::new().spawn(move || own.profiles());
        Profiles { work, thread: thread.ok() }
    }

    /// Waits for the profiles, and adds them to the data of a page.
    ///
    /// # Errors
    /// If an input cannot be read.
    pub(super) fn add_to(mut self, data: &mut Data) -> Result<()> {
        let profiles = match self.thread.take() {
            Some(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            None => self.work.profiles(),
        };
        for profile in profiles? {
            match profile {
                Profile::Taken(reads) => data.reads.push(reads),
                Profile::Missing(remark) => data.notes.push(remark),
            }
        }
        let all = self.work.inputs.len();
        if all > MOST {
            data.notes.push(format!("Only the first {MOST} of {all} inputs have a profile."));
        }
        Ok(())
    }
}

impl Drop for Profiles {
    /// Ends the work of a run that failed.
    fn drop(&mut self) {
        self.work.cancel.cancel();
    }
}

#[derive(Clone, Debug)]
struct Work {
    inputs: Vec<Input>,
    offset: QualityOffset,
    cancel: Cancel,
}

impl Work {
    fn profiles(&self) -> Result<Vec<Profile>> {
        self.inputs.iter().take(MOST).map(|input| self.profile(input)).collect()
    }

    fn profile(&self, input: &Input) -> Result<Profile> {
        let missing = |why: &str| {
            let remark = format!("{} has no profile of reads: {why}.", name_of(input));
            Ok(Profile::Missing(remark))
        };
        let Some(path) = input.path().filter(|_| input.is_file()) else {
            return missing("a pipe can be read only once");
        };
        if FileKind::of_path(path) == Some(FileKind::Cram) {
            return missing("CRAM would need its reference twice");
        }
        let phred = Phred { offset: self.offset, least: None };
        let options =
            ReaderOptions { phred, cancel: self.cancel.clone(), ..ReaderOptions::default() };
        match ReadProfile::of_input(input, options) {
            Ok(profile) => Ok(Profile::Taken(reads(name_of(input), profile))),
            Err(NoProfile::NoReads) => missing("its sequences are too long for reads"),
            Err(error) => Err(error.into()),
        }
    }
}

/// Converts a profile to the data of a page.
fn reads(name: String, profile: ReadProfile) -> Reads {
    let letters = profile.positions.iter().map(|group| group.bases);
    // Alignments without qualities are read with the highest one at every base.
    let is_given =
        |group: &PositionGroup| group.quality.is_some_and(|of| of.quartiles[0] < HIGHEST);
    let has_qualities = profile.positions.iter().any(is_given);
    let qualities = profile.positions.iter().filter(|_| has_qualities).filter_map(|group| {
        let quality = group.quality?;
        let bases: u64 = group.bases.iter().sum();
        // Hundredths are enough to draw.
        let mean = (100.0 * quality.sum as f64 / bases.max(1) as f64).round() / 100.0;
        let [first, median, third] = quality.quartiles;
        Some((mean, first, median, third))
    });
    Reads {
        name,
        records: profile.records,
        bases: profile.bases,
        is_whole: profile.is_whole,
        step: profile.step,
        letters: letters.collect(),
        qualities: qualities.collect(),
        lengths: profile.lengths,
        gc: profile.gc,
    }
}
