//! The choice of processors for a run, as data, and the input size from which GPUs are worth using. Whether they
//! exist is queried elsewhere.

use std::fmt;
use std::str::FromStr;

use crate::Context;

/// The value of `--device`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// The available GPUs if the input is large enough to make starting them worthwhile, otherwise the CPU.
    #[default]
    Auto,
    /// Only the CPU.
    Cpu,
    /// All GPUs; an error if no GPU is usable.
    AllCuda,
    /// The GPUs with these CUDA numbers, in this order; an error if one does not exist. One listed twice
    /// is used as two.
    Cuda(Vec<u32>),
}

/// The error of a text that is not a device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{text}' is not a device: give auto, cpu, cuda, or GPUs by number, e.g. cuda:0,1")]
pub struct DeviceError {
    /// The text.
    pub text: String,
}

impl FromStr for DeviceChoice {
    type Err = DeviceError;

    /// Parses `auto`, `cpu`, `cuda` or `cuda:0,1`.
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
    /// Writes the choice in the format of the command line.
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

/// The kind of work, as far as it decides whether GPUs pay.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Work {
    /// Counting the k-mers of reads.
    Count,
    /// Looking up single k-mers in a table.
    Query,
    /// Comparing all k-mers of reads with a table.
    Profile,
    /// Building a database of reference genomes.
    Build,
    /// Classifying reads.
    Classify {
        /// The size of the database in bytes, if known; GPUs divide its parts among them.
        database: Option<u64>,
    },
    /// Classifying reads by a Kraken 2 database.
    Kraken2 {
        /// The size of the table in bytes; each GPU holds all of it.
        table: u64,
    },
    /// Deciding pairs by the exact edit distance, which is so fast on the CPU that reading dominates.
    FilterExact,
    /// Deciding pairs by the rules of other filters.
    FilterByRule,
    /// Building the index of a reference.
    Index,
    /// Mapping reads to a reference.
    Map {
        /// The number of bases of the reference.
        reference: u64,
        /// How many times as many places the k-mers of reads have as in a reference of random bases, at least 1.
        repeats: u64,
    },
    /// Searching patterns with edits in texts.
    Search {
        /// The number of letters of all patterns, twice if both strands are searched.
        letters: u64,
        /// The time that cores take, as a part of what they take if they examine all patterns at each letter of the text.
        share_by_cores: f64,
    },
}

impl Work {
    /// Returns the bytes of input, as text, from which GPUs make up for their start compared with 16 cores, as
    /// measured (`docs/evidence/speed.md`); `None` if they never do.
    pub fn break_even(self) -> Option<u64> {
        const MEGA: u64 = 1_000_000;
        match self {
            Work::Count | Work::Query => Some(100 * MEGA),
            Work::Profile => Some(1_500 * MEGA),
            Work::Build => Some(2_000 * MEGA),
            Work::Classify { .. } => Some(500 * MEGA),
            Work::Kraken2 { table } => Some(500 * MEGA + table / 10),
            Work::FilterExact => Some(8_000 * MEGA),
            Work::FilterByRule => Some(2_000 * MEGA),
            Work::Index => Some(200 * MEGA),
            Work::Map { reference, repeats }
                if reference < MIN_REFERENCE && repeats < REPETITIVE =>
            {
                None
            }
            // Each place of a k-mer is a candidate, which takes about as long as reading some bytes.
            Work::Map { repeats, .. } => Some(1_000 * MEGA / repeats.clamp(1, MAX_REPEATS)),
            Work::Search { letters, share_by_cores } => search_break_even(letters, share_by_cores),
        }
    }
}

/// Returns the letters of text from which a GPU makes up for its start in a search of patterns of `letters` letters, even
/// if it takes twice as long as measured. Cores take a share of the time that they would take bit-sliced.
///
/// Measured: a core with AVX-512 takes 70 ps for each letter of text and pattern of 23 letters. An H100 takes 0.594 s for
/// 3.22 G letters with 8 such patterns, the time of copies, and 1.98 s with 2,000. CUDA starts in a second or less.
fn search_break_even(letters: u64, share_by_cores: f64) -> Option<u64> {
    const START: u64 = 2_000_000_000_000_000;
    // Times of a letter of text, in femtoseconds.
    let letters = letters.min(1 << 40);
    let by_cores = (letters as f64 * share_by_cores) as u64 * (70_000 / 23 / 16);
    let by_gpu = 2 * (200_000 + letters * 13);
    by_cores.checked_sub(by_gpu).filter(|&saved| saved > 0).map(|saved| START / saved)
}

