// Kernels that find the minimizers of sequences by Kraken 2's rules and look them up in Kraken tables, with
// one thread per sequence. They correspond to crates/kraken2/src/minimizers.rs, table.rs and tables.rs.
#pragma once

#include "block.cuh"
#include "hash.cuh"
#include "kmer.cuh"

namespace mgpu {

/// The parameters of minimizers.
struct kraken2_rule {
  uint32_t k;
  uint32_t l;
  uint64_t lmer;    // mask of the bits of an l-mer
  uint64_t spaced;  // mask of the bits of an l-mer that count
  uint64_t toggle;
  uint64_t minimum_hash;    // minimizers with a smaller hash are not in the table
  uint64_t old_complement;  // whether reverse complements are computed as before version 2.0.8
};

/// A Kraken table: each cell has a key (the upper bits of a hash) and a value (0 in empty cells).
struct kraken2_table {
  const uint8_t* cells;
  const uint32_t* nodes;  // the joint node of each value, if there are several tables
  uint64_t capacity;
  uint64_t reciprocal;  // (2^64 - 1) / capacity, rounded down
  uint32_t key_bits;
  uint32_t value_bits;
  uint32_t cell_bytes;  // 4 or 5
  uint32_t node_count;  // values must be less than this
};

/// Tables that are looked up together.
struct kraken2_tables {
  static constexpr int max = 16;

