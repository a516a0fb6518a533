//! Shards of a job. Each shard is made by its own run, and joining all of them gives the result of a single run.

use std::path::Path;

use merganser_run::Shard;

/// A shard and its job, as recorded in the file of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobShard {
    /// The shard.
    pub shard: Shard,
    /// The identifier of the job; it is equal for shards that can be joined.
    pub job: u64,
}

impl JobShard {
    /// Returns the shard as `I/N` and the job as 16 hexadecimal digits, as stored in JSON headers.
    pub fn to_texts(self) -> (String, String) {
        (self.shard.to_string(), format!("{:016x}", self.job))
    }

    /// Parses the texts of [`to_texts`](Self::to_texts); `None` if they are invalid.
    pub fn of_texts(shard: &str, job: &str) -> Option<JobShard> {
        Some(JobShard { shard: shard.parse().ok()?, job: u64::from_str_radix(job, 16).ok()? })
    }

    /// Checks that this shard and `first`, whose file is called `name`, have the same number of shards.
    ///
    /// # Errors
    /// If the numbers differ; the error is the message.
    pub fn check_number(self, first: JobShard, name: &Path) -> Result<(), String> {
        let (own, first, name) = (self.shard, first.shard, name.display());
        if own.of() == first.of() {
            return Ok(());
        }
        Err(format!("is shard {own}, and {name} is {first}: only shards of one job can be joined"))
    }

    /// Checks that this shard is of the same job as `first`, whose file is called `name`. `other` describes a file of
    /// another job in the message.
    ///
    /// # Errors
    /// If the jobs differ; the error is the message.
    pub fn check_job(self, first: JobShard, name: &Path, other: &str) -> Result<(), String> {
        if self.job == first.job {
            return Ok(());
        }
        Err(format!("is {other} than {}: only shards of one job can be joined", name.display()))
    }
}

/// The wording of messages about files that are not all shards of one job.
#[derive(Clone, Copy, Debug)]
pub enum Words<'w> {
    /// Messages give a name and the number of the shard.
    Named {
        /// The name for a shard.
        name: &'w str,
        /// The words for a shard of another job, between its number and the name of the first file.
        other_job: &'w str,
        /// The remedy.
        remedy: &'w str,
    },
    /// Messages say which shard the file is.
    File {
        /// The words for a second file of the same shard: before and after the name of the first file. `{}` is replaced
        /// with the shard.
        twice: [&'w str; 2],
    },
}

/// Checks that files, each with its shard, are all shards of one job, each exactly once.
///
/// # Errors
/// If a file does not belong with those before it, or if a shard is missing: the index of the file to name and the
/// message for the first such problem.
pub fn check_all<'f>(
    files: impl IntoIterator<Item = (&'f Path, JobShard)>,
    words: Words<'_>,
) -> Result<(), (usize, String)> {
    let files: Vec<(&Path, JobShard)> = files.into_iter().collect();
    let Some(&(first, JobShard { shard: one, job })) = files.first() else { return Ok(()) };
    let mut seen: Vec<Option<&Path>> = vec![None; usize::from(one.of())];
    for (at, &(path, own)) in files.iter().enumerate() {
        let shard = own.shard;
        if (shard.of(), own.job) != (one.of(), job) {
            return Err((at, words.other_job(shard, first)));
        }
        if let Some(before) = seen[usize::from(shard.number()) - 1].replace(path) {
            return Err((at, words.twice(shard, before)));
        }
    }
    let missing = (1..).zip(&seen).find(|(_, seen)| seen.is_none());
    match missing.and_then(|(number, _)| Shard::new(number, one.of()).ok()) {
        Some(shard) => Err((0, words.missing(shard))),
        None => Ok(()),
    }
}

impl Words<'_> {
    fn other_job(self, shard: Shard, first: &Path) -> String {
        match self {
            Words::Named { name, other_job, remedy } => {
                format!("{name} {shard}{other_job} {}: {remedy}", first.display())
            }
            Words::File { .. } => "is a shard of another job".into(),
        }
    }

    fn twice(self, shard: Shard, before: &Path) -> String {
        match self {
            Words::Named { name, remedy, .. } => format!("{name} {shard} is given twice: {remedy}"),
            Words::File { twice: [begin, end] } => {
                let begin = begin.replace("{}", &shard.to_string());
                format!("{begin}{}{end}: give each once", before.display())
            }
        }
    }

    fn missing(self, shard: Shard) -> String {
        match self {
            Words::Named { name, remedy, .. } => format!("{name} {shard} is missing: {remedy}"),
            Words::File { .. } => {
                format!("shard {shard} of its job is missing: give all {}", shard.of())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMED: Words<'_> = Words::Named {
        name: "range",
        other_job: " belongs to a different job than",
        remedy: "give all",
    };
    const FILE: Words<'_> = Words::File { twice: ["is shard {} as ", " is"] };

    fn check(words: Words<'_>, files: &[(&'static str, &str, u64)]) -> Result<(), (usize, String)> {
        let shard = |text: &str, job| JobShard { shard: text.parse().unwrap(), job };
        check_all(files.iter().map(|&(path, text, job)| (Path::new(path), shard(text, job))), words)
    }

    #[test]
    fn all_shards_of_a_job_are_told_from_others() {
        for words in [NAMED, FILE] {
            assert_eq!(check(words, &[]), Ok(()));
            assert_eq!(check(words, &[("c", "3/3", 7), ("a", "1/3", 7), ("b", "2/3", 7)]), Ok(()));
        }
        for (files, at, named, file) in [
            (
                [("a", "1/2", 7), ("b", "2/2", 8)],
                1,
                "range 2/2 belongs to a different job than a: give all",
                "is a shard of another job",
            ),
            (
                [("a", "1/2", 7), ("b", "2/3", 7)],
                1,
                "range 2/3 belongs to a different job than a: give all",
                "is a shard of another job",
            ),
            (
                [("a", "2/2", 7), ("b", "2/2", 7)],
                1,
                "range 2/2 is given twice: give all",
                "is shard 2/2 as a is: give each once",
            ),
            (
                [("c", "3/3", 7), ("a", "1/3", 7)],
                0,
                "range 2/3 is missing: give all",
                "shard 2/3 of its job is missing: give all 3",
            ),
        ] {
            assert_eq!(check(NAMED, &files), Err((at, named.to_owned())));
            assert_eq!(check(FILE, &files), Err((at, file.to_owned())));
        }
    }

    #[test]
    fn two_files_are_compared() {
        let shard = |text: &str, job| JobShard { shard: text.parse().unwrap(), job };
        let (first, name) = (shard("1/2", 7), Path::new("a"));
        assert_eq!(shard("2/2", 8).check_number(first, name), Ok(()));
        let said = shard("2/3", 7).check_number(first, name).unwrap_err();
        assert_eq!(said, "is shard 2/3, and a is 1/2: only shards of one job can be joined");
        assert_eq!(shard("2/3", 7).check_job(first, name, "of other reads"), Ok(()));
        let said = shard("2/2", 8).check_job(first, name, "of other reads").unwrap_err();
        assert_eq!(said, "is of other reads than a: only shards of one job can be joined");
    }

    #[test]
    fn texts_come_back() {
        let shard = JobShard { shard: Shard::new(2, 8).unwrap(), job: 0xab };
        let (number, job) = shard.to_texts();
        assert_eq!((&number[..], &job[..]), ("2/8", "00000000000000ab"));
        assert_eq!(JobShard::of_texts(&number, &job), Some(shard));
        assert_eq!(JobShard::of_texts("3/2", &job), None);
        assert_eq!(JobShard::of_texts(&number, "x"), None);
    }
}
