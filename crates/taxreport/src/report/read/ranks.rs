//! Rank codes without a letter. Debian's Kraken 2.1.2 leaves the letter out at the upper three levels of a report, and
//! Kraken 1 writes `-` for taxa between the main ranks.

use super::{DOMAINS, ReportRow};

/// The letters of the main ranks, from domain to species.
const MAIN: &str = "DKPCOFGS";

/// Whether a cell is a rank code, maybe without its letter.
pub(super) fn is_code(code: &[u8]) -> bool {
    let letters = code.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    let steps = &code[letters..];
    code == b"-" || (letters <= 1 && steps.len() <= 9 && steps.iter().all(u8::is_ascii_digit))
}

/// Completes the codes of all rows but those at the top. Returns the rows whose main rank cannot be told; they count as a level below the rank
/// above them.
pub(super) fn complete(rows: &mut [ReportRow]) -> Vec<usize> {
    let hints = hints(rows);
    let mut unknown = Vec::new();
    for at in 0..rows.len() {
        let Some(above) = rows[at].parent.map(|parent| rows[parent].rank.clone()) else {
            continue;
        };
        let (letter, steps) = above.split_at(1);
        let below = || format!("{letter}{}", steps.parse().unwrap_or(0u64) + 1);
        let row = &rows[at];
        let code = match &*row.rank {
            "-" => below(),
            "" if letter == "R" && (hints[at].is_some() || is_domain(&row.name)) => "D".into(),
            "" => match hints[at].filter(|hint| letter != "R" && is_lower(*hint, letter)) {
                Some(hint) => hint.to_string(),
                None => {
                    unknown.push(at);
                    below()
                }
            },
            code if code.starts_with(|first: char| first.is_ascii_digit()) => {
                format!("{letter}{code}")
            }
            _ => continue,
        };
        rows[at].rank = code;
    }
    unknown
}

/// Returns for each row the main rank that the rows below it ask for: the next one above the highest of theirs; `None` if
/// nothing is below.
fn hints(rows: &[ReportRow]) -> Vec<Option<char>> {
    let mut hints: Vec<Option<char>> = vec![None; rows.len()];
    for at in (0..rows.len()).rev() {
        let Some(parent) = rows[at].parent else { continue };
        let mut code = rows[at].rank.chars();
        let own = code.next().and_then(|letter| MAIN.find(letter));
        let wanted = match (own, code.next()) {
            // A level below a main rank.
            (Some(place), Some(_)) => place,
            (Some(place), None) => place.saturating_sub(1),
            // Without a letter: what is below it is also below its parent.
            (None, _) => {
                hints[at].and_then(|hint| MAIN.find(hint)).map_or(MAIN.len() - 1, |place| {
                    if rows[at].rank.is_empty() { place.saturating_sub(1) } else { place }
                })
            }
        };
        let known = hints[parent].and_then(|hint| MAIN.find(hint)).unwrap_or(MAIN.len());
        hints[parent] = MAIN[wanted.min(known)..].chars().next();
    }
    hints
}

/// Whether a main rank is lower than the one above.
fn is_lower(hint: char, above: &str) -> bool {
    MAIN.find(hint) > MAIN.find(above)
}

/// Whether a name is that of a domain, in NCBI's taxonomy or in GTDB's.
fn is_domain(name: &[u8]) -> bool {
    DOMAINS.contains(&name) || name.starts_with(b"d__")
}
