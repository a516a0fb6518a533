// Counts the k-mers of letters with a thread for each position at which a k-mer may begin. The table has the
// layout of crates/kmers/src/lookup/lines.rs: sections by the first bits of a k-mer, and in each section lines
// of seven k-mers, one or two cache lines for k up to 64, which are selected by a hash. The time is spent
// waiting for lines; each thread builds its k-mer from letters that its neighbours read, too.
#pragma once

#include "block.cuh"
#include "wide.cuh"

namespace mgpu {

constexpr int seek_threads = 256;
/// The number of k-mers in a line.
constexpr int line_slots = 7;
/// The code of a count that is stored separately.
constexpr uint32_t large_code = 255;

/// 16 bytes that are loaded together.
struct alignas(16) two_words {
  uint64_t low;
  uint64_t high;
};

/// A section: its lines, the number of large counts before those of each line, and the large counts. These are
/// addresses in device memory; the last two are null if there are no large counts.
struct alignas(16) seek_section {
  const uint64_t* lines;
  uint64_t line_count;
  const uint32_t* large_starts;
  const uint32_t* large;
};

/// The number of words in a line: the k-mers, low words first, then the word of their codes, padded to a power
/// of two.
template <class K>
constexpr int line_words = 8 * static_cast<int>(sizeof(K)) / 8;

template <class K>
struct seek_arguments {
  const uint8_t* letters;
  uint64_t letter_count;
  /// The distance between positions, in letters.
  uint64_t stride;
  uint64_t places;
  int32_t k;
  bool canonical;
  /// The number of first bits of a k-mer that select its section; the number of the first section that is
  /// present; the number of sections that are present.
  int32_t bits;
  uint32_t first;
  uint32_t section_count;
  const seek_section* sections;
  /// The count for each position; counts of k-mers in other sections are not changed.
  uint32_t* counts;
};

/// Returns the high half of a product XOR the low half, like fold_multiply in crates/seq/src/kmer.rs.
MGPU_HD uint64_t fold_multiply(uint64_t x, uint64_t by) {
#ifdef __CUDA_ARCH__
  return __umul64hi(x, by) ^ x * by;
#else
  const uint128 product = static_cast<uint128>(x) * by;
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
#endif
}

constexpr uint64_t hash_mix = 0x9e3779b97f4a7c15u, hash_mix_high = 0x243754a3243f6a89u;

/// Returns the hash of a k-mer, like Kmer::hash in crates/seq.
MGPU_HD uint64_t hash_of(uint64_t kmer) { return fold_multiply(kmer ^ hash_mix_high, hash_mix); }
MGPU_HD uint64_t hash_of(uint128 kmer) {
  const uint64_t high = hash_of(static_cast<uint64_t>(kmer >> 64));
  return fold_multiply(static_cast<uint64_t>(kmer) ^ high, hash_mix);
}
MGPU_HD uint64_t hash_of(uint256 kmer) { return hash_of(kmer.low ^ hash_of(kmer.high)); }

/// Returns the line, of `lines`, that a hash selects.
MGPU_HD uint32_t line_of(uint64_t hash, uint32_t lines) {
#ifdef __CUDA_ARCH__
  return static_cast<uint32_t>(__umul64hi(hash, lines));
#else
  return static_cast<uint32_t>(static_cast<uint128>(hash) * lines >> 64);
#endif
}

/// Returns the first `bits` bits of a k-mer.
MGPU_HD uint32_t first_bits(uint64_t kmer, int k, int bits) {
  return bits == 0 ? 0 : static_cast<uint32_t>(kmer >> (2 * k - bits));
}
MGPU_HD uint32_t first_bits(uint128 kmer, int k, int bits) {
  return bits == 0 ? 0 : static_cast<uint32_t>(kmer >> (2 * k - bits));
}
MGPU_HD uint32_t first_bits(uint256 kmer, int k, int bits) {
  return bits == 0 ? 0 : static_cast<uint32_t>(shift_right(kmer, 2 * k - bits).low);
}

/// Appends the bases of letters to a k-mer; returns false if a letter is not a base.
template <class K>
MGPU_HD bool append_letters(const uint8_t* letters, int count, K& kmer) {
  bool bases = true;
  for (int i = 0; i < count; ++i) {
    bases &= is_base(letters[i]);
    kmer = static_cast<K>(kmer << 2 | static_cast<K>(base_code(letters[i])));
  }
  return bases;
}
template <>
MGPU_HD bool append_letters(const uint8_t* letters, int count, uint256& kmer) {
  const bool high = append_letters(letters, count - 64, kmer.high);
  return append_letters(letters + count - 64, 64, kmer.low) && high;
}

/// Returns the k-mer in a slot of a line.
MGPU_HD uint64_t slot_of(const two_words* line, int slot, uint64_t) {
  return slot % 2 == 0 ? line[slot / 2].low : line[slot / 2].high;
}
MGPU_HD uint128 word_of(two_words two) { return static_cast<uint128>(two.high) << 64 | two.low; }
MGPU_HD uint128 slot_of(const two_words* line, int slot, uint128) { return word_of(line[slot]); }
MGPU_HD uint256 slot_of(const two_words* line, int slot, uint256) {
  return {word_of(line[2 * slot + 1]), word_of(line[2 * slot])};
}

/// Returns the codes of a line.
template <class K>
MGPU_HD uint64_t codes_of(const two_words* line) {
  constexpr int at = line_slots * static_cast<int>(sizeof(K)) / 8;
  return at % 2 == 0 ? line[at / 2].low : line[at / 2].high;
}

/// Returns the code of a slot.
MGPU_HD uint32_t code_of(uint64_t codes, int slot) {
  return static_cast<uint32_t>(codes >> (8 * slot)) & 0xff;
}

/// Finds a k-mer in the lines of a section, and calls `found` with the number of its line, its slot and the codes of the
/// line, if the section has it.
template <class K, class Found>
MGPU_HD void find(const uint64_t* section_lines, uint64_t line_count, K kmer, Found found) {
  const uint32_t lines = static_cast<uint32_t>(line_count);
  uint32_t number = line_of(hash_of(kmer), lines);
  for (;;) {
    const auto line =
        reinterpret_cast<const two_words*>(section_lines + uint64_t{number} * line_words<K>);
    const uint64_t codes = codes_of<K>(line);
    MGPU_UNROLL
    for (int slot = 0; slot < line_slots; ++slot) {
      const bool is_equal = slot_of(line, slot, K{}) == kmer;
      if (is_equal && code_of(codes, slot) != 0) return found(number, slot, codes);
    }
    if (codes >> 56 == 0) return;
    number = number + 1 == lines ? 0 : number + 1;
  }
}

/// Returns the count of a k-mer in its section, or 0 if the section does not have it.
template <class K>
MGPU_HD uint32_t seek(const seek_section& section, K kmer) {
  uint32_t count = 0;
  find(section.lines, section.line_count, kmer, [&](uint32_t line, int slot, uint64_t codes) {
    count = code_of(codes, slot);
    if (count != large_code) return;
    uint32_t before = 0;
    for (int other = 0; other < slot; ++other) before += code_of(codes, other) == large_code;
    count = section.large[section.large_starts[line] + before];
  });
  return count;
}

/// Looks up one position per thread: O(k), and one or a few lines of a section at random addresses; other
/// threads run while a thread waits. Uses no shared memory; full occupancy, three quarters with 256-bit keys.
template <class K>
__global__ void __launch_bounds__(seek_threads) seek_kernel(seek_arguments<K> a) {
  block<seek_threads> me;
  const uint64_t step = uint64_t{me.count()} * seek_threads;
  for (uint64_t place = uint64_t{me.index()} * seek_threads + me.thread(); place < a.places;
       place += step) {
    const uint64_t start = place * a.stride;
    if (start + a.k > a.letter_count) continue;
    K kmer{};
    if (!append_letters(a.letters + start, a.k, kmer)) continue;
    if (a.canonical) kmer = canonical(kmer, a.k);
    const uint32_t number = first_bits(kmer, a.k, a.bits) - a.first;
    if (number < a.section_count) a.counts[place] = seek(a.sections[number], kmer);
  }
}

}  // namespace mgpu
