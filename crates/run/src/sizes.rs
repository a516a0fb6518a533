//! Parsing and formatting of sizes in bytes.

use crate::SizeError;

/// Parses a size such as `4G`, `500M`, `1.5GiB`, `2GB` or `65536`. The units K, M, G and T are
/// powers of 1024, with or without `B` or `iB`, in either case; no unit means bytes.
///
/// # Errors
///
/// If the text is not a number with such a unit, is zero, has no unit although it is below 1,000, or exceeds 64 bits.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let malformed = || SizeError::Malformed { text: text.to_owned() };
    let trimmed = text.trim();
    let digits = trimmed
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(digits);
    let shift = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return Err(malformed()),
    };
    let bytes = scale(number, shift).ok_or_else(malformed)?;
    if unit.is_empty() && (1..1000).contains(&bytes) {
        return Err(SizeError::NoUnit { text: trimmed.to_owned() });
    }
    match u64::try_from(bytes) {
        Ok(0) => Err(SizeError::Zero { text: text.to_owned() }),
        Ok(bytes) => Ok(bytes),
        Err(_) => Err(SizeError::TooLarge { text: text.to_owned() }),
    }
}

/// Returns `number` (digits with at most one point) times 2^`shift`, rounded down, exactly: a float would
/// lose the last bytes of large sizes. Returns `u128::MAX` if it is far too large.
fn scale(number: &str, shift: u32) -> Option<u128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    if whole.trim_start_matches('0').len() > 20 {
        return Some(u128::MAX);
    }
    let whole: u128 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
    // More than 18 digits of a fraction do not matter: they are below a byte even for T.
    let fraction = &fraction[..fraction.len().min(18)];
    let part: u128 = if fraction.is_empty() { 0 } else { fraction.parse().ok()? };
    let ten = 10u128.pow(u32::try_from(fraction.len()).ok()?);
    Some((whole << shift) + (part << shift) / ten)
}

/// Formats a size with about three digits and a binary unit, e.g. `512 B`, `1.50 GiB`.
pub fn format_size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (unit, digits) = unit_and_digits(bytes);
    let value = bytes as f64 / (1u64 << (10 * unit)) as f64;
    format!("{value:.digits$} {}", UNITS[unit as usize - 1])
}

/// Formats a required size for an error message: like [`format_size`], rounded up, so that
/// the shown size suffices, and always differs from the smaller size that [is given](format_given).
pub fn format_needed(bytes: u64) -> String {
    rounded(bytes, true)
}

/// Formats a given size for the message that more is [needed](format_needed): like [`format_size`], rounded down.
pub fn format_given(bytes: u64) -> String {
    rounded(bytes, false)
}

const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Returns the unit of a size of at least 1024 bytes, as a power of 1024, and the digits after the point.
fn unit_and_digits(bytes: u64) -> (u32, usize) {
    let unit = bytes.ilog2() / 10;
    let digits = match bytes >> (10 * unit) {
        0..10 => 2,
        10..100 => 1,
        _ => 0,
    };
    (unit, digits)
}

fn rounded(bytes: u64, up: bool) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (unit, digits) = unit_and_digits(bytes);
    let (scale, divisor) = (10u128.pow(digits as u32), 1u128 << (10 * unit));
    let scaled = u128::from(bytes) * scale;
    let value = if up { scaled.div_ceil(divisor) } else { scaled / divisor };
    let (whole, part, unit) = (value / scale, value % scale, UNITS[unit as usize - 1]);
    if digits == 0 { format!("{whole} {unit}") } else { format!("{whole}.{part:0digits$} {unit}") }
}

/// Formats a size for `--memory`, e.g. `640M`, `1300M` or `44G`: at least `bytes`, and from 10 MiB on at most
/// a tenth more.
pub fn size_to_give(bytes: u64) -> String {
    let (least_of_unit, steps) = (10u64 << 30, [(1000u64 << 20, 100), (100 << 20, 10), (0, 1)]);
    if bytes >= least_of_unit {
        return format!("{}G", bytes.div_ceil(1 << 30));
    }
    let step = steps.iter().find(|(from, _)| bytes > *from).map_or(1, |&(_, step)| step);
    format!("{}M", bytes.div_ceil(step << 20).max(1) * step)
}

