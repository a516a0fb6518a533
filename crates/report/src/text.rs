//! Small plots as text for a terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::data::{Spectrum, Taxa};
use crate::draw::thousands;

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

/// The width of the numbers at the y axis with the axis, in columns.
const AXIS: usize = 7;
/// The least distance of the numbers at the x axis, in columns.
const TICKS: usize = 10;
/// The model's mark.
const MODEL: char = '•';

/// Plots a k-mer histogram with `rows` lines and axes, at most `columns` wide. Errors are cut off where they are higher
/// than the peak. The model, if there is one, is drawn as dots.
pub fn spectrum(spectrum: &Spectrum, columns: usize, rows: usize) -> String {
    let columns = columns.max(MIN);
    let (from, most) = (valley(spectrum), extent(spectrum));
    let shown = || spectrum.rows.iter().filter(|row| row.0 <= most);
    let top = shown().filter(|row| row.0 >= from).map(|row| row.1).max().unwrap_or(0);
    if top == 0 {
        return "no k-mers\n".to_owned();
    }
    // A column has the largest of its values.
    let wide = (columns - AXIS).min(most as usize);
    let column = |count: u64| ((count - 1) as usize * wide / most as usize).min(wide - 1);
    let eighths = |kmers: f64| ((8 * rows) as f64 * (kmers / top as f64).min(1.0)).ceil() as usize;
    let mut heights = vec![0; wide];
    for &(count, kmers) in shown().filter(|row| row.0 > 0) {
        let height = &mut heights[column(count)];
        *height = eighths(kmers as f64).max(*height);
    }
    let mut dots: Vec<Option<usize>> = vec![None; wide];
    let model = spectrum.model.iter().flat_map(|model| &model.expected);
    for (count, &kmers) in (0..=most).zip(model).filter(|&(count, _)| count >= from.max(1)) {
        let dot = &mut dots[column(count)];
        let row = (eighths(kmers).max(1) - 1) / 8;
        *dot = Some(dot.map_or(row, |other| other.max(row)));
    }
    let mut text = String::new();
    for row in (0..rows).rev() {
        let letter = |(&height, &dot): (&usize, &Option<usize>)| match dot {
            // Where bars end, a dot would hide them.
            Some(dot) if dot == row && row > 0 => MODEL,
            _ => BLOCKS[height.saturating_sub(8 * row).min(8)],
        };
        let line: String = heights.iter().zip(&dots).map(letter).collect();
        let number = match row + 1 {
            line if line == rows || line == rows.div_ceil(2) && rows > 3 => {
                format!("{:>5} ┤", brief(top as f64 * line as f64 / rows as f64))
            }
            _ => "      │".to_owned(),
        };
        text += (number + &line).trim_end();
        text.push('\n');
    }
    text += &below(most, wide);
    let named = if spectrum.model.is_some() { format!("; {MODEL} model") } else { String::new() };
    let k = spectrum.k;
    text += &shortened(&format!("distinct {k}-mers by their count{named}"), columns);
    text.push('\n');
    text
}

/// Returns the lower axis with its numbers, as two lines.
fn below(most: u64, wide: usize) -> String {
    let step = [1, 2, 5]
        .into_iter()
        .cycle()
        .zip((0..60u32).map(|at| 10u64.saturating_pow(at / 3)))
        .map(|(times, power)| times * power)
        .find(|step| step * wide as u64 >= TICKS as u64 * most)
        .unwrap_or(most.max(1));
    let (mut axis, mut numbers): (Vec<char>, _) = (vec!['─'; wide], vec![' '; AXIS + wide]);
    for count in (step..=most).step_by(step as usize) {
        let column = ((count - 1) as usize * wide / most as usize).min(wide - 1);
        let number = count.to_string();
        // The number is below its tick.
        let at = AXIS + column + 1 - number.len().div_ceil(2);
        if at + number.len() <= numbers.len() {
            axis[column] = '┬';
            numbers.splice(at..at + number.len(), number.chars());
        }
    }
    let [axis, numbers] = [axis, numbers].map(String::from_iter);
    format!("    0 └{axis}\n{}\n", numbers.trim_end())
}

