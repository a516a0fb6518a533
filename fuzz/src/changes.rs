//! Changes to what was written, as the fuzzer asks for them.

/// Which piece of the bytes, where in it (modulo its length), how, and a number for that.
pub type Change = (u8, u16, u8, u32);

/// Makes one change to a piece: bits, or whole numbers of 4 or 8 bytes, which formats are made of.
pub fn change(&(_, at, how, value): &Change, piece: &mut [u8]) {
    if piece.is_empty() {
        return;
    }
    let at = usize::from(at) % piece.len();
    let rest = &mut piece[at..];
    let old = rest.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    // A large number needs but few bits of the fuzzer.
    let wide = u64::from(value) << (how & 0x38);
    match how % 4 {
        0 => rest[0] ^= value as u8,
        1 => put(rest, &old.wrapping_add(value as i8 as u32).to_le_bytes()),
        2 => put(rest, &value.to_le_bytes()),
        _ => put(rest, &wide.to_le_bytes()),
    }
}

/// Writes as much of a number as there is room for.
fn put(rest: &mut [u8], number: &[u8]) {
    let room = rest.len().min(number.len());
    rest[..room].copy_from_slice(&number[..room]);
}

/// Makes changes to files that belong together, then cuts one of them short.
pub fn change_all(changes: &[Change], cut: Option<(u8, u16)>, files: &mut [Vec<u8>]) {
    for one in changes {
        let which = usize::from(one.0) % files.len();
        change(one, &mut files[which]);
    }
    if let Some((which, length)) = cut {
        let which = usize::from(which) % files.len();
        let length = usize::from(length) % (files[which].len() + 1);
        files[which].truncate(length);
    }
}