  kraken2_table table[max];
  const uint32_t* parents;  // the parent of each joint node, which is a smaller number
  uint64_t count;
};

/// The position of a sequence's first letter, a multiple of 8, and the number of its letters.
struct kraken2_sequence {
  uint32_t start;
  uint32_t length;
};

/// A run of equal entries: `run` has their kind in the upper 3 bits and their number in the lower 29 bits;
/// `groups` is the number of consecutive minimizers with the same node.
struct kraken2_run {
  uint32_t run;
  uint32_t node;
  uint32_t groups;
};

struct kraken2_arguments {
  kraken2_rule rule;
  kraken2_tables tables;
  const uint8_t* letters;
  const kraken2_sequence* sequences;
  uint64_t count;
  kraken2_run* runs;     // those of a sequence begin at the position of its first letter
  uint64_t* minimizers;  // of runs with a new one, at the positions of the runs; or null
  uint32_t* databases;   // that have the minimizers of each run (bit I: table I), at its position; or null
  uint32_t* counts;      // of runs of each sequence
  uint64_t join;         // whether consecutive minimizers with the same node form one run
};

struct kraken2_gathering {
  const kraken2_sequence* sequences;
  uint64_t count;
  const kraken2_run* runs;
  const uint64_t* minimizers;  // or null
  const uint32_t* databases;   // or null
  const uint32_t* counts;
  const uint64_t* offsets;  // position of each sequence's runs in the output
  kraken2_run* runs_out;
  uint64_t* minimizers_out;
  uint32_t* databases_out;
};

/// Searches that begin in a range of a table's cells.
struct kraken2_searches {
  kraken2_table table;  // `cells` are those of the range
  uint64_t first;       // number of the first cell of the range
  uint64_t end;         // number of the cell after the range
  const uint64_t* hashes;
  uint32_t* values;
  uint64_t count;
};

constexpr int kraken2_threads = 128;

/// The kind of the entries of a run; crates/kraken2/src/minimizers.rs has two more kinds.
enum kraken2_kind : uint32_t { next_minimizer, same_minimizer, ambiguous_letters };
constexpr uint32_t kraken2_count_bits = 29;

MGPU_HD uint64_t multiply_high(uint64_t a, uint64_t b) {
#ifdef __CUDA_ARCH__
  return __umul64hi(a, b);
#else
  return static_cast<uint64_t>(static_cast<uint128>(a) * b >> 64);
#endif
}

/// Returns the cell at which the search for a hash begins: the hash modulo the number of cells.
MGPU_HD uint64_t home(uint64_t hash, const kraken2_table& table) {
  const uint64_t at = hash - multiply_high(hash, table.reciprocal) * table.capacity;
  return at >= table.capacity ? at - table.capacity : at;
}

/// Reads cell `at` of `cells`. Returns whether it ends the search for a key: it is empty or has that key.
MGPU_HD bool ends_search(uint64_t at, uint64_t key, const kraken2_table& table, uint32_t& value) {
  uint32_t low, high = 0;
  if (table.cell_bytes == 4) {
    low = reinterpret_cast<const uint32_t*>(table.cells)[at];
  } else {
    const uint8_t* cell = table.cells + 5 * at;
    low = cell[0] | uint32_t{cell[1]} << 8 | uint32_t{cell[2]} << 16 | uint32_t{cell[3]} << 24;
    high = cell[4];
  }
  value = low & ((1u << table.value_bits) - 1);
  const uint32_t found = low >> table.value_bits | high << (32 - table.value_bits);
  return value == 0 || found == key;
}

/// Returns the value of a minimizer in the table; 0 if it is not there.
MGPU_HD uint32_t look_up(uint64_t minimizer, const kraken2_rule& rule, const kraken2_table& table) {
  const uint64_t hash = murmur_finalizer(minimizer);
  if (hash < rule.minimum_hash) return 0;
  uint64_t at = home(hash, table);
  const uint64_t key = hash >> (64 - table.key_bits);
  // In a full table, the search ends where it began.
  for (uint64_t step = 0; step < table.capacity; ++step) {
    uint32_t value;
    if (ends_search(at, key, table, value)) return value;
    if (++at == table.capacity) at = 0;
  }
  return 0;
}

/// The result of a search that finds a value that is not a node. The host words the error.
constexpr uint32_t no_node = ~uint32_t{0};

/// Returns the lowest common ancestor of two joint nodes, or the other one if one is 0.
MGPU_HD uint32_t joined(uint32_t one, uint32_t other, const uint32_t* parents) {
  if (one == 0 || other == no_node) return other;
  if (other == 0 || one == no_node) return one;
  while (one != other) {
    uint32_t& later = one > other ? one : other;
    later = parents[later];
  }
  return one;
}

/// Which tables are looked up: a single one, several, or several whose numbers are noted as well.
enum class kraken2_lookup { single, several, noted };

/// Returns the joint node of a minimizer in several tables; 0 if it is in none. `databases` gets the tables that have it.
MGPU_HD uint32_t look_up_in_all(uint64_t minimizer, const kraken2_rule& rule, const kraken2_tables& tables,
                                uint32_t& databases) {
  uint32_t node = 0;
  databases = 0;
  for (uint64_t i = 0; i < tables.count; ++i) {
    const kraken2_table& table = tables.table[i];
    const uint32_t value = look_up(minimizer, rule, table);
    if (value == 0) continue;
    const uint32_t own = value < table.node_count ? table.nodes[value] : no_node;
    if (own != 0) databases |= 1u << i;
    node = joined(node, own, tables.parents);
  }
  return node;
}

/// Whether a letter is A, C, G or T in either case.
MGPU_HD bool is_base(uint32_t letter) {
  const uint32_t upper = letter & 0xdf;
  return upper == 'A' || upper == 'C' || upper == 'G' || upper == 'T';
}

MGPU_HD uint32_t code_of(uint32_t base) { return (base >> 1 ^ base >> 2) & 3; }

/// Computes the l-mers of a sequence base by base.
class rolling_lmer {
 public:
  /// Returns the l-mer that ends with this base, in the form in which minimizers are compared. It is valid
  /// only after l bases.
  MGPU_HD uint64_t step(uint32_t code, const kraken2_rule& rule) {
    forward_ = forward_ << 2 | code;
    reverse_ = reverse_ >> 2 | uint64_t{3 - code} << (2 * rule.l - 2);
    uint64_t other = reverse_;
    if (rule.old_complement != 0) {
      const uint32_t above = 64 - 2 * rule.l;
      other = (other << above | ((uint64_t{1} << above) - 1)) & rule.lmer;
    }
    const uint64_t own = forward_ & rule.lmer;
    return ((own < other ? own : other) & rule.spaced) ^ rule.toggle;
  }

 private:
  uint64_t forward_ = 0;
  uint64_t reverse_ = 0;
};

/// Tracks the smallest l-mer of the last k-mer.
class smallest_lmer {
 public:
  MGPU_HD smallest_lmer(const uint8_t* letters, const kraken2_rule& rule)
      : letters_(letters), rule_(rule), window_(rule.k - rule.l + 1) {}