/// Formats a number with three digits and a unit, in at most five columns.
fn brief(number: f64) -> String {
    for (unit, letter) in [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if number >= unit {
            let value = number / unit;
            let digits = usize::from(value < 99.95);
            return format!("{value:.digits$}{letter}");
        }
    }
    format!("{number:.0}")
}

/// Returns what a model says in three lines: genome size, heterozygosity and coverage; the exact numbers and errors;
/// and how far the model can be trusted. Without a model, a line with the number of k-mers.
pub fn words(spectrum: &Spectrum) -> String {
    let k = spectrum.k;
    let Some(model) = &spectrum.model else {
        let distinct: u64 = spectrum.rows.iter().map(|row| row.1).sum();
        return format!("{} distinct {k}-mers, no model\n", thousands(distinct as f64));
    };
    let (unit, name) = [(1e9, "Gb"), (1e6, "Mb"), (1e3, "kb")]
        .into_iter()
        .find(|(unit, _)| model.genome_size >= *unit)
        .unwrap_or((1.0, "b"));
    let size = model.genome_size / unit;
    let digits = if size < 10.0 { 2 } else { usize::from(size < 100.0) };
    let heterozygosity = match model.ploidy {
        1 => String::new(),
        _ => format!(", heterozygosity {:.2} %", 100.0 * model.heterozygosity),
    };
    let unique = 100.0 * model.unique_size / model.genome_size.max(1.0);
    let errors = model
        .error_rate
        .map(|rate| format!(", errors in {:.3} % of the reads' bases", 100.0 * rate));
    format!(
        "genome {size:.digits$} {name}{heterozygosity}, coverage {:.0}×\n\
         {} bases, {unique:.1} % of them unique{}\n\
         ploidy {}, k {k}; the model explains {:.1} % of the k-mers\n",
        model.coverage,
        thousands(model.genome_size),
        errors.unwrap_or_default(),
        model.ploidy,
        100.0 * model.explained
    )
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
    // Names are whole where they leave half of the line to the bars.
    let wide = |(name, _): &(&str, u64)| shortened(name, columns).width();
    let names = 1 + shown.iter().map(wide).max().unwrap_or(0).min((columns - NUMBERS) / 2);
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
    use crate::data::{Model, Taxon};

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
            assert_eq!(lines.len(), 13);
            assert!(lines.iter().all(|line| width(line) <= columns.max(MIN)), "{text}");
            // The errors and the peak reach the top, which has the peak's height.
            assert!(lines[0].starts_with(" 1.0M ┤█") && lines[0].ends_with('█'), "{text}");
            assert!(lines[10].starts_with("    0 └") && lines[10].contains('┬'), "{text}");
            // A number is below each tick.
            let ticks = lines[10].chars().filter(|letter| *letter == '┬').count();
            assert_eq!(lines[11].split_whitespace().count(), ticks, "{text}");
        }
        let none = Spectrum { k: 21, rows: Vec::new(), model: None };
        assert_eq!(spectrum(&none, 80, 10), "no k-mers\n");
        assert_eq!(words(&none), "0 distinct 21-mers, no model\n");
    }

    #[test]
    fn words_are_three_lines_about_the_model() {
        let rows: Vec<(u64, u64)> = (1..100).map(|count| (count, 7 * count)).collect();
        let mut model = Model {
            ploidy: 2,
            coverage: 33.2,
            genome_size: 704_913.0,
            unique_size: 690_000.0,
            heterozygosity: 0.008,
            duplication: 0.0,
            bias: None,
            error_rate: Some(0.003),
            standard_errors: None,
            explained: 0.998,
            from: 4,
            expected: rows.iter().map(|row| row.1 as f64).collect(),
        };
        let of = |model: &Model| Spectrum { k: 21, rows: rows.clone(), model: Some(model.clone()) };
        assert_eq!(
            words(&of(&model)),
            "genome 705 kb, heterozygosity 0.80 %, coverage 33×\n\
             704,913 bases, 97.9 % of them unique, errors in 0.300 % of the reads' bases\n\
             ploidy 2, k 21; the model explains 99.8 % of the k-mers\n"
        );
        assert!(spectrum(&of(&model), 80, 12).contains(MODEL));
        (model.ploidy, model.error_rate, model.genome_size) = (1, None, 4_936_447.0);
        assert!(words(&of(&model)).starts_with("genome 4.94 Mb, coverage 33×\n4,936,447 bases, "));
    }
}
