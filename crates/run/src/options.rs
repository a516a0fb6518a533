//! Types, parsers and serializers that the options of several jobs share. Each option is a field of a job's `Config`.
//! The same type serves as the configuration in the library, as the command-line arguments (feature `cli`), and as
//! the parameters in the JSON summary.

#[cfg(feature = "cli")]
pub use clap;
pub use serde::{Serialize, Serializer};

use std::fmt;
use std::str::FromStr;

/// A number, or `auto` for an automatic choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto(pub Option<usize>);

impl FromStr for Auto {
    type Err = String;

    fn from_str(text: &str) -> Result<Auto, String> {
        if text.eq_ignore_ascii_case("auto") {
            return Ok(Auto(None));
        }
        text.parse().map(|number| Auto(Some(number))).map_err(|_| "give a number or auto".into())
    }
}

impl fmt::Display for Auto {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(number) => number.fmt(formatter),
            None => formatter.write_str("auto"),
        }
    }
}

/// Serializes a value as the text that [`Display`](fmt::Display) gives, for types that do not implement `Serialize`.
///
/// # Errors
/// If the serializer fails.
pub fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Parsers of command-line arguments.
pub mod cli {
    #[cfg(feature = "cli")]
    use clap::{
        ValueEnum,
        builder::{PossibleValuesParser, TypedValueParser},
    };

    /// Returns a parser for the names of `values`, for options that do not accept all values of their type.
    #[cfg(feature = "cli")]
    pub fn one_of<T>(values: &'static [T]) -> impl TypedValueParser<Value = T>
    where
        T: ValueEnum + Send + Sync,
    {
        PossibleValuesParser::new(values.iter().filter_map(T::to_possible_value)).try_map(|name| {
            let found = values.iter().find(|value| {
                value.to_possible_value().is_some_and(|value| value.get_name() == name)
            });
            // Cannot fail: the parser accepts only the names of `values`.
            found.cloned().ok_or("no such value")
        })
    }

    /// Parses the length of a k-mer, from 1 to 128.
    ///
    /// # Errors
    /// If the text is not such a number.
    pub fn kmer_length(text: &str) -> Result<usize, String> {
        let k = text.parse().ok().filter(|k| (1..=128).contains(k));
        k.ok_or_else(|| "k must be a whole number from 1 to 128".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::Auto;
    use super::cli::kmer_length;

    #[test]
    fn k_is_a_whole_number_of_bases() {
        assert_eq!((kmer_length("1"), kmer_length("128")), (Ok(1), Ok(128)));
        for wrong in ["0", "129", "11.9", "-21", "21 ", "k", ""] {
            assert!(kmer_length(wrong).unwrap_err().ends_with("from 1 to 128"), "{wrong}");
        }
    }

    #[test]
    fn numbers_and_auto() {
        assert_eq!("auto".parse(), Ok(Auto(None)));
        assert_eq!("12".parse(), Ok(Auto(Some(12))));
        assert!("-1".parse::<Auto>().is_err());
        assert_eq!(Auto(None).to_string(), "auto");
    }
}
