//! Numbers and texts as bytes: little-endian, texts with their length before them.

/// Appends values to bytes.
pub trait ByteWriter {
    /// Appends a number of 2 bytes.
    fn put_u16(&mut self, value: u16);
    /// Appends a number of 4 bytes.
    fn put_u32(&mut self, value: u32);
    /// Appends a number of 8 bytes.
    fn put_u64(&mut self, value: u64);
    /// Appends numbers of 4 bytes.
    fn put_u32s(&mut self, values: impl IntoIterator<Item = u32>);
    /// Appends numbers of 8 bytes.
    fn put_u64s(&mut self, values: impl IntoIterator<Item = u64>);
    /// Appends the length of a text in bytes (4 bytes), and the text.
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

/// Reads values back, in order; each call gives `None` where the bytes have ended or are no such value.
#[derive(Clone, Copy, Debug)]
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(head)
    }

    /// The next bytes as an array.
    pub fn array<const COUNT: usize>(&mut self) -> Option<[u8; COUNT]> {
        self.bytes(COUNT)?.try_into().ok()
    }

    /// A number of 2 bytes.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// A number of 4 bytes.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of 8 bytes.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A text behind its length.
    pub fn text(&mut self) -> Option<String> {
        let length = self.u32()? as usize;
        String::from_utf8(self.bytes(length)?.to_vec()).ok()
    }
}
