//! Shares in per mille, which users give and see in percent.

use serde::Serializer;

/// Parses a percentage, 0 to 100, and returns it in per mille.
///
/// # Errors
/// If the text is not such a number.
#[cfg(feature = "cli")]
pub(super) fn per_mille(text: &str) -> Result<u32, String> {
    let percent: f64 = text.parse().map_err(|_| "give a number from 0 to 100")?;
    match (0.0..=100.0).contains(&percent) {
        true => Ok((percent * 10.0).round() as u32),
        false => Err("give a number from 0 to 100".into()),
    }
}

/// Serializes a fraction in per mille as a percentage.
///
/// # Errors
/// If the serializer fails.
pub(crate) fn as_percent<S: Serializer>(value: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(f64::from(*value) / 10.0)
}
