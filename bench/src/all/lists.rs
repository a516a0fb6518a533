//! The lists of rows and data sets.

use anyhow::{Context, Result};

use crate::measure::Cost;

/// A data set.
#[derive(Debug)]
pub(super) struct Data {
    pub(super) name: String,
    /// A file that is there when the data set is complete.
    pub(super) makes: String,
    /// The names of data sets that must be made first.
    pub(super) needs: String,
    /// The command that makes it in the folder of data.
    pub(super) command: String,
}

/// Two commands that do the same work.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) page: String,
    pub(super) table: String,
    pub(super) work: String,
    /// The data set that our command reads.
    pub(super) data: String,
    pub(super) ours: String,
    /// The program without which the row is not measured.
    pub(super) program: String,
    pub(super) peer_data: String,
    pub(super) peer: String,
    /// The command that prints the name and the version of the other program.
    pub(super) version: String,
}

/// Returns all data sets.
pub(super) fn data() -> Result<Vec<Data>> {
    let each = |[name, makes, needs, command]: [String; 4]| Data { name, makes, needs, command };
    parsed(include_str!("../../data.tsv"), each)
}

/// Returns all rows.
pub(super) fn rows() -> Result<Vec<Row>> {
    let each = |fields: [String; 9]| {
        let [page, table, work, data, ours, program, peer_data, peer, version] = fields;
        Row { page, table, work, data, ours, program, peer_data, peer, version }
    };
    parsed(include_str!("../../rows.tsv"), each)
}

/// Parses the lines after the first.
fn parsed<const N: usize, T>(text: &str, each: impl Fn([String; N]) -> T) -> Result<Vec<T>> {
    let fields = |line: &str| {
        let fields: Vec<String> = line.split('\t').map(str::to_owned).collect();
        fields.try_into().ok().with_context(|| format!("not {N} fields: {line}"))
    };
    text.lines().skip(1).map(|line| fields(line).map(&each)).collect()
}

impl Row {
    /// Returns the line of `measurements.tsv`: medians of the wall times, and their ratio; the note has the other figures.
    pub(super) fn line(
        &self,
        costs: [Vec<Cost>; 2],
        peer: &str,
        our_version: &str,
        (machine, day): (&str, &str),
    ) -> String {
        let of = |field: fn(&Cost) -> f64| {
            costs.each_ref().map(|costs| median(costs.iter().map(field).collect()))
        };
        let (wall, cpu) = (of(|cost| cost.wall), of(|cost| cost.cpu));
        let peak = of(|cost| cost.peak as f64 / 1e9);
        let runs = costs[0].len();
        let note = format!(
            "CPU s {:.2} and {:.2}; peak GB {:.2} and {:.2}; medians of {runs}",
            cpu[0], cpu[1], peak[0], peak[1]
        );
        let seconds = wall.map(|seconds| format!("{seconds:.2} s"));
        let ratio = format!("{:.1}", wall[1] / wall[0]);
        let command = self.ours.replace("$MERGANSER", "merganser").replace("$THREADS", "T");
        [
            &self.page,
            &self.table,
            &self.work,
            &seconds[0],
            &seconds[1],
            peer,
            our_version,
            &ratio,
            machine,
            day,
            &command,
            "yes",
            &note,
        ]
        .join("\t")
    }
}

/// Returns the middle value, or the mean of the two middle ones; there is at least one value.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    (values[half] + values[(values.len() - 1) / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_whole() {
        let (data, rows) = (data().unwrap(), rows().unwrap());
        let is_known = |name: &str| data.iter().any(|one| one.name == name);
        assert!(!rows.is_empty());
        for row in &rows {
            assert!(is_known(&row.data) && is_known(&row.peer_data), "{}", row.work);
            assert!(row.ours.starts_with("$MERGANSER "), "{}", row.ours);
        }
        for (at, one) in data.iter().enumerate() {
            let earlier = |name: &str| data[..at].iter().any(|other| other.name == name);
            assert!(one.needs.split_whitespace().all(earlier), "{}", one.name);
        }
    }

    #[test]
    fn a_line_has_the_columns_of_the_measurements() {
        let row = &rows().unwrap()[0];
        let cost = |wall: f64| Cost { wall, cpu: 2.0 * wall, peak: 500_000_000 };
        let ours = vec![cost(3.0), cost(1.0), cost(2.0)];
        let line = row.line(
            [ours, vec![cost(10.0), cost(12.0)]],
            "KMC 3.2.4",
            "0.3.0",
            ("F", "2026-11-29"),
        );
        let fields: Vec<&str> = line.split('\t').collect();
        assert_eq!(fields.len(), 13);
        assert_eq!(
            fields[3..10],
            ["2.00 s", "11.00 s", "KMC 3.2.4", "0.3.0", "5.5", "F", "2026-11-29"]
        );
        assert_eq!(fields[12], "CPU s 4.00 and 22.00; peak GB 0.50 and 0.50; medians of 3");
    }

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(vec![5.0]), 5.0);
        assert_eq!(median(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 9.0]), 3.0);
    }
}
