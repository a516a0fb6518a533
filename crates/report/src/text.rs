//! Small plots as text for a terminal.

use unicode_width::UnicodeWidthChar;

use crate::data::{Spectrum, Taxa};

/// The minimum number of columns of a plot.
const MIN: usize = 30;
/// Bars of eighths of a character, from the bottom.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// Bars of eighths of a character, from the left.
const BARS: [char; 8] = ['█', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
/// The maximum number of taxa in a plot.
const MAX_TAXA: usize = 20;
/// The width of the numbers next to bars, in columns.
const NUMBERS: usize = 10;

/// Plots a k-mer histogram with `rows` lines and an axis below, at most `columns` wide. Errors are cut off where they
/// are higher than the peak.
pub fn spectrum(spectrum: &Spectrum, columns: usize, rows: usize) -> String {
    let columns = columns.max(MIN);
    let (from, most) = (valley(spectrum), extent(spectrum));
    let shown = || spectrum.rows.iter().filter(|row| row.0 <= most);
    let top = shown().filter(|row| row.0 >= from).map(|row| row.1).max().unwrap_or(0);
    if top == 0 {
        return "no k-mers\n".to_owned();
    }
    // A column has the largest of its values.
    let wide = columns.min(most as usize);
    let mut heights = vec![0; wide];
    for &(count, kmers) in shown() {
        let column = ((count - 1) as usize * wide / most as usize).min(wide - 1);
        heights[column] = heights[column].max(kmers);
    }
    let eighths = |kmers: u64| (8 * rows) as f64 * (kmers as f64 / top as f64).min(1.0);
    let heights: Vec<usize> =
        heights.into_iter().map(|kmers| eighths(kmers).ceil() as usize).collect();
    let mut text = String::new();
    for row in (0..rows).rev() {
        let line: String =
            heights.iter().map(|&height| BLOCKS[height.saturating_sub(8 * row).min(8)]).collect();
        text += line.trim_end();
        text.push('\n');
    }
    let (last, k) = (most.to_string(), spectrum.k);
    text += &format!("1{last:>width$}\n", width = wide - 1);
    text += &shortened(&format!("distinct {k}-mers by count, up to {top}"), columns);
    text.push('\n');
    text
}

/// Returns the first local minimum; 0 if the histogram has no local minimum.
fn valley(spectrum: &Spectrum) -> u64 {
    if let Some(model) = &spectrum.model {
        return model.from as u64;
    }
    let two = spectrum.rows.windows(2).find(|two| two[1].1 > two[0].1);
    two.map_or(0, |two| two[0].0)
}

/// Returns the last count to show, beyond 99 % of the k-mers that occur more than once.
fn extent(spectrum: &Spectrum) -> u64 {
    let found = spectrum.count_of_share(0.99);
    found.map_or(MIN as u64, |count| (count + count / 4).max(MIN as u64))
}

/// Plots the largest taxa of the lowest main rank that has reads, and the unclassified reads, as bars. Lines are at
/// most
/// `columns` wide.
pub fn taxa(taxa: &Taxa, columns: usize) -> String {
    let columns = columns.max(MIN);
    if taxa.reads == 0 {
        return "no reads\n".to_owned();
    }
    let has = |rank: &&str| taxa.rows.iter().any(|taxon| taxon.rank == **rank && taxon.clade > 0);
    let rank = ["S", "G", "F", "O", "C", "P", "D"].into_iter().find(has).unwrap_or("R");
    let mut shown: Vec<(&str, u64)> = taxa
        .rows
        .iter()
        .filter(|taxon| taxon.rank == rank && taxon.clade > 0)
        .map(|taxon| (taxon.name.as_str(), taxon.clade))
        .collect();
    shown.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    let of_rank: u64 = shown.iter().map(|row| row.1).sum();
    let others: u64 = shown.iter().skip(MAX_TAXA).map(|row| row.1).sum();
    shown.truncate(MAX_TAXA);
    let higher = taxa.reads.saturating_sub(taxa.unclassified).saturating_sub(of_rank);
    let rest =
        [("(others)", others), ("(higher taxa)", higher), ("(unclassified)", taxa.unclassified)];
    shown.extend(rest.into_iter().filter(|row| row.1 > 0));
    let names = columns / 3;
    let room = columns - names - NUMBERS - 1;
    let most = shown.iter().map(|row| row.1).max().unwrap_or(1);
    let line = |(name, reads): (&str, u64)| {
        let percent = 100.0 * reads as f64 / taxa.reads as f64;
        let eighths = ((8 * room) as f64 * reads as f64 / most as f64).ceil() as usize;
        let (whole, rest) = (eighths / 8, eighths % 8);
        let bar = BARS[0].to_string().repeat(whole)
            + &[BARS[rest]].iter().filter(|_| rest > 0).collect::<String>();
        format!("{} {percent:>8.2} % {bar}\n", padded(name, names - 1))
    };
    shown.into_iter().map(line).collect()
}

/// Pads or shortens a name to exactly this many columns.
fn padded(name: &str, columns: usize) -> String {
    let mut text = shortened(name, columns);
    let width: usize = text.chars().filter_map(UnicodeWidthChar::width).sum();
    text.extend(std::iter::repeat_n(' ', columns - width));
    text
}

/// Shortens a name to at most this many columns, and replaces invisible characters.
fn shortened(name: &str, columns: usize) -> String {
    let seen = |letter: char| match letter.width() {
        Some(1..) => letter,
        _ => char::REPLACEMENT_CHARACTER,
    };
    let (mut text, mut width) = (String::new(), 0);
    for letter in name.chars().map(seen) {
        let own = letter.width().unwrap_or(1);
        if width + own > columns {
            // Leave room for the ellipsis.
            while width + 1 > columns {
                width -= text.pop().and_then(char::width).unwrap_or(1);
            }
            text.push('…');
            return text;
        }
        text.push(letter);
        width += own;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Taxon;

    fn width(line: &str) -> usize {
        line.chars().map(|letter| letter.width().expect("a letter that is seen")).sum()
    }

    fn of(names: &[&str]) -> Taxa {
        let row = |(at, name): (u64, &&str)| Taxon {
            depth: 1,
            rank: "S".to_owned(),
            taxid: at,
            name: (*name).to_owned(),
            clade: 10 * (at + 1),
            own: 10 * (at + 1),
            bases: None,
            kmers: None,
            distinct: None,
            abundance: None,
        };
        let rows: Vec<Taxon> = (0..).zip(names).map(row).collect();
        let reads = rows.iter().map(|row| row.clade).sum::<u64>() + 5;
        Taxa { reads, unclassified: 5, bases: None, unclassified_bases: None, rows }
    }

    #[test]
    fn taxa_fit_whatever_their_names() {
        let wide = "\u{4E2D}\u{6587}".repeat(40);
        let names = ["E. coli", "a\u{1b}[2J\u{202E}\n\u{300}", &wide, &"x".repeat(10_000)];
        for columns in [0, 30, 40, 80, 200] {
            let text = taxa(&of(&names), columns);
            assert_eq!(text.lines().count(), 5);
            for line in text.lines() {
                assert!(width(line) <= columns.max(MIN), "{columns}: {line}");
            }
        }
        let many: Vec<String> = (0..100).map(|at| format!("taxon {at}")).collect();
        let names: Vec<&str> = many.iter().map(String::as_str).collect();
        let text = taxa(&of(&names), 80);
        assert_eq!(text.lines().count(), MAX_TAXA + 2);
        assert!(text.starts_with("taxon 99") && text.contains("(others)"), "{text}");
        assert_eq!(taxa(&Taxa::default(), 80), "no reads\n");
    }

    #[test]
    fn spectra_fit_and_peak_where_they_should() {
        let peak = |count: u64| (1e6 / (1.0 + (count as f64 - 50.0).powi(2))) as u64;
        let mut rows: Vec<(u64, u64)> = (1..200).map(|count| (count, peak(count))).collect();
        rows[0].1 = 90_000_000;
        let histogram = Spectrum { k: 21, rows, model: None };
        for columns in [0, 40, 80, 300] {
            let text = spectrum(&histogram, columns, 10);
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 12);
            assert!(lines.iter().all(|line| width(line) <= columns.max(MIN)), "{text}");
            // The errors and the peak reach the top.
            assert!(lines[0].starts_with('█') && lines[0].ends_with('█'), "{text}");
        }
        let none = Spectrum { k: 21, rows: Vec::new(), model: None };
        assert_eq!(spectrum(&none, 80, 10), "no k-mers\n");
    }
}
