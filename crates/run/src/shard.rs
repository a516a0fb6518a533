//! Which shard of a job that is divided over machines.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::ConfigError;

/// The i-th of N shards of a job. Displayed and parsed as `i/N`.
///
/// ```
/// use merganser_run::Shard;
///
/// let second: Shard = "2/3".parse()?;
/// assert_eq!((second.number(), second.of()), (2, 3));
/// assert_eq!(second.share(100), 33..66);
/// # Ok::<(), merganser_run::ConfigError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    number: u16,
    of: u16,
}

impl Shard {
    /// The most shards of a job.
    pub const MOST: u16 = u16::MAX;

    /// The `number`-th, from 1, of `of` shards.
    ///
    /// # Errors
    /// If there is no such shard.
    pub fn new(number: u16, of: u16) -> Result<Shard, ConfigError> {
        match (1..=of).contains(&number) {
            true => Ok(Shard { number, of }),
            false => Err(ConfigError::new(format!(
                "{number}/{of} is no shard of a job: give I/N with I from 1 to N, e.g. 1/8"
            ))),
        }
    }

    /// Its number, from 1.
    pub fn number(self) -> u16 {
        self.number
    }

    /// How many there are.
    pub fn of(self) -> u16 {
        self.of
    }

    /// Its share of `total` things that stand in a row: the shares of all shards follow each other, and
    /// differ by one in length at the most.
    pub fn share(self, total: u64) -> Range<u64> {
        let border =
            |number: u16| (u128::from(total) * u128::from(number) / u128::from(self.of)) as u64;
        border(self.number - 1)..border(self.number)
    }
}

/// Why pieces are not all shards of one job, each once. Pieces are called by their places among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// One is of another job than the first, or of another number of shards.
    OtherJob(usize),
    /// The second of the two is the same shard as the first.
    Twice(usize, usize),
    /// There is no such shard.
    Missing(Shard),
}

/// Sees to it that pieces, each with what tells its job from others, are all shards of one job.
///
/// # Errors
/// What is wrong with the first piece that does not go with those before it; the first shard that is missing.
pub fn check_all_shards(pieces: impl IntoIterator<Item = (Shard, u64)>) -> Result<(), Incomplete> {
    let mut pieces = pieces.into_iter().enumerate();
    let Some((_, (first, job))) = pieces.next() else { return Ok(()) };
    let mut seen = vec![None; usize::from(first.of)];
    seen[usize::from(first.number) - 1] = Some(0);
    for (at, (shard, other)) in pieces {
        if (shard.of, other) != (first.of, job) {
            return Err(Incomplete::OtherJob(at));
        }
        if let Some(before) = seen[usize::from(shard.number) - 1].replace(at) {
            return Err(Incomplete::Twice(before, at));
        }
    }
    match (1..).zip(&seen).find(|(_, seen)| seen.is_none()) {
        Some((number, _)) => Err(Incomplete::Missing(Shard { number, of: first.of })),
        None => Ok(()),
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Shard, ConfigError> {
        let malformed = || {
            let most = Shard::MOST;
            ConfigError::new(format!(
                "'{text}' is no shard of a job: give I/N with I from 1 to N and N up to {most}, e.g. 1/8"
            ))
        };
        let (number, of) = text.split_once('/').ok_or_else(malformed)?;
        let parse = |text: &str| text.parse::<u16>().map_err(|_| malformed());
        Shard::new(parse(number)?, parse(of)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_all_there_is() {
        for (total, of) in [(0, 3), (1, 3), (100, 7), (u64::MAX, Shard::MOST)] {
            let mut at = 0;
            for number in 1..=of {
                let share = Shard::new(number, of).unwrap().share(total);
                assert_eq!(share.start, at);
                at = share.end;
            }
            assert_eq!(at, total);
        }
    }

    #[test]
    fn all_shards_of_a_job_are_told_from_others() {
        let check = |pieces: &[(&str, u64)]| {
            check_all_shards(pieces.iter().map(|&(shard, job)| (shard.parse().unwrap(), job)))
        };
        assert_eq!(check(&[]), Ok(()));
        assert_eq!(check(&[("3/3", 7), ("1/3", 7), ("2/3", 7)]), Ok(()));
        assert_eq!(check(&[("1/2", 7), ("2/2", 8)]), Err(Incomplete::OtherJob(1)));
        assert_eq!(check(&[("1/2", 7), ("2/3", 7)]), Err(Incomplete::OtherJob(1)));
        assert_eq!(check(&[("2/2", 7), ("1/2", 7), ("2/2", 7)]), Err(Incomplete::Twice(0, 2)));
        let missing = "2/3".parse().unwrap();
        assert_eq!(check(&[("3/3", 7), ("1/3", 7)]), Err(Incomplete::Missing(missing)));
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in ["", "1", "/", "0/3", "4/3", "1/0", "-1/3", "1/70000", "a/b", "1/2/3"] {
            let message = text.parse::<Shard>().unwrap_err().to_string();
            assert!(message.contains("e.g. 1/8"), "{text}: {message}");
        }
    }
}
