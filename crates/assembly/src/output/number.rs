//! Numbers in the format of C's `%.6g`, which awk uses too.

/// Formats a number with six significant digits, without trailing zeros; infinity as `inf`, NaN as `na`.
pub(super) fn general(value: f64) -> String {
    if value.is_nan() {
        return "na".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "inf".into() } else { "-inf".into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    // The exponent after rounding to six digits.
    let scientific = format!("{value:.5e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(digits), exponent.abs());
    }
    trimmed(&format!("{value:.*}", (5 - exponent).max(0) as usize))
}

#[cfg(test)]
mod tests {
    use super::general;

    #[test]
    fn numbers_are_those_of_printf() {
        for (value, text) in [
            (43.260_81, "43.2608"),
            (4.720_123e-5, "4.72012e-05"),
            (0.000_1, "0.0001"),
            (100.0, "100"),
            (99.999_999, "100"),
            (1_234_567.0, "1.23457e+06"),
            (0.5, "0.5"),
            (0.0, "0"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "na"),
        ] {
            assert_eq!(general(value), text);
        }
    }
}