/// Bytes of reads for each GPU that counts: with fewer, starting another GPU takes as long as it saves
/// (`docs/evidence/speed.md`).
const COUNTED_BY_EACH: u64 = 8_000_000_000;

impl Work {
    /// Returns the number of GPUs that speed up a run, given the usable memory of each in bytes. Further
    /// ones would take longer to start than they save, since one of them already waits for the cores
    /// (`docs/evidence/speed.md`).
    fn useful_gpus(self, input: Option<u64>, memory: &[u64]) -> usize {
        let useful = match self {
            Work::Count => input.map_or(memory.len(), |bytes| (bytes / COUNTED_BY_EACH) as usize),
            Work::Classify { database: Some(bytes) } => {
                // The database takes more memory on a device than in the file, and reads take some too.
                let (mut left, mut gpus) = (bytes / 2 * 3, memory.iter());
                while left > 0
                    && let Some(memory) = gpus.next()
                {
                    left = left.saturating_sub(memory / 4 * 3);
                }
                memory.len() - gpus.len()
            }
            Work::Classify { database: None } | Work::Query | Work::Profile => memory.len(),
            Work::Build
            | Work::Kraken2 { .. }
            | Work::FilterExact
            | Work::FilterByRule
            | Work::Index
            | Work::Map { .. }
            | Work::Search { .. } => 1,
        };
        useful.clamp(1, memory.len().max(1))
    }
}

/// The number of bases of a reference from which GPUs can map faster: a smaller one fits in the caches of 16
/// cores (`docs/evidence/speed.md`: 5 Mb, where GPUs are slower, and 100 Mb).
const MIN_REFERENCE: u64 = 20_000_000;
/// The repeats from which GPUs can map faster whatever the size of the reference.
const REPETITIVE: u64 = 4;
/// The repeats above which the break-even does not fall further: starting the GPU takes the rest.
const MAX_REPEATS: u64 = 20;