  /// Processes the letter at position `at`.
  MGPU_HD void take(uint32_t letter, uint32_t at) {
    if (!is_base(letter)) {
      bases_ = 0;
      return;
    }
    const uint64_t lmer = lmers_.step(code_of(letter), rule_);
    ++bases_;
    if (bases_ < rule_.l) return;
    if (window_ <= kept) last_[at % kept] = lmer;
    if (bases_ == rule_.l || lmer <= least_) {
      least_ = lmer;
      least_at_ = at;
    } else if (at - least_at_ >= window_) {
      search(at);
    }
  }

  /// Returns the number of consecutive bases up to the last letter.
  MGPU_HD uint32_t bases() const { return bases_; }
  MGPU_HD uint64_t least() const { return least_; }

 private:
  /// Searches all l-mers of the k-mer again.
  MGPU_HD void search(uint32_t at) {
    const uint32_t first = at + 1 - window_;
    least_ = ~uint64_t{0};
    const auto compare = [&](uint64_t lmer, uint32_t place) {
      if (lmer > least_) return;
      least_ = lmer;
      least_at_ = place;
    };
    if (window_ <= kept) {
      for (uint32_t place = first; place <= at; ++place) compare(last_[place % kept], place);
      return;
    }
    rolling_lmer lmers;
    for (uint32_t place = first + 1 - rule_.l; place <= at; ++place) {
      const uint64_t lmer = lmers.step(code_of(letters_[place]), rule_);
      if (place >= first) compare(lmer, place);
    }
  }

  /// The number of l-mers that are kept. If k-mers have more, l-mers are recomputed.
  static constexpr uint32_t kept = 16;

  const uint8_t* letters_;
  const kraken2_rule& rule_;
  uint32_t window_;
  rolling_lmer lmers_;
  uint64_t last_[kept];
  uint64_t least_ = 0;
  uint32_t least_at_ = 0;
  uint32_t bases_ = 0;
};

/// Writes runs of entries, and with `noted` the databases that have the minimizers of each.
template <bool noted>
class run_writer {
 public:
  MGPU_HD run_writer(kraken2_run* runs, uint64_t* minimizers, uint32_t* databases, bool join)
      : runs_(runs), minimizers_(minimizers), databases_(databases), join_(join) {}

  /// Adds an entry of this kind. An entry with the previous minimizer continues any run of that minimizer.
  MGPU_HD void more(kraken2_kind kind) {
    const bool goes_on = entries_ > 0 && (kind == ambiguous_letters) == (kind_ == ambiguous_letters);
    if (!goes_on) begin(kind, 0);
    ++entries_;
  }

  /// Adds an entry with a new minimizer, which these databases have.
  MGPU_HD void next(uint64_t minimizer, uint32_t node, uint32_t databases) {
    if (!(join_ && entries_ > 0 && kind_ == next_minimizer && node_ == node)) {
      begin(next_minimizer, node);
      if (minimizers_ != nullptr) minimizers_[count_] = minimizer;
    }
    ++entries_;
    ++groups_;
    if (noted) set_ |= databases;
  }

  /// Writes the last run and returns the number of runs.
  MGPU_HD uint32_t finish() {
    begin(next_minimizer, 0);
    return count_;
  }

 private:
  MGPU_HD void begin(kraken2_kind kind, uint32_t node) {
    if (entries_ > 0) {
      if (noted) databases_[count_] = set_;
      runs_[count_++] = {kind_ << kraken2_count_bits | entries_, node_, groups_};
    }
    kind_ = kind, node_ = node, entries_ = 0, groups_ = 0, set_ = 0;
  }

