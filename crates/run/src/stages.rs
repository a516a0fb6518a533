//! The wall time of a run by stage.

use std::time::{Duration, Instant};

/// The stages of a run in order, with the wall time of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stages(Vec<(&'static str, Duration)>);

impl Stages {
    /// Adds `time` to the stage `name`, which is appended if it is new.
    pub fn add(&mut self, name: &'static str, time: Duration) {
        match self.0.iter_mut().find(|stage| stage.0 == name) {
            Some(stage) => stage.1 += time,
            None => self.0.push((name, time)),
        }
    }

    /// Adds the time since `begun` to the stage `name`.
    pub fn since(&mut self, name: &'static str, begun: Instant) {
        self.add(name, begun.elapsed());
    }

    /// Returns the time of the stage `name`; zero if there was no such stage.
    pub fn get(&self, name: &str) -> Duration {
        self.iter().find(|stage| stage.0 == name).map_or(Duration::ZERO, |stage| stage.1)
    }

    /// Returns the stages in the order in which they were first added.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Stages};

    #[test]
    fn a_stage_named_again_adds_up_where_it_stands() {
        let mut stages = Stages::default();
        for (name, seconds) in [("read", 1), ("count", 2), ("read", 3)] {
            stages.add(name, Duration::from_secs(seconds));
        }
        let all: Vec<_> = stages.iter().map(|(name, time)| (name, time.as_secs())).collect();
        assert_eq!(all, [("read", 4), ("count", 2)]);
        assert_eq!(stages.get("write"), Duration::ZERO);
    }
}
