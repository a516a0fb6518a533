//! The files of tracks.

use std::io::Write;
use std::path::{Path, PathBuf};

use merganser_io::{Output, OutputSet, finish_all, put_decimal};
use merganser_kmers::reads::Mark;

use super::class::{Class, ClassSum, Rule};
use super::config::Wanted;
use super::decimal::put_hundredths;
use super::intervals::{ClassRun, Intervals};
use super::values::{ValueFormat, Values};
use crate::Error;

/// The paths of the files; `None` for those that are not written.
#[derive(Clone, Debug, Default)]
pub struct Paths {
    /// A line for each sequence.
    pub summary: Option<PathBuf>,
    /// The intervals of each class (BED).
    pub classes: Option<PathBuf>,
    /// The bases that are covered by k-mers of the table (BED).
    pub present: Option<PathBuf>,
    /// The count in the table of the k-mer at each position (bedGraph or wig).
    pub counts: Option<PathBuf>,
    /// The number of copies according to the reads of the k-mer at each position (bedGraph or wig).
    pub expected: Option<PathBuf>,
    /// The number of copies in the sequences of the k-mer at each position (bedGraph or wig).
    pub copies: Option<PathBuf>,
}

impl Paths {
    /// Returns the tracks that need more than look-ups.
    pub fn wanted(&self) -> Wanted {
        Wanted {
            classes: self.classes.is_some(),
            expected: self.expected.is_some(),
            copies: self.copies.is_some(),
        }
    }

    /// Returns the paths of intervals.
    pub fn intervals(&self) -> impl Iterator<Item = &Path> {
        [&self.classes, &self.present].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Returns the paths of values.
    pub fn values(&self) -> impl Iterator<Item = &Path> {
        [&self.counts, &self.expected, &self.copies].into_iter().flatten().map(PathBuf::as_path)
    }
}

/// The sums over sequences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    pub(super) bases: u64,
    pub(super) kmers: u64,
    pub(super) found: u64,
    pub(super) classes: [ClassSum; 4],
}

impl Sums {
    pub(super) fn add(&mut self, other: &Sums) {
        self.bases += other.bases;
        self.kmers += other.kmers;
        self.found += other.found;
        self.classes.iter_mut().zip(other.classes).for_each(|(sum, more)| sum.add(more));
    }
}

/// The number of the only class of the track of k-mers that the table has.
const PRESENT: usize = 0;

/// The files of tracks, which appear when their [`OutputSet`] is committed.
pub struct Files {
    summary: Option<Output>,
    classes: Option<Output>,
    present: Option<Output>,
    counts: Option<Values>,
    expected: Option<Values>,
    copies: Option<Values>,
    wanted: Wanted,
    rule: Rule,
    name: Vec<u8>,
    intervals: [Intervals; 2],
    sums: Sums,
    text: Vec<u8>,
}

impl Files {
    /// Opens the files.
    ///
    /// # Errors
    /// If a file cannot be created.
    pub fn create(paths: &Paths, set: &OutputSet) -> Result<Files, Error> {
        let open =
            |path: &Option<PathBuf>| path.as_deref().map(|path| set.output(path)).transpose();
        let values = |path: &Option<PathBuf>| {
            let output = open(path)?;
            let format = path.as_deref().map(ValueFormat::of_name).unwrap_or_default();
            Ok::<_, Error>(output.map(|output| Values::new(output, format)))
        };
        Ok(Files {
            summary: open(&paths.summary)?,
            classes: open(&paths.classes)?,
            present: open(&paths.present)?,
            counts: values(&paths.counts)?,
            expected: values(&paths.expected)?,
            copies: values(&paths.copies)?,
            wanted: paths.wanted(),
            rule: Rule { coverage: 1.0, solid: 0 },
            name: Vec::new(),
            intervals: Default::default(),
            sums: Sums::default(),
            text: Vec::new(),
        })
    }

    /// Begins the files, before the first mark. `rule` is that for classes and copies, if it is needed.
    pub(super) fn start(&mut self, rule: Option<Rule>) -> Result<(), Error> {
        self.rule = rule.unwrap_or(self.rule);
        let Some(summary) = &mut self.summary else { return Ok(()) };
        let mut header = "sequence\tbases\tkmers\tfound".to_owned();
        if self.wanted.classes {
            for name in Class::ALL.map(Class::name) {
                header += &format!("\t{name}_intervals\t{name}_bases");
            }
        }
        header.push('\n');
        Ok(summary.write_all(header.as_bytes())?)
    }

    pub(super) fn wanted(&self) -> Wanted {
        self.wanted
    }