/// Formats a number with commas between thousands.
///
/// ```
/// assert_eq!(merganser_run::thousands(1_234_567), "1,234,567");
/// ```
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a number with a noun, which gets an `s` if the number is not 1.
///
/// ```
/// assert_eq!(merganser_run::counted(1, "read"), "1 read");
/// assert_eq!(merganser_run::counted(2_500, "read"), "2,500 reads");
/// ```
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        let cases = [
            ("4G", 4 << 30),
            ("4g", 4 << 30),
            ("500M", 500 << 20),
            ("1.5GiB", 3 << 29),
            (".5k", 512),
            ("2GB", 2 << 30),
            ("2 gb", 2 << 30),
            ("1T", 1 << 40),
            ("65536", 65536),
            ("7b", 7),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in &cases {
            assert_eq!(parse_size(text), Ok(*bytes), "{text}");
        }
    }

    #[test]
    fn non_sizes_are_refused() {
        for text in ["", "G", "4X", "-1", "1.2.3G", "1e3", ".", "4GiBs"] {
            assert_eq!(parse_size(text), Err(SizeError::Malformed { text: text.into() }), "{text}");
        }
        assert_eq!(
            parse_size("8").unwrap_err().to_string(),
            "'8' is 8 bytes: give a unit, e.g. 8G"
        );
        assert_eq!(parse_size("0G"), Err(SizeError::Zero { text: "0G".into() }));
        for text in ["16777216T", "18446744073709551616", "9999999999999999999999999999999999999"] {
            assert_eq!(parse_size(text), Err(SizeError::TooLarge { text: text.into() }), "{text}");
        }
        assert_eq!(
            parse_size("lots").unwrap_err().to_string(),
            "'lots' is not a size: give a number and K, M, G or T, e.g. 500M or 4G"
        );
    }

    #[test]
    fn sizes_are_shown() {
        for (bytes, text) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (3 << 29, "1.50 GiB"),
            (12 << 30, "12.0 GiB"),
            (500 << 20, "500 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(format_size(bytes), text);
        }
    }

    #[test]
    fn what_is_needed_and_what_is_given_never_look_alike() {
        for (needed, given, texts) in [
            (900, 20, ["900 B", "20 B"]),
            (3 << 29, 300 << 20, ["1.50 GiB", "300 MiB"]),
            (96 << 20, 20 << 20, ["96.0 MiB", "20.0 MiB"]),
            ((80 << 20) + 60_000, 80 << 20, ["80.1 MiB", "80.0 MiB"]),
            ((80 << 20) + 2, (80 << 20) + 1, ["80.1 MiB", "80.0 MiB"]),
            (80 << 20, (80 << 20) - 1, ["80.0 MiB", "79.9 MiB"]),
            (1 << 30, (1 << 30) - 1, ["1.00 GiB", "1023 MiB"]),
            ((1 << 30) - 1, (1 << 30) - 2, ["1024 MiB", "1023 MiB"]),
        ] {
            assert_eq!([format_needed(needed), format_given(given)], texts);
        }
    }

    #[test]
    fn sizes_to_give_are_round_and_enough() {
        let mib = 1u64 << 20;
        for (bytes, text) in [
            (0, "1M"),
            (mib + 1, "2M"),
            (99 * mib, "99M"),
            (100 * mib + 1, "110M"),
            (1000 * mib, "1000M"),
            (1201 * mib, "1300M"),
            ((10 << 30) - 1, "10300M"),
            (10 << 30, "10G"),
            ((43 << 30) + 1, "44G"),
            (u64::MAX - (1 << 30), "17179869183G"),
        ] {
            assert_eq!(size_to_give(bytes), text);
        }
        for shift in 24..50 {
            for bytes in [1 << shift, (1 << shift) + 1, (3 << shift) - 1] {
                let given = parse_size(&size_to_give(bytes)).unwrap();
                assert!((bytes..=bytes + bytes / 10).contains(&given), "{bytes}: {given}");
            }
        }
    }

    #[test]
    fn commas_stand_between_thousands() {
        let cases = [(0, "0"), (999, "999"), (1000, "1,000"), (1234567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(thousands(number), text);
        }
    }
}
