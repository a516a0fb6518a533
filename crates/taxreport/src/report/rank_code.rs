//! Rank codes that users give.

use merganser_taxonomy::Rank;

/// Returns the code of a rank in Kraken's reports, such as `S` or `S1`, that is given as a code or as the name of a main
/// rank, such as `species`.
///
/// # Errors
/// If it is neither; the error is the remedy.
pub fn rank_code(given: &str) -> Result<String, String> {
    if let Some(letter) = Rank::named(given).and_then(Rank::letter) {
        return Ok(letter.to_string());
    }
    let steps = given.strip_prefix(['U', 'R', 'D', 'K', 'P', 'C', 'O', 'F', 'G', 'S']);
    match steps {
        Some(steps) if steps.bytes().all(|digit| digit.is_ascii_digit()) => Ok(given.to_owned()),
        _ => Err(
            "give a name, such as species or genus, or a code: R, D, K, P, C, O, F, G, S, or S1"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::rank_code;

    #[test]
    fn codes_and_names_of_main_ranks_are_codes() {
        for (given, code) in
            [("species", "S"), ("S", "S"), ("S1", "S1"), ("R12", "R12"), ("domain", "D")]
        {
            assert_eq!(rank_code(given).as_deref(), Ok(code));
        }
        for given in ["", "X", "s", "Species", "S1a", "1", "subgenus", "Ü"] {
            assert!(rank_code(given).unwrap_err().starts_with("give a name"), "{given}");
        }
    }
}
