// Phase 1: tiles of bases become super-k-mers by bin (RapidGKC §III-C.2).
//
// A tile has `tile_bases` bases, with a bit for each that is set where k-mers cannot continue from the base before. It is
// a batch of the host's parser (crates/count/src/cuda/batch.rs), or a stretch of the letters that were packed on the
// device (crates/gpu/src/ingest.rs), which shares k-1 bases with the next tile. Every k-mer is in exactly one tile, so
// that blocks are independent. Lanes do the same work for allowed and forbidden p-mers, so they do not diverge.
// Ballots find where super-k-mers begin. Positions in the bins come from one prefix sum over the (bin, tile)
// counts, so all atomics stay within a block.
#pragma once

#include "bits.cuh"
#include "block.cuh"
#include "record.cuh"
#include "signature.cuh"

namespace mgpu {

constexpr int tile_bases = 4096;
constexpr int tile_words = tile_bases / 32;
constexpr int cut_words = tile_bases / 64;
constexpr int partition_threads = 256;
constexpr int tile_rows = tile_bases / partition_threads;
constexpr int max_bins = 1024;
/// The mark of positions where no k-mer starts: no signature has this value.
constexpr uint32_t no_kmer = 0xffffffffu;

/// The map from signatures to bins, as in crates/count/src/binmap.rs.
struct bin_map {
  const uint16_t* bin_of;
  uint32_t multiplier;
  uint32_t shift;

  MGPU_HD uint32_t bin(uint32_t signature) const { return bin_of[signature * multiplier >> shift]; }
};

/// The bases of tiles: 32 a word, the first in the top bits.
struct tile_letters {
  const uint64_t* bases;
  const uint64_t* cuts;  // 64 a word; bit i of a word is for its base i
  uint64_t first;        // the first base of the first tile
  uint64_t end;          // the end of the bases; cuts after it are unspecified
  uint32_t stride;       // the number of bases from one tile to the next
  uint32_t reserved;

  /// 32 bases of a tile, from base 32 `word` on.
  MGPU_HD uint64_t bases_at(uint64_t tile, uint32_t word) const {
    const uint64_t at = first + tile * stride + 32 * word;
    const uint32_t shift = 2 * static_cast<uint32_t>(at % 32);
    const uint64_t* const from = bases + at / 32;
    return shift == 0 ? from[0] : from[0] << shift | from[1] >> (64 - shift);
  }

