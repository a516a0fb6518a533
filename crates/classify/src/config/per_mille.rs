//! Shares in per mille, which are given and shown in per cent.

use serde::Serializer;

/// Parses per cent, 0 to 100, to per mille.
///
/// # Errors
/// If the text is another one.
#[cfg(feature = "cli")]
pub(super) fn per_mille(text: &str) -> Result<u32, String> {
    let percent: f64 = text.parse().map_err(|_| "give a number from 0 to 100")?;
    match (0.0..=100.0).contains(&percent) {
        true => Ok((percent * 10.0).round() as u32),
        false => Err("give a number from 0 to 100".into()),
    }
}

/// Serializes per mille as per cent.
///
/// # Errors
/// If the serializer fails.
pub(crate) fn as_percent<S: Serializer>(value: &u32, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(f64::from(*value) / 10.0)
}
