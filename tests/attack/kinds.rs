//! The kinds of attacks.

mod agree;
mod damage;
mod disks;
mod folders;
mod forged;
mod limits;
mod long;
mod memory;
mod names;
mod owners;
mod pipes;
mod repeats;
mod same;
mod signals;
mod streams;
mod taxa;

use crate::expected::{Expected, Ground};
use crate::judge::Verdict;
use crate::launch::{Ended, Launch};
use crate::scene::Scene;
use crate::table::{Job, device, device_of, is_selected, jobs};
use crate::world::Scale;
use merganser_test_support::reads::Random;

/// The outcome of an attack without a finding.
pub(crate) enum Done {
    Made,
    /// The attack was impossible, for this reason.
    Skipped(String),
}

/// The outcome of an attack; an error describes what was wrong.
pub(crate) type Result = std::result::Result<Done, String>;

type Act = fn(&mut Attack<'_>) -> Result;

/// All kinds of attacks; those with the most variants are listed several times.
pub(crate) const KINDS: &[(&str, Act)] = &[
    ("damage", damage::act),
    ("signals", signals::act),
    ("disks", disks::act),
    ("damage", damage::act),
    ("limits", limits::act),
    ("forged", forged::act),
    ("pipes", pipes::act),
    ("damage", damage::act),
    ("names", names::act),
    ("memory", memory::act),
    ("damage", damage::act),
    ("same", same::act),
    ("repeats", repeats::act),
    ("long", long::act),
    ("ignored", signals::ignored),
    ("forged", forged::act),
    ("taxa", taxa::act),
    ("damage", damage::act),
    ("streams", streams::act),
    ("folders", folders::act),
    ("owners", owners::act),
    ("agree", agree::act),
    ("agree", agree::act),
];

/// One attack, determined by its seed.
pub(crate) struct Attack<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) random: Random,
    /// The commands and changes of the attack, so that it can be repeated by hand.
    pub(crate) line: String,
}

/// A job of the table and the scene in which it runs.
pub(crate) struct Chosen<'a> {
    ground: &'a Ground,
    scale: Scale,
    pub(crate) scene: Scene,
}

impl<'a> Attack<'a> {
    pub(crate) fn new(ground: &'a Ground, seed: u64) -> Attack<'a> {
        Attack { ground, random: Random(seed), line: String::new() }
    }

    /// Chooses a random job among those that satisfy `will_do`.
    pub(crate) fn choose(&mut self, scale: Scale, will_do: impl Fn(&Job) -> bool) -> Chosen<'a> {
        let jobs = candidates(will_do);
        let job = jobs[self.random.below(jobs.len())];
        let scene = Scene::new(self.ground.world(scale), job);
        job.line.clone_into(&mut self.line);
        Chosen { ground: self.ground, scale, scene }
    }

    pub(crate) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.random.below(all.len())]
    }

    /// Returns a random number of at most `most`; small numbers are as frequent as large ones.
    pub(crate) fn up_to(&mut self, most: u64) -> u64 {
        let bits = self.random.below(most.max(1).ilog2() as usize + 2);
        (self.random.next() & ((1 << bits) - 1)).min(most)
    }

    /// Returns random options for resources, which do not change results.
    pub(crate) fn resources(&mut self, job: &Job) -> Vec<&'static str> {
        let mut options = Vec::new();
        if job.takes_threads() && self.random.below(2) == 0 {
            options.extend(["--threads", self.one_of(&["1", "2", "3", "5"])]);
        }
        if job.takes_tmp_dir() {
            options.extend(["--tmp-dir", "tmp"]);
        }
        options
    }

    pub(crate) fn run(&mut self, launch: Launch) -> Ended {
        self.line = launch.line();
        launch.run()
    }

    /// Adds a note to the attack's description.
    pub(crate) fn note(&mut self, text: &str) {
        self.line += &format!("   [{text}]");
    }
}

/// Returns the jobs that satisfy `will_do` and, if a device is attacked, can use it; only the selected ones, if there are any.
fn candidates(will_do: impl Fn(&Job) -> bool) -> Vec<&'static Job> {
    let is_asked_for = |job: &Job| device().is_none() || device_of(job).is_some();
    let all = jobs().into_iter().filter(|job| is_asked_for(job) && will_do(job));
    let (selected, others): (Vec<_>, Vec<_>) = all.partition(|job| is_selected(job));
    if selected.is_empty() { others } else { selected }
}

impl Chosen<'_> {
    pub(crate) fn job(&self) -> &'static Job {
        self.scene.job
    }

    pub(crate) fn expected<T>(&self, of: impl FnOnce(&Expected) -> T) -> T {
        self.ground.with_expected(self.job(), self.scale, of)
    }

    /// Applies `check` to a run and returns the outcome.
    pub(crate) fn judge(
        &self,
        ended: &Ended,
        check: impl FnOnce(&Scene, &Expected, &Ended) -> Verdict,
    ) -> Result {
        self.expected(|expected| check(&self.scene, expected, ended)).map(|()| Done::Made)
    }
}
