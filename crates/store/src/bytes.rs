//! Little-endian encoding of numbers, and of texts with their length before them.

/// A sink to which values are appended as bytes.
pub trait ByteWriter {
    /// Appends a 2-byte number.
    fn put_u16(&mut self, value: u16);
    /// Appends a 4-byte number.
    fn put_u32(&mut self, value: u32);
    /// Appends an 8-byte number.
    fn put_u64(&mut self, value: u64);
    /// Appends 4-byte numbers.
    fn put_u32s(&mut self, values: impl IntoIterator<Item = u32>);
    /// Appends 8-byte numbers.
    fn put_u64s(&mut self, values: impl IntoIterator<Item = u64>);
    /// Appends the length of a text in bytes, as a 4-byte number, and the text.
    fn put_text(&mut self, text: &str);
}

impl ByteWriter for Vec<u8> {
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_u32s(&mut self, values: impl IntoIterator<Item = u32>) {
        values.into_iter().for_each(|value| self.put_u32(value));
    }

    fn put_u64s(&mut self, values: impl IntoIterator<Item = u64>) {
        values.into_iter().for_each(|value| self.put_u64(value));
    }

    fn put_text(&mut self, text: &str) {
        self.put_u32(text.len() as u32);
        self.extend_from_slice(text.as_bytes());
    }
}

/// Reads values in order. Each method returns `None` if the remaining bytes are too few or not a valid value.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    /// Reads the next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// Reads the next `COUNT` bytes as an array.
    pub fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        self.bytes(COUNT)?.try_into().ok()
    }

    /// Reads a 2-byte number.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Reads a 4-byte number.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Reads an 8-byte number.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a text that is preceded by its length.
    pub fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }
}
