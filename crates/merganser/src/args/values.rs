//! Values of options that are not plain numbers.

use merganser_taxonomy::Rank;

/// Bases of a k-mer, 1 to 128.
pub(super) fn kmer_length(text: &str) -> Result<u8, String> {
    let k = text.parse().ok().filter(|k| (1..=128).contains(k));
    k.ok_or_else(|| "k is a whole number from 1 to 128".to_owned())
}

/// A rank by its name.
pub(super) fn rank(text: &str) -> Result<Rank, String> {
    let all = || Rank::all().map(Rank::name).collect::<Vec<_>>().join(", ");
    Rank::named(text).ok_or_else(|| format!("give one of {}", all()))
}

#[cfg(test)]
mod tests {
    use super::kmer_length;

    #[test]
    fn k_is_a_whole_number_of_bases() {
        assert_eq!((kmer_length("1"), kmer_length("128")), (Ok(1), Ok(128)));
        for wrong in ["0", "129", "11.9", "-21", "21 ", "k", ""] {
            assert!(kmer_length(wrong).unwrap_err().ends_with("from 1 to 128"), "{wrong}");
        }
    }
}
