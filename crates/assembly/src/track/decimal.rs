//! Numbers with two decimals.

use merganser_io::put_decimal;

/// Appends a number that is not negative, rounded to two decimals; halves are rounded up.
pub(super) fn put_hundredths(number: f64, text: &mut Vec<u8>) {
    let hundredths = (100.0 * number).round() as u64;
    put_decimal(hundredths / 100, text);
    let (tens, ones) = ((hundredths / 10 % 10) as u8, (hundredths % 10) as u8);
    text.extend_from_slice(&[b'.', b'0' + tens, b'0' + ones]);
}

#[cfg(test)]
mod tests {
    use super::put_hundredths;

    #[test]
    fn numbers_have_two_decimals() {
        let text = |number| {
            let mut text = Vec::new();
            put_hundredths(number, &mut text);
            String::from_utf8(text).unwrap()
        };
        assert_eq!([0.0, 0.004, 0.005, 1.0].map(text), ["0.00", "0.00", "0.01", "1.00"]);
        assert_eq!([9.996, 12.34, 12_345.678].map(text), ["10.00", "12.34", "12345.68"]);
    }
}
