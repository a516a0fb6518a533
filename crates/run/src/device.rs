//! Which processors a run may use, as data, and from what size of input on GPUs pay. Whether they are
//! there is asked elsewhere.

use std::fmt;
use std::str::FromStr;

use crate::{Progress, Resources};

/// What was asked for with `--device`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// The GPUs that are there if the input is large enough to pay for starting them, else the CPU.
    #[default]
    Auto,
    /// The CPU alone.
    Cpu,
    /// All GPUs; an error if there are none.
    AllCuda,
    /// These GPUs, by CUDA's numbers, in this order; an error if one is not there. One listed twice
    /// is used as two.
    Cuda(Vec<u32>),
}

/// A text that names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a device: give auto, cpu, cuda, or GPUs by number, e.g. cuda:0,1")]
pub struct DeviceError {
    /// The text as given.
    pub text: String,
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    /// Reads `auto`, `cpu`, `cuda` or `cuda:0,1`.
    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let malformed = || DeviceError { text: text.to_string() };
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::AllCuda),
            _ => {
                let list = text.strip_prefix("cuda:").ok_or_else(malformed)?;
                let number = |part: &str| {
                    let digits = part.bytes().all(|byte| byte.is_ascii_digit());
                    part.parse().ok().filter(|_| digits).ok_or_else(malformed)
                };
                list.split(',').map(number).collect::<Result<_, _>>().map(DeviceChoice::Cuda)
            }
        }
    }
}

impl fmt::Display for DeviceChoice {
    /// As it is given on the command line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::AllCuda => f.write_str("cuda"),
            DeviceChoice::Cuda(ordinals) => {
                let numbers: Vec<_> = ordinals.iter().map(u32::to_string).collect();
                write!(f, "cuda:{}", numbers.join(","))
            }
        }
    }
}

/// What is computed, as far as it decides whether GPUs pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// Counting the k-mers of reads.
    Count,
    /// Looking single k-mers up in a table.
    Query,
    /// Holding all k-mers of reads against a table.
    Profile,
    /// Building a database of reference genomes.
    Build,
    /// Classifying reads.
    Classify,
    /// Classifying reads by a database of Kraken 2, which has a table of so many bytes.
    Kraken2 {
        /// Bytes of the table, all of which a GPU gets.
        table: u64,
    },
    /// Deciding pairs by the exact edit distance, which is so fast on the CPU that only reading takes
    /// time.
    FilterExact,
    /// Deciding pairs by the rules of other filters.
    FilterByRule,
    /// Building the index of a reference.
    Index,
    /// Mapping reads to a reference of so many bases.
    Map {
        /// Bases of the reference.
        reference: u64,
    },
}

impl Work {
    /// Bytes of input, as text, from which on GPUs make up for their start beside 16 cores, as
    /// measured (docs/benchmarks.md); `None` where they never do.
    pub fn break_even(self) -> Option<u64> {
        const MEGA: u64 = 1_000_000;
        match self {
            Work::Count | Work::Query => Some(100 * MEGA),
            Work::Profile => Some(1_500 * MEGA),
            Work::Build => Some(2_000 * MEGA),
            Work::Classify => Some(500 * MEGA),
            Work::Kraken2 { table } => Some(500 * MEGA + table / 10),
            Work::FilterExact => Some(8_000 * MEGA),
            Work::FilterByRule => Some(2_000 * MEGA),
            Work::Index => Some(200 * MEGA),
            Work::Map { reference } if reference < LEAST_REFERENCE => None,
            Work::Map { .. } => Some(1_000 * MEGA),
        }
    }
}

/// Bases of a reference from which on GPUs map faster at all: what is smaller lies in the caches of 16
/// cores (docs/benchmarks.md: 5 Mb, where they are slower, and 100 Mb).
const LEAST_REFERENCE: u64 = 20_000_000;