  kraken2_run* runs_;
  uint64_t* minimizers_;
  uint32_t* databases_;
  uint32_t count_ = 0;
  uint32_t kind_ = next_minimizer;
  uint32_t node_ = 0;
  uint32_t entries_ = 0;
  uint32_t groups_ = 0;
  uint32_t set_ = 0;
  bool join_;
};

/// Writes the runs of a sequence, with an entry for each k-mer, and returns their number. A k-mer in which
/// only the first letter is not a base has the minimizer of its other l-mers, if there are any.
template <kraken2_lookup tables>
MGPU_HD uint32_t find_runs(const kraken2_arguments& a, const kraken2_sequence& sequence) {
  constexpr bool noted = tables == kraken2_lookup::noted;
  const kraken2_rule& rule = a.rule;
  if (sequence.length < rule.k) return 0;
  const uint32_t least_bases = rule.k > rule.l ? rule.k - 1 : rule.k;
  const uint8_t* letters = a.letters + sequence.start;
  uint64_t* minimizers = a.minimizers == nullptr ? nullptr : a.minimizers + sequence.start;
  uint32_t* databases = noted ? a.databases + sequence.start : nullptr;
  run_writer<noted> out(a.runs + sequence.start, minimizers, databases, a.join != 0);
  smallest_lmer smallest(letters, rule);
  uint64_t last = ~uint64_t{0}, word = 0;
  for (uint32_t at = 0; at < sequence.length; ++at) {
    word = at % 8 == 0 ? reinterpret_cast<const uint64_t*>(letters)[at / 8] : word >> 8;
    smallest.take(word & 0xff, at);
    if (at + 1 < rule.k) continue;
    if (smallest.bases() < least_bases) {
      out.more(ambiguous_letters);
      continue;
    }
    const uint64_t minimizer = smallest.least() ^ rule.toggle;
    if (minimizer == last) {
      out.more(same_minimizer);
    } else {
      last = minimizer;
      uint32_t having = 0;
      const uint32_t node = tables == kraken2_lookup::single
                                ? look_up(minimizer, rule, a.tables.table[0])
                                : look_up_in_all(minimizer, rule, a.tables, having);
      out.next(minimizer, node, having);
    }
  }
  return out.finish();
}

/// Finds the runs of sequences, with one thread per sequence in O(bases) for each table.
/// Cells are read at random addresses, and other threads run meanwhile. The arguments stay in constant memory, since a
/// copy in local memory would take a kilobyte of each thread. No shared memory; 56 registers limit
/// the occupancy to about half of the threads of a multiprocessor.
template <kraken2_lookup tables>
__global__ void __launch_bounds__(kraken2_threads)
    kraken2_runs_kernel(const __grid_constant__ kraken2_arguments a) {
  block<kraken2_threads> me;
  const uint64_t step = uint64_t{me.count()} * kraken2_threads;
  for (uint64_t i = uint64_t{me.index()} * kraken2_threads + me.thread(); i < a.count; i += step) {
    a.counts[i] = find_runs<tables>(a, a.sequences[i]);
  }
}

/// The value of a search that leaves the range of cells. The host continues it.
constexpr uint32_t unfinished_search = ~uint32_t{0};

/// Returns the value that a search in a range finds.
MGPU_HD uint32_t search_range(uint64_t hash, const kraken2_searches& a) {
  const uint64_t key = hash >> (64 - a.table.key_bits);
  for (uint64_t at = home(hash, a.table); at < a.end; ++at) {
    uint32_t value;
    if (ends_search(at - a.first, key, a.table, value)) return value;
  }
  return unfinished_search;
}

/// Performs searches, with one thread per search. Cells are read in the order of the host's batches, which sort
/// searches by stretches of cells. No shared memory; full occupancy.
__global__ void __launch_bounds__(kraken2_threads) kraken2_search_kernel(kraken2_searches a) {
  block<kraken2_threads> me;
  const uint64_t step = uint64_t{me.count()} * kraken2_threads;
  for (uint64_t i = uint64_t{me.index()} * kraken2_threads + me.thread(); i < a.count; i += step) {
    a.values[i] = search_range(a.hashes[i], a);
  }
}

/// Copies the runs of sequences so that there are no gaps between them, with one warp per sequence.
/// No shared memory; full occupancy.
__global__ void __launch_bounds__(kraken2_threads) kraken2_gather_kernel(kraken2_gathering a) {
  block<kraken2_threads> me;
  constexpr uint32_t warps = kraken2_threads / 32;
  const uint32_t warp = me.thread() / 32, lane = me.thread() % 32;
  const uint64_t step = uint64_t{me.count()} * warps;
  for (uint64_t i = uint64_t{me.index()} * warps + warp; i < a.count; i += step) {
    const uint64_t from = a.sequences[i].start, to = a.offsets[i];
    for (uint32_t run = lane; run < a.counts[i]; run += 32) {
      a.runs_out[to + run] = a.runs[from + run];
      if (a.minimizers != nullptr) a.minimizers_out[to + run] = a.minimizers[from + run];
      if (a.databases != nullptr) a.databases_out[to + run] = a.databases[from + run];
    }
  }
}

}  // namespace mgpu