    /// Takes a mark of the sequences, and returns the sums of a sequence at its end. The second count of runs is that in
    /// the sequences.
    pub(super) fn take(&mut self, mark: Mark<'_>) -> Result<Option<Sums>, Error> {
        match mark {
            Mark::Begin { name } => {
                self.name.clear();
                self.name.extend_from_slice(name);
                self.sums = Sums::default();
                self.values().for_each(|values| values.begin(name));
                Ok(None)
            }
            Mark::Run { start, kmers, bases, count, other } => {
                let end = start + kmers - 1 + bases;
                self.run(start, end, kmers, [count, other])?;
                Ok(None)
            }
            Mark::End { bases, kmers } => {
                (self.sums.bases, self.sums.kmers) = (bases, kmers);
                self.intervals.iter_mut().for_each(Intervals::end);
                self.put_intervals()?;
                self.values().try_for_each(Values::end)?;
                self.put_summary()?;
                Ok(Some(self.sums))
            }
        }
    }

    fn values(&mut self) -> impl Iterator<Item = &mut Values> {
        [&mut self.counts, &mut self.expected, &mut self.copies].into_iter().flatten()
    }

    /// Adds k-mers with the same counts.
    fn run(&mut self, start: u64, end: u64, kmers: u64, counts: [u32; 2]) -> Result<(), Error> {
        let [count, copies] = counts;
        let rule = self.rule;
        if let Some(values) = &mut self.counts {
            values.add(start, kmers, count, |text| put_decimal(count.into(), text))?;
        }
        if let Some(values) = &mut self.expected {
            let expected = rule.copies(count.into());
            values.add(start, kmers, count, |text| put_hundredths(expected, text))?;
        }
        if let Some(values) = &mut self.copies {
            values.add(start, kmers, copies, |text| put_decimal(copies.into(), text))?;
        }
        self.sums.found += if count > 0 { kmers } else { 0 };
        let counts = counts.map(|count| u64::from(count) * kmers);
        let of = |class| ClassRun { class, start, end, kmers, counts, repeated: 0 };
        if self.present.is_some() && count > 0 {
            self.intervals[1].add(of(PRESENT));
        }
        if self.wanted.classes
            && let Some(class) = rule.class(count, copies)
        {
            self.intervals[0].add(of(class as usize));
        }
        self.put_intervals()
    }

    /// Writes the intervals that cannot grow.
    fn put_intervals(&mut self) -> Result<(), Error> {
        let Files { classes, present, rule, name, intervals: [of_classes, of_present], .. } = self;
        let (sums, text) = (&mut self.sums, &mut self.text);
        if let Some(classes) = classes {
            while let Some(own) = of_classes.next() {
                let ClassRun { class, start, end, kmers, counts: [reads, copies], repeated } = own;
                let bases = end - start - repeated;
                sums.classes[class].add(ClassSum { kmers, intervals: 1, bases });
                put_interval(name, start, end, text);
                text.push(b'\t');
                text.extend_from_slice(Class::ALL[class].name().as_bytes());
                for copies in [rule.copies(reads), copies as f64] {
                    text.push(b'\t');
                    put_hundredths(copies / kmers as f64, text);
                }
                text.push(b'\t');
                put_decimal(kmers, text);
                text.push(b'\n');
            }
            write(text, classes)?;
        }
        if let Some(present) = present {
            while let Some(own) = of_present.next() {
                put_interval(name, own.start, own.end, text);
                text.push(b'\n');
            }
            write(text, present)?;
        }
        Ok(())
    }

    fn put_summary(&mut self) -> Result<(), Error> {
        let Files { summary: Some(summary), name, sums, text, .. } = self else { return Ok(()) };
        text.extend_from_slice(name);
        let mut numbers = vec![sums.bases, sums.kmers, sums.found];
        if self.wanted.classes {
            numbers.extend(sums.classes.iter().flat_map(|of| [of.intervals, of.bases]));
        }
        for number in numbers {
            text.push(b'\t');
            put_decimal(number, text);
        }
        text.push(b'\n');
        write(text, summary)
    }

    /// Completes the files.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn finish(self) -> Result<(), Error> {
        let mut outputs: Vec<Output> =
            [self.summary, self.classes, self.present].into_iter().flatten().collect();
        for values in [self.counts, self.expected, self.copies].into_iter().flatten() {
            outputs.push(values.finish()?);
        }
        finish_all(outputs)?;
        Ok(())
    }
}

/// Moves the text to the output.
fn write(text: &mut Vec<u8>, output: &mut Output) -> Result<(), Error> {
    if !text.is_empty() {
        output.write_all(text)?;
        text.clear();
    }
    Ok(())
}

fn put_interval(name: &[u8], start: u64, end: u64, text: &mut Vec<u8>) {
    text.extend_from_slice(name);
    for number in [start, end] {
        text.push(b'\t');
        put_decimal(number, text);
    }
}