impl Resources {
    /// The GPUs that a run of `work` on about `input` bytes of text (`None` if nobody knows) shall
    /// use, by CUDA's numbers; none means the CPU. `usable` tells the numbers and models of those
    /// that can be used, or why there are none. [`DeviceChoice::Auto`] takes them all for inputs of
    /// [`break_even`](Work::break_even) bytes or more, and of unknown size, and says so to
    /// `progress`.
    ///
    /// # Errors
    /// That of `usable` if GPUs are asked for and there are none. Numbers that are asked for are not
    /// checked: opening the devices does that.
    pub fn choose_gpus<E>(
        &self,
        work: Work,
        input: Option<u64>,
        usable: impl FnOnce() -> Result<Vec<(u32, String)>, E>,
        progress: &dyn Progress,
    ) -> Result<Vec<u32>, E> {
        let numbers = |gpus: &[(u32, String)]| gpus.iter().map(|gpu| gpu.0).collect();
        match &self.device {
            DeviceChoice::Cpu => Ok(Vec::new()),
            DeviceChoice::Auto => {
                let pays = |least| input.is_none_or(|bytes| bytes >= least);
                if !work.break_even().is_some_and(pays) {
                    return Ok(Vec::new());
                }
                let gpus = usable().unwrap_or_default();
                if !gpus.is_empty() {
                    let names = gpus.iter().map(|(number, model)| format!("cuda:{number} {model}"));
                    let names: Vec<String> = names.collect();
                    progress.note(&format!("computing on {}", names.join(", ")));
                }
                Ok(numbers(&gpus))
            }
            DeviceChoice::AllCuda => Ok(numbers(&usable()?)),
            DeviceChoice::Cuda(ordinals) => Ok(ordinals.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Silent;

    #[test]
    fn auto_takes_gpus_where_they_pay() {
        let two = || Ok::<_, String>(vec![(0, "A".to_owned()), (2, "B".to_owned())]);
        let none = || Err("no driver".to_owned());
        let auto = Resources::new();
        let choose = |input| auto.choose_gpus(Work::Count, input, two, &Silent).unwrap();
        assert_eq!(choose(Some(99_999_999)), [0u32; 0]);
        assert_eq!(choose(Some(100_000_000)), [0, 2]);
        assert_eq!(choose(None), [0, 2]);
        let small = Work::Map { reference: 1 };
        assert_eq!(auto.choose_gpus(small, None, two, &Silent).unwrap(), [0u32; 0]);
        assert_eq!(auto.choose_gpus(Work::Count, None, none, &Silent).unwrap(), [0u32; 0]);
        let all = auto.clone().device(DeviceChoice::AllCuda);
        assert_eq!(all.choose_gpus(small, Some(1), two, &Silent).unwrap(), [0, 2]);
        assert_eq!(all.choose_gpus(small, None, none, &Silent).unwrap_err(), "no driver");
        let third = auto.device(DeviceChoice::Cuda(vec![3]));
        assert_eq!(third.choose_gpus(small, None, none, &Silent).unwrap(), [3]);
    }

    #[test]
    fn every_form_is_read_and_printed_as_it_was_given() {
        for (text, choice) in [
            ("auto", DeviceChoice::Auto),
            ("cpu", DeviceChoice::Cpu),
            ("cuda", DeviceChoice::AllCuda),
            ("cuda:0", DeviceChoice::Cuda(vec![0])),
            ("cuda:1,0", DeviceChoice::Cuda(vec![1, 0])),
            ("cuda:0,0", DeviceChoice::Cuda(vec![0, 0])),
        ] {
            assert_eq!(text.parse(), Ok(choice.clone()));
            assert_eq!(choice.to_string(), text);
        }
        assert_eq!(DeviceChoice::default(), DeviceChoice::Auto);
    }

    #[test]
    fn anything_else_is_refused_in_one_line() {
        for text in [
            "",
            "gpu",
            "CUDA",
            "cuda:",
            "cuda:0,",
            "cuda:-1",
            "cuda:+1",
            "cuda: 1",
            "cuda:0;1",
            "cuda:4294967296",
        ] {
            let message = text.parse::<DeviceChoice>().unwrap_err().to_string();
            let expected = format!(
                "'{text}' is not a device: give auto, cpu, cuda, or GPUs by number, e.g. cuda:0,1"
            );
            assert_eq!(message, expected);
        }
    }
}