impl Context {
    /// Returns the CUDA numbers of the GPUs for a run of `work` on about `input` bytes of text (`None` if
    /// unknown); empty for the CPU.
    ///
    /// `usable` returns the numbers, models and memory sizes of the usable GPUs, or the reason why no GPU
    /// is usable. [`DeviceChoice::Auto`] uses GPUs for inputs of at least [`break_even`](Work::break_even) bytes, and
    /// of unknown size. It and [`DeviceChoice::AllCuda`] leave GPUs idle that would not speed up such a run, with a
    /// note to [`progress`](Context::progress).
    ///
    /// # Errors
    /// The error of `usable` if GPUs are requested and no GPU is usable. Requested numbers are not
    /// checked; opening the devices does that.
    pub fn choose_gpus<E>(
        &self,
        work: Work,
        input: Option<u64>,
        usable: impl FnOnce() -> Result<Vec<(u32, String, u64)>, E>,
    ) -> Result<Vec<u32>, E> {
        let useful = |mut gpus: Vec<(u32, String, u64)>| {
            let limit = self.gpu_memory.unwrap_or(u64::MAX);
            let memory: Vec<u64> = gpus.iter().map(|gpu| gpu.2.min(limit)).collect();
            gpus.truncate(work.useful_gpus(input, &memory));
            if gpus.len() < memory.len() {
                self.progress.note(&format!(
                    "using {} of {} GPUs: more would not be faster here (--device cuda:0,1 uses both)",
                    gpus.len(),
                    memory.len()
                ));
            }
            gpus
        };
        let numbers = |gpus: &[(u32, String, u64)]| gpus.iter().map(|gpu| gpu.0).collect();
        match &self.device {
            DeviceChoice::Cpu => Ok(Vec::new()),
            DeviceChoice::Auto => {
                let pays = |least| input.is_none_or(|bytes| bytes >= least);
                if !work.break_even().is_some_and(pays) {
                    return Ok(Vec::new());
                }
                let gpus = useful(usable().unwrap_or_default());
                if !gpus.is_empty() {
                    let name = |(number, model, _): &_| format!("cuda:{number} {model}");
                    let names = gpus.iter().map(name);
                    let names: Vec<String> = names.collect();
                    self.progress.note(&format!("computing on {}", names.join(", ")));
                }
                Ok(numbers(&gpus))
            }
            DeviceChoice::AllCuda => Ok(numbers(&useful(usable()?))),
            DeviceChoice::Cuda(ordinals) => Ok(ordinals.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_takes_gpus_where_they_pay() {
        let two = || Ok::<_, String>(vec![(0, "A".to_owned(), 1), (2, "B".to_owned(), 1)]);
        let none = || Err("no driver".to_owned());
        let auto = Context::new();
        let choose = |input| auto.choose_gpus(Work::Count, input, two).unwrap();
        assert_eq!(choose(Some(99_999_999)), [0u32; 0]);
        assert_eq!(choose(Some(100_000_000)), [0]);
        assert_eq!(choose(Some(16_000_000_000)), [0, 2]);
        assert_eq!(choose(None), [0, 2]);
        let small = Work::Map { reference: 1, repeats: 1 };
        assert_eq!(auto.choose_gpus(small, None, two).unwrap(), [0u32; 0]);
        let map = |reference, repeats, input| {
            auto.choose_gpus(Work::Map { reference, repeats }, Some(input), two).unwrap().len()
        };
        assert_eq!([1, 10].map(|repeats| map(100_000_000, repeats, 200_000_000)), [0, 1]);
        assert_eq!([1, 10].map(|repeats| map(1_000_000, repeats, 2_000_000_000)), [0, 1]);
        assert_eq!([1, 1000].map(|repeats| map(100_000_000, repeats, 40_000_000)), [0, 0]);
        assert_eq!(auto.choose_gpus(Work::Count, None, none).unwrap(), [0u32; 0]);
        let all = auto.clone().device(DeviceChoice::AllCuda);
        assert_eq!(all.choose_gpus(small, Some(1), two).unwrap(), [0]);
        assert_eq!(all.choose_gpus(Work::Query, Some(1), two).unwrap(), [0, 2]);
        assert_eq!(all.choose_gpus(small, None, none).unwrap_err(), "no driver");
        let third = auto.device(DeviceChoice::Cuda(vec![3]));
        assert_eq!(third.choose_gpus(small, None, none).unwrap(), [3]);
    }

    #[test]
    fn searches_of_few_patterns_stay_on_the_cpu() {
        let search =
            |letters, share_by_cores| Work::Search { letters, share_by_cores }.break_even();
        let least = |patterns: u64| search(23 * patterns, 1.0);
        assert_eq!([0, 1, 16, 100].map(least), [None; 4]);
        let some = least(200).unwrap();
        assert!((1_000_000_000..10_000_000_000).contains(&some), "{some}");
        let many = least(4000).unwrap();
        assert!((100_000_000..200_000_000).contains(&many), "{many}");
        assert_eq!(search(23 * 4000, 0.1), None);
        assert!(search(23 * 4000, 0.5).unwrap() > 2 * many);
        assert_eq!(least(u64::MAX / 23).map(|letters| letters < 1000), Some(true));
    }

    #[test]
    fn further_gpus_are_idle_where_they_save_nothing() {
        let memory = [80_000_000_000; 4];
        let classify = |bytes| Work::Classify { database: bytes }.useful_gpus(Some(1), &memory);
        assert_eq!([Some(0), Some(3_000_000_000), Some(30_000_000_000)].map(classify), [1; 3]);
        assert_eq!([Some(50_000_000_000), Some(1 << 50), None].map(classify), [2, 4, 4]);
        let count = |bytes| Work::Count.useful_gpus(bytes, &memory);
        let inputs = [Some(0), Some(15_999_999_999), Some(24_000_000_000), Some(1 << 50), None];
        assert_eq!(inputs.map(count), [1, 1, 3, 4, 4]);
        assert_eq!(Work::Build.useful_gpus(None, &memory), 1);
        assert_eq!(Work::Query.useful_gpus(None, &[]), 1);
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
