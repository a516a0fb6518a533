//! The shard of a job that is divided over machines.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::ConfigError;

/// Shard i of the N shards of a job. Displayed and parsed as `i/N`.
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
    /// The largest number of shards of a job.
    pub const MAX: u16 = u16::MAX;

    /// Returns shard `number`, from 1, of `of` shards.
    ///
    /// # Errors
    /// If `number` is not from 1 to `of`.
    pub fn new(number: u16, of: u16) -> Result<Shard, ConfigError> {
        match (1..=of).contains(&number) {
            true => Ok(Shard { number, of }),
            false => Err(ConfigError::new(format!(
                "{number}/{of} is not a shard of a job: give I/N with I from 1 to N, e.g. 1/8"
            ))),
        }
    }

    /// Returns the number of the shard, from 1.
    pub fn number(self) -> u16 {
        self.number
    }

    /// Returns the number of shards of the job.
    pub fn of(self) -> u16 {
        self.of
    }

    /// Returns this shard's share of `total` consecutive items. The shares of all shards are consecutive, and their
    /// lengths differ by at most one.
    pub fn share(self, total: u64) -> Range<u64> {
        let border =
            |number: u16| (u128::from(total) * u128::from(number) / u128::from(self.of)) as u64;
        border(self.number - 1)..border(self.number)
    }

    /// Returns the border between this share of `total` items and the next one, and those between all later shares.
    pub fn borders(self, total: u64) -> impl Iterator<Item = u64> {
        (self.number..self.of).map(move |number| Shard { number, ..self }.share(total).end)
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
            let most = Shard::MAX;
            ConfigError::new(format!(
                "'{text}' is not a shard of a job: give I/N with I from 1 to N and N up to {most}, e.g. 1/8"
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
        for (total, of) in [(0, 3), (1, 3), (100, 7), (u64::MAX, Shard::MAX)] {
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
    fn what_is_no_part_is_refused() {
        for text in ["", "1", "/", "0/3", "4/3", "1/0", "-1/3", "1/70000", "a/b", "1/2/3"] {
            let message = text.parse::<Shard>().unwrap_err().to_string();
            assert!(message.contains("e.g. 1/8"), "{text}: {message}");
        }
    }
}
