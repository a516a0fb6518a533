//! Changes that the fuzzer makes to written files.

/// A change: the number of the piece, the position in it (modulo its length), the kind of change, and its value.
pub type Change = (u8, u16, u8, u32);

/// Makes a change to a piece: flips bits, or adds to or overwrites a number of 4 or 8 bytes, as the formats consist
/// of such numbers.
pub fn change(&(_, at, how, value): &Change, piece: &mut [u8]) {
    if piece.is_empty() {
        return;
    }
    let at = usize::from(at) % piece.len();
    let rest = &mut piece[at..];
    let old = rest.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    // The shift lets the fuzzer make large numbers from few bits.
    let wide = u64::from(value) << (how & 0x38);
    match how % 4 {
        0 => rest[0] ^= value as u8,
        1 => put(rest, &old.wrapping_add(value as i8 as u32).to_le_bytes()),
        2 => put(rest, &value.to_le_bytes()),
        _ => put(rest, &wide.to_le_bytes()),
    }
}

/// Writes as many bytes of a number as there is room for.
fn put(rest: &mut [u8], number: &[u8]) {
    let room = rest.len().min(number.len());
    rest[..room].copy_from_slice(&number[..room]);
}

/// Makes changes to the files of a database or table, then truncates one of them.
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
