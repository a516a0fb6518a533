//! Estimates of the number of distinct minimizers: the HyperLogLog++ of Kraken 2 (Heule et al., 2013) with
//! Ertl's estimator (2017).
//!
//! The estimates of Kraken 2 depend on how its input is cut into blocks, because each block begins with
//! empty sketches. A [`BlockSketch`] is the sketch of a block or of a piece of one. Joined pieces result in the
//! sketch of the whole block, so that the cuts between pieces do not change the result.

use super::codes::{CODE_BITS, Codes};
use super::table::hash;

/// Bits of a hash that select a register.
const INDEX_BITS: u32 = 12;
pub(super) const REGISTERS: usize = 1 << INDEX_BITS;
/// The maximum number of codes in the set of a block; a set that would have more becomes registers.
pub(super) const MAX_CODES: usize = REGISTERS / 4;

/// The maximum rank of a register.
pub(super) const MAX_RANK: u8 = 64 - INDEX_BITS as u8 + 1;

/// A sketch of distinct minimizers: a set while there are few codes, registers when there are many.
#[derive(Clone, Debug)]
pub(super) enum Sketch {
    Codes(Codes),
    Registers(Box<[u8; REGISTERS]>),
}

impl Default for Sketch {
    fn default() -> Self {
        Sketch::Codes(Codes::default())
    }
}

/// Returns the code of a hash: its upper bits and, if these do not determine a register's rank, the number
/// of zeros that follow.
fn code_of(hash: u64) -> u32 {
    let code = (hash >> (64 - CODE_BITS) << (32 - CODE_BITS)) as u32;
    if code << INDEX_BITS != 0 {
        return code;
    }
    let zeros = (hash << CODE_BITS).leading_zeros().min(64 - CODE_BITS);
    code | (zeros + 1) << 1 | 1
}

/// Whether some hash has this code.
pub(super) fn is_code(code: u32) -> bool {
    let lower = code & ((1 << (32 - CODE_BITS)) - 1);
    let has_rank = code >> (32 - CODE_BITS) << (32 - CODE_BITS) << INDEX_BITS != 0;
    let zeros = lower >> 1;
    if has_rank { lower == 0 } else { lower & 1 == 1 && (1..=64 - CODE_BITS + 1).contains(&zeros) }
}

/// Returns the rank of a code: one more than the number of zeros after the bits that select the register.
fn rank_of(code: u32) -> u8 {
    let rank = match code & 1 {
        1 => CODE_BITS - INDEX_BITS + (code >> 1 & 63),
        _ => (code << INDEX_BITS).leading_zeros() + 1,
    };
    rank as u8
}

fn raise(registers: &mut [u8; REGISTERS], code: u32) {
    let register = &mut registers[(code >> (32 - INDEX_BITS)) as usize];
    *register = (*register).max(rank_of(code));
}

impl Sketch {
    /// Returns the registers; converts a set to registers first.
    fn registers(&mut self) -> &mut [u8; REGISTERS] {
        if let Sketch::Codes(codes) = self {
            let mut registers = Box::new([0; REGISTERS]);
            codes.for_each(|code| raise(&mut registers, code));
            *self = Sketch::Registers(registers);
        }
        match self {
            Sketch::Registers(registers) => registers,
            Sketch::Codes(_) => unreachable!("the set was converted to registers"),
        }
    }

    /// Merges another sketch into this one. Two sets always give a set, however large.
    pub(super) fn merge(&mut self, mut other: Sketch) {
        match (&mut *self, &mut other) {
            (Sketch::Codes(own), Sketch::Codes(others)) => own.merge(std::mem::take(others)),
            (Sketch::Registers(own), Sketch::Registers(others)) => {
                own.iter_mut()
                    .zip(others.iter())
                    .for_each(|(own, &other)| *own = (*own).max(other));
            }
            (Sketch::Registers(own), Sketch::Codes(others)) => {
                others.for_each(|code| raise(own, code));
            }
            (Sketch::Codes(_), Sketch::Registers(_)) => {
                std::mem::swap(self, &mut other);
                self.merge(other);
            }
        }
    }

    /// Estimates the number of distinct minimizers among `all` inserted ones.
    pub(super) fn estimate(&self, all: u64) -> u64 {
        let mut ranks = [0u64; 64];
        let (registers, most) = match self {
            Sketch::Codes(codes) => {
                codes.for_each(|code| ranks[usize::from(rank_of(code)).min(63)] += 1);
                ranks[0] = (1u64 << CODE_BITS).saturating_sub(codes.len() as u64);
                (1u64 << CODE_BITS, 64 - CODE_BITS)
            }
            Sketch::Registers(registers) => {
                registers.iter().for_each(|&rank| ranks[usize::from(rank).min(63)] += 1);
                (REGISTERS as u64, 64 - INDEX_BITS)
            }
        };
        let estimate = ertl(&ranks[..=most as usize + 1], registers as f64);
        if (all as f64) < estimate { all } else { estimate.round() as u64 }
    }
}

/// Returns Ertl's estimate for `registers` registers; `ranks` has the number of registers of each rank.
fn ertl(ranks: &[u64], registers: f64) -> f64 {
    let share = |rank: usize| ranks[rank] as f64 / registers;
    let last = ranks.len() - 1;
    let mut sum = registers * tau(1.0 - share(last));
    for rank in (1..last).rev() {
        sum += ranks[rank] as f64;
        sum *= 0.5;
    }
    sum += registers * sigma(share(0));
    registers / (2.0 * std::f64::consts::LN_2) * registers / sum
}

fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut sum, mut factor) = (x, 1.0);
    loop {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor += factor;
        if sum == before {
            return sum;
        }
    }
}

fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut sum, mut factor) = (1.0 - x, 1.0);
    loop {
        x = x.sqrt();
        let before = sum;
        factor /= 2.0;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}

/// The sketch of a block or of a piece of one.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockSketch {
    sketch: Sketch,
    /// Whether anything was inserted.
    some: bool,
    /// The code of the last inserted minimizer, if no earlier one had it.
    fresh: Option<u32>,
}

impl BlockSketch {
    /// Inserts a minimizer.
    pub(super) fn insert(&mut self, minimizer: u64) {
        self.some = true;
        let code = code_of(hash(minimizer.wrapping_add(1)));
        if let Sketch::Codes(codes) = &mut self.sketch
            && codes.len() < MAX_CODES
        {
            self.fresh = codes.insert(code).then_some(code);
            return;
        }
        // Any insertion into a full set converts it to registers.
        raise(self.sketch.registers(), code);
        self.fresh = None;
    }

    /// Appends the piece that follows in the same block; the result is the sketch of both pieces as one.
    pub(super) fn append(&mut self, next: BlockSketch) {
        if !next.some {
            return;
        }
        let full = match (&self.sketch, &next.sketch) {
            (Sketch::Codes(own), Sketch::Codes(others)) => {
                let mut new = 0;
                others.for_each(|code| new += usize::from(!own.contains(code)));
                // A set that has just become full remains a set if nothing follows the code that filled it.
                let filled_last = next.fresh.is_some_and(|code| !own.contains(code));
                self.fresh = next.fresh.filter(|&code| !own.contains(code));
                own.len() + new > MAX_CODES || (own.len() + new == MAX_CODES && !filled_last)
            }
            _ => true,
        };
        self.some = true;
        if full {
            self.sketch.registers();
            self.fresh = None;
        }
        self.sketch.merge(next.sketch);
    }

    pub(super) fn into_sketch(self) -> Sketch {
        self.sketch
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Computes the sketch of a block without pieces, in the steps of Kraken 2.
    fn whole(minimizers: &[u64]) -> Sketch {
        let mut sketch = Sketch::default();
        for &minimizer in minimizers {
            let hash = hash(minimizer + 1);
            match &mut sketch {
                Sketch::Codes(codes) if codes.len() < MAX_CODES => {
                    codes.insert(code_of(hash));
                }
                _ => {
                    let registers = sketch.registers();
                    let rank = (hash << INDEX_BITS).leading_zeros().min(64 - INDEX_BITS) + 1;
                    let register = &mut registers[(hash >> (64 - INDEX_BITS)) as usize];
                    *register = (*register).max(rank as u8);
                }
            }
        }
        sketch
    }

    fn same(one: &Sketch, other: &Sketch) -> bool {
        match (one, other) {
            (Sketch::Codes(one), Sketch::Codes(other)) => {
                let mut equal = one.len() == other.len();
                one.for_each(|code| equal &= other.contains(code));
                equal
            }
            (Sketch::Registers(one), Sketch::Registers(other)) => one == other,
            _ => false,
        }
    }

    proptest! {
        #[test]
        fn pieces_come_to_the_block(
            distinct in prop_oneof![1u64..50, 1020u64..1028, Just(1024), 1000u64..3000],
            more in proptest::collection::vec(any::<u32>(), 0..6),
            last in any::<bool>(),
            mut cuts in proptest::collection::vec(0.0..1.0f64, 0..5),
        ) {
            let repeats: Vec<u64> = more.iter().map(|&at| u64::from(at) % distinct).collect();
            let first: Vec<u64> = (0..distinct).collect();
            let mut all = if last { [first, repeats].concat() } else { [repeats, first].concat() };
            if !last && more.len() % 2 == 1 {
                // A block that ends with a new minimizer.
                all.retain(|&minimizer| minimizer != distinct - 1);
                all.push(distinct - 1);
            }
            cuts.sort_by(f64::total_cmp);
            let mut joined = BlockSketch::default();
            let mut start = 0;
            for end in cuts.iter().map(|cut| (cut * all.len() as f64) as usize).chain([all.len()]) {
                let mut piece = BlockSketch::default();
                all[start..end].iter().for_each(|&minimizer| piece.insert(minimizer));
                joined.append(piece);
                start = end;
            }
            prop_assert!(same(&joined.into_sketch(), &whole(&all)));
        }

        #[test]
        fn codes_have_the_rank_of_their_hash(upper: u64, zeros in 0u32..=64) {
            let hash = if zeros == 64 { upper >> 52 << 52 } else { upper >> 52 << 52 | (upper << 12 | 1 << 63) >> 12 >> zeros };
            let rank = (hash << INDEX_BITS).leading_zeros().min(64 - INDEX_BITS) + 1;
            prop_assert_eq!(u32::from(rank_of(code_of(hash))), rank);
            prop_assert!(is_code(code_of(hash)) && rank <= u32::from(MAX_RANK));
            prop_assert!(!is_code(code_of(hash) ^ 1));
        }
    }

    #[test]
    fn estimates_are_near() {
        for (count, share) in
            [(1u64, 0.0), (500, 0.0), (1024, 0.001), (20_000, 0.05), (1_000_000, 0.05)]
        {
            let mut sketch = BlockSketch::default();
            (0..count).for_each(|minimizer| sketch.insert(minimizer));
            let estimate = sketch.into_sketch().estimate(u64::MAX);
            assert!(estimate.abs_diff(count) as f64 <= share * count as f64, "{count}: {estimate}");
        }
    }
}