  /// The cuts of 64 bases of a tile, from base 64 `word` on.
  MGPU_HD uint64_t cuts_at(uint64_t tile, uint32_t word) const {
    const uint64_t at = first + tile * stride + 64 * word;
    if (at >= end) return ~uint64_t{0};
    const uint32_t shift = static_cast<uint32_t>(at % 64);
    const uint64_t* const from = cuts + at / 64;
    const uint64_t found = shift == 0 ? from[0] : from[0] >> shift | from[1] << (64 - shift);
    return end - at >= 64 ? found : found | ~uint64_t{0} << (end - at);
  }
};

struct partition_arguments {
  tile_letters letters;
  bin_map bins;
  uint32_t bin_count;
  uint32_t tiles;
  int32_t k;
  int32_t p;
  int32_t words;  // words of a record
  bool canonical;
  uint32_t* pieces;       // output: room for tile_bases a tile (make_piece)
  uint32_t* piece_count;  // output: the number of pieces of each tile
  uint64_t* counts;       // output, [bin][tile]: k-mers << 32 | records; one more item, 0
};

/// The arguments for writing the records of tiles that were cut.
struct scatter_arguments {
  tile_letters letters;
  const uint32_t* pieces;
  const uint32_t* piece_count;
  const uint64_t* sums;  // exclusive prefix sums of the counts, [bin][tile]
  uint64_t* out;         // output: the records
  uint64_t room;         // records that `out` holds; further ones are not written
  uint32_t bin_count;
  uint32_t tiles;
  int32_t k;
  int32_t words;  // words of a record
};

/// Packs a record to write: 12 bits of position in the tile, 8 bits of k-mers less 1, 12 bits of bin.
MGPU_HD uint32_t make_piece(uint32_t at, uint32_t kmers, uint32_t bin) {
  return at | (kmers - 1) << 12 | bin << 20;
}

/// The position of the first set bit from `from` up to `end`; `end` if no bit is set there.
MGPU_HD int next_bit(const uint32_t* words, int from, int end) {
  while (from < end) {
    const uint32_t word = words[from >> 5] >> (from & 31);
    if (word != 0) {
      const int at = from + first_one(word);
      return at < end ? at : end;
    }
    from = (from | 31) + 1;
  }
  return end;
}

/// The shared memory of a block of cut_kernel.
struct cut_shared {
  uint64_t bases[tile_words];
  uint64_t cuts[cut_words];
  uint32_t signatures[tile_bases];
  uint32_t starts[tile_bases / 32];
  uint32_t records[max_bins];
  uint32_t kmers[max_bins];
};

/// Computes the signature of the k-mer at each position of the tile, in shared.signatures: the smallest
/// norm of its p-mers, by doubling spans (RapidGKC §II-D). Each thread has every 256th position.
template <rule Rule, class Block>
MGPU_HD void find_signatures(Block& block, cut_shared& shared, int k, int p, bool canonical) {
  uint32_t least[tile_rows];
  for (int row = 0; row < tile_rows; ++row) {
    const int at = row * partition_threads + static_cast<int>(block.thread());
    const uint32_t pmer =
        static_cast<uint32_t>(window(shared.bases, tile_words, at) >> (64 - 2 * p));
    const uint32_t norm = norm_pmer<Rule>(pmer, reverse_complement(pmer, p), p, canonical);
    least[row] = at + p <= tile_bases ? norm : no_kmer;
    shared.signatures[at] = least[row];
  }
  block.sync();
  const int width = k - p + 1;
  // Each entry is the smallest norm of `span` p-mers; the last step overlaps the one before.
  for (int span = 1; span < width;) {
    const int step = span * 2 <= width ? span : width - span;
    for (int row = 0; row < tile_rows; ++row) {
      const int other = row * partition_threads + static_cast<int>(block.thread()) + step;
      const uint32_t norm = other < tile_bases ? shared.signatures[other] : no_kmer;
      least[row] = norm < least[row] ? norm : least[row];
    }
    block.sync();
    for (int row = 0; row < tile_rows; ++row) {
      shared.signatures[row * partition_threads + block.thread()] = least[row];
    }
    block.sync();
    span += step;
  }
  for (int row = 0; row < tile_rows; ++row) {
    const int at = row * partition_threads + static_cast<int>(block.thread());
    if (at + k > tile_bases || any_bit(shared.cuts, at + 1, at + k)) shared.signatures[at] = no_kmer;
  }
  block.sync();
}

/// Sets a bit of shared.starts where the signature differs from the signature of the position before. The bits
/// are collected with warp ballots.
template <class Block>
MGPU_HD void find_starts(Block& block, cut_shared& shared) {
  for (int row = 0; row < tile_rows; ++row) {
    const int at = row * partition_threads + static_cast<int>(block.thread());
    const bool start = at == 0 || shared.signatures[at] != shared.signatures[at - 1];
    const uint32_t bits = block.ballot(start);
    if (at % 32 == 0) shared.starts[at / 32] = bits;
  }
  block.sync();
}

/// The number of k-mers of the super-k-mer that starts at `at`; 0 if none starts there.
MGPU_HD int super_kmer_at(const cut_shared& shared, int at) {
  const bool start = (shared.starts[at >> 5] >> (at & 31) & 1) != 0;
  if (!start || shared.signatures[at] == no_kmer) return 0;
  return next_bit(shared.starts, at + 1, tile_bases) - at;
}

/// Cuts one tile per block: finds its super-k-mers and counts its k-mers and records for each bin.
/// O(bases × log(k - p)): the minimum of each window by doubling spans. Shared: 26 KiB; full occupancy, of 8
/// blocks.
template <rule Rule>
__global__ void __launch_bounds__(partition_threads) cut_kernel(partition_arguments a) {
  MGPU_SHARED cut_shared shared;
  block<partition_threads> me;
  const uint32_t thread = me.thread();
  const uint64_t tile = me.index();
  for (uint32_t i = thread; i < tile_words; i += me.threads()) {
    shared.bases[i] = a.letters.bases_at(tile, i);
  }
  for (uint32_t i = thread; i < cut_words; i += me.threads()) {
    shared.cuts[i] = a.letters.cuts_at(tile, i);
  }
  for (uint32_t i = thread; i < a.bin_count; i += me.threads()) {
    shared.records[i] = shared.kmers[i] = 0;
  }
  me.sync();
  find_signatures<Rule>(me, shared, a.k, a.p, a.canonical);
  find_starts(me, shared);

  const int most = max_kmers(a.words, a.k);
  uint32_t mine = 0;
  for (int row = 0; row < tile_rows; ++row) {
    const int at = row * partition_threads + static_cast<int>(thread);
    mine += (super_kmer_at(shared, at) + most - 1) / most;
  }
  uint32_t total;
  uint32_t place = me.sum_before(mine, total);
  uint32_t* pieces = a.pieces + tile * tile_bases;
  for (int row = 0; row < tile_rows; ++row) {
    int at = row * partition_threads + static_cast<int>(thread);
    int left = super_kmer_at(shared, at);
    if (left == 0) continue;
    const uint32_t bin = a.bins.bin(shared.signatures[at]);
    me.add(&shared.records[bin], static_cast<uint32_t>((left + most - 1) / most));
    me.add(&shared.kmers[bin], static_cast<uint32_t>(left));
    while (left > 0) {
      const int now = left < most ? left : most;
      pieces[place++] = make_piece(at, now, bin);
      at += now;
      left -= now;
    }
  }
  me.sync();
  for (uint32_t i = thread; i < a.bin_count; i += me.threads()) {
    a.counts[uint64_t{i} * a.tiles + tile] = uint64_t{shared.kmers[i]} << 32 | shared.records[i];
  }
  if (thread == 0) {
    a.piece_count[tile] = total;
    if (tile == 0) a.counts[uint64_t{a.bin_count} * a.tiles] = 0;
  }
}

/// Computes the totals before each bin, and over all: the prefix sums at the bin's first tile.
/// One block: O(bins).
static __global__ void bin_starts_kernel(const uint64_t* sums, uint32_t bins, uint32_t tiles,
                                         uint64_t* starts) {
  block<partition_threads> me;
  for (uint32_t i = me.thread(); i <= bins; i += me.threads()) starts[i] = sums[uint64_t{i} * tiles];
}

/// Writes the records of one tile a block, each to its position in its bin. Their order within (bin, tile)
/// is arbitrary; nothing depends on it.
/// O(records). Shared: 5 KiB; full occupancy.
template <int Words>
__global__ void __launch_bounds__(partition_threads)
    scatter_kernel(scatter_arguments a) {
  MGPU_SHARED uint64_t bases[tile_words];
  MGPU_SHARED uint32_t taken[max_bins];
  block<partition_threads> me;
  record<Words>* out = reinterpret_cast<record<Words>*>(a.out);
  const uint64_t tile = me.index();
  for (uint32_t i = me.thread(); i < tile_words; i += me.threads()) {
    bases[i] = a.letters.bases_at(tile, i);
  }
  for (uint32_t i = me.thread(); i < a.bin_count; i += me.threads()) taken[i] = 0;
  me.sync();
  const uint32_t count = a.piece_count[tile];
  for (uint32_t i = me.thread(); i < count; i += me.threads()) {
    const uint32_t piece = a.pieces[tile * tile_bases + i];
    const int at = piece & 0xfff, kmers = (piece >> 12 & 0xff) + 1;
    const uint32_t bin = piece >> 20;
    const uint64_t first = static_cast<uint32_t>(a.sums[uint64_t{bin} * a.tiles + tile]);
    record<Words> made;
    int left = kmers + a.k - 1;
    for (int word = 0; word < Words; ++word, left -= 32) {
      const uint64_t whole = left > 0 ? window(bases, tile_words, at + 32 * word) : 0;
      made.words[word] = left >= 32 || left <= 0 ? whole : whole & ~uint64_t{0} << (64 - 2 * left);
    }
    made.words[Words - 1] |= static_cast<uint64_t>(kmers - 1);
    const uint64_t place = first + me.add(&taken[bin], 1u);
    if (place < a.room) out[place] = made;
  }
}

}  // namespace mgpu
