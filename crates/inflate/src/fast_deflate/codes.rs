//! Length-limited Huffman codes (RFC 1951, section 3.2.2).

use super::bits::BitWriter;

/// Returns code lengths of at most `most` with a small total, from Huffman's algorithm; 0 for symbols that do not
/// occur. At least two symbols get a code, as the code of a single symbol would be incomplete.
pub(super) fn lengths<const N: usize>(counts: &[u32; N], most: u8) -> [u8; N] {
    let mut used: Vec<(u32, usize)> = counts
        .iter()
        .enumerate()
        .filter(|used| *used.1 > 0)
        .map(|(symbol, &count)| (count, symbol))
        .collect();
    let mut lens = [0; N];
    if used.len() < 2 {
        let only = used.first().map_or(0, |used| used.1);
        lens[only] = 1;
        lens[usize::from(only == 0)] = 1;
        return lens;
    }
    used.sort_unstable();
    let mut of_len = depths(&used, most);
    shorten(&mut of_len, usize::from(most));
    // The rarest symbols get the longest codewords.
    let mut symbols = used.iter().map(|used| used.1);
    for (len, &times) in of_len.iter().enumerate().rev() {
        symbols.by_ref().take(times as usize).for_each(|symbol| lens[symbol] = len as u8);
    }
    lens
}

/// Returns the number of symbols at each depth of Huffman's tree. Symbols deeper than `most` are counted at depth
/// `most`.
fn depths(used: &[(u32, usize)], most: u8) -> [u32; 16] {
    let leaves = used.len();
    let mut weights: Vec<u32> = used.iter().map(|used| used.0).collect();
    let mut parents = vec![0; 2 * leaves - 1];
    // Leaves and inner nodes are both created in ascending order of weight, so two queues suffice.
    let (mut leaf, mut inner) = (0, leaves);
    for parent in leaves..2 * leaves - 1 {
        let mut sum = 0;
        for _ in 0..2 {
            let is_leaf = leaf < leaves && (inner >= parent || weights[leaf] <= weights[inner]);
            let next = if is_leaf { &mut leaf } else { &mut inner };
            parents[*next] = parent;
            sum += weights[*next];
            *next += 1;
        }
        weights.push(sum);
    }
    let mut of_len = [0; 16];
    let mut depths = vec![0u8; 2 * leaves - 1];
    for node in (0..2 * leaves - 2).rev() {
        depths[node] = depths[parents[node]].saturating_add(1);
        if node < leaves {
            of_len[usize::from(depths[node].min(most))] += 1;
        }
    }
    of_len
}

/// Lengthens other codes until those that were counted as shorter than they are fit.
fn shorten(of_len: &mut [u32; 16], most: usize) {
    let mut taken: u32 = (1..=most).map(|len| of_len[len] << (most - len)).sum();
    while taken > 1 << most {
        // One of the longest codewords moves next to a shorter one, with which it then shares a prefix.
        let shorter = (1..most).rfind(|&len| of_len[len] > 0).unwrap_or(1);
        of_len[most] -= 1;
        of_len[shorter] -= 1;
        of_len[shorter + 1] += 2;
        taken -= 1;
    }
}

/// The codewords for given lengths, bit-reversed as they are written. The bits above 16 are the length.
pub(super) struct Code<const N: usize>([u32; N]);

impl<const N: usize> Code<N> {
    pub(super) fn new(lens: &[u8; N]) -> Code<N> {
        let mut next = [0u32; 17];
        lens.iter().filter(|&&len| len > 0).for_each(|&len| next[usize::from(len) + 1] += 1);
        for len in 1..17 {
            next[len] = (next[len] + next[len - 1]) << 1;
        }
        Code(lens.map(|len| {
            if len == 0 {
                return 0;
            }
            let code = next[usize::from(len)];
            next[usize::from(len)] += 1;
            code.reverse_bits() >> (32 - u32::from(len)) | u32::from(len) << 16
        }))
    }

    #[inline(always)]
    pub(super) fn put(&self, symbol: usize, out: &mut BitWriter<'_>) {
        let code = self.0[symbol];
        out.put(code & 0xffff, code >> 16);
    }
}
