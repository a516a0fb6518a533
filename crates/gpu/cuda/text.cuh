// Text of FASTA and FASTQ on the device: finds lines, checks records, and packs letters.
//
// The letters of all sequences of a text form one stream: 2 bits a letter, the first in the top bits of a word, and
// one bit a letter (a cut) that is set where no k-mer may contain both this letter and the one before. A header sets
// the cut of the next letter; a letter that is not a base sets its own and the next one. The rules are those of
// crates/io/src/chunk/{fasta,fastq}.rs. Whatever these treat as an error or clean up is counted as odd, and the host
// reads the text again.
//
// A tile of 4,096 bytes is read by a block of threads, 16 bytes a thread.
#pragma once

#include "block.cuh"
#include "kmer.cuh"

namespace mgpu {

constexpr int text_threads = 256;
constexpr uint32_t thread_bytes = 16;
constexpr uint32_t text_tile = text_threads * thread_bytes;

enum text_format : uint32_t { text_fasta, text_fastq };

/// A text and its tiles. Positions are offsets in the buffer, which is aligned to 16 bytes.
struct text_arguments {
  const uint8_t* text;
  uint32_t start, end;  // the text is text[start..end]
  uint32_t first_tile;  // start / text_tile
  uint32_t format;      // a text_format
  bool in_line;         // FASTA: the first line is sequence whatever its first letter
  uint8_t least_quality;  // FASTQ: letters with a lower quality byte are not bases; 0 for none
  const uint64_t* lines_before;    // the number of line ends before each tile
  uint32_t* line_ends;             // the position of each line end
  uint32_t line_room;              // the number of positions that `line_ends` holds
  uint32_t* counts;                // output of the counting kernels: a number for each tile
  const uint64_t* letters_before;  // the number of letters before each tile
  uint64_t* bases;                 // output: 32 letters a word, zero before
  uint64_t* cuts;                  // output: 64 letters a word, zero before
  uint64_t* totals;                // output: the numbers below are added
};

/// The items of text_arguments.totals.
enum text_total : uint32_t { total_odd, total_records, total_not_bases, total_low_quality, text_totals };

/// The 16 bytes of a thread; those outside the text are line ends that do not count.
struct text_piece {
  uint8_t bytes[thread_bytes];
  uint32_t at;            // the position of the first byte
  uint32_t from, to;      // the range of bytes that are text
};

template <class Block>
MGPU_HD text_piece read_piece(Block& me, const text_arguments& a) {
  text_piece piece;
  piece.at = (a.first_tile + me.index()) * text_tile + me.thread() * thread_bytes;
  const uint32_t begin = piece.at > a.start ? piece.at : a.start;
  const uint32_t end = piece.at + thread_bytes < a.end ? piece.at + thread_bytes : a.end;
  piece.from = begin < end ? begin - piece.at : 0;
  piece.to = begin < end ? end - piece.at : 0;
  if (piece.from < piece.to) {
    const uint4 words = *reinterpret_cast<const uint4*>(a.text + piece.at);
    const uint32_t all[4] = {words.x, words.y, words.z, words.w};
    MGPU_UNROLL
    for (uint32_t i = 0; i < thread_bytes; ++i) piece.bytes[i] = static_cast<uint8_t>(all[i / 4] >> (i % 4 * 8));
  }
  return piece;
}

/// Calls `visit(i, byte)` for each byte of a piece that is text.
template <class Visit>
MGPU_HD void for_bytes(const text_piece& piece, Visit visit) {
  MGPU_UNROLL
  for (uint32_t i = 0; i < thread_bytes; ++i) {
    if (i >= piece.from && i < piece.to) visit(i, piece.bytes[i]);
  }
}

MGPU_HD uint32_t count_line_ends(const text_piece& piece) {
  uint32_t count = 0;
  for_bytes(piece, [&](uint32_t, uint8_t byte) { count += byte == '\n'; });
  return count;
}

/// Counts the line ends of each tile. Also sets the item after the last tile's to 0.
static __global__ void __launch_bounds__(text_threads) count_lines_kernel(text_arguments a) {
  block<text_threads> me;
  uint32_t sum;
  me.sum_before(count_line_ends(read_piece(me, a)), sum);
  if (me.thread() == 0) {
    a.counts[me.index()] = sum;
    if (me.index() + 1 == me.count()) a.counts[me.count()] = 0;
  }
}

/// Writes the position of each line end for which there is room.
static __global__ void __launch_bounds__(text_threads) line_ends_kernel(text_arguments a) {
  block<text_threads> me;
  const text_piece piece = read_piece(me, a);
  uint32_t sum;
  uint64_t line = a.lines_before[me.index()] + me.sum_before(count_line_ends(piece), sum);
  for_bytes(piece, [&](uint32_t i, uint8_t byte) {
    if (byte != '\n') return;
    if (line < a.line_room) a.line_ends[line] = piece.at + i;
    ++line;
  });
}

enum line_kind : uint32_t { line_header, line_sequence, line_other, line_quality };

/// The start of a line.
MGPU_HD uint32_t line_start(const text_arguments& a, uint64_t line) {
  return line == 0 ? a.start : a.line_ends[line - 1] + 1;
}

MGPU_HD uint32_t kind_of_line(const text_arguments& a, uint64_t line, uint32_t start) {
  if (a.format == text_fastq) return static_cast<uint32_t>(line & 3);
  if (start >= a.end || (line == 0 && a.in_line)) return line_sequence;
  const uint8_t first = a.text[start];
  return first == '>' ? line_header : first == ';' ? line_other : line_sequence;
}

/// The length of a line without its end.
MGPU_HD uint32_t line_length(const text_arguments& a, uint64_t line) {
  const uint32_t start = line_start(a, line), end = a.line_ends[line];
  return end - start - (end > start && a.text[end - 1] == '\r');
}

/// Checks the lines of each FASTQ record, one record a thread.
static __global__ void __launch_bounds__(text_threads) check_records_kernel(text_arguments a, uint32_t records) {
  block<text_threads> me;
  const uint32_t record = me.index() * text_threads + me.thread();
  if (record >= records) return;
  const uint64_t line = uint64_t{record} * 4;
  const bool good = a.text[line_start(a, line)] == '@' && a.text[line_start(a, line + 2)] == '+' &&
                    line_length(a, line + 1) == line_length(a, line + 3);
  if (!good) me.add(&a.totals[total_odd], uint64_t{1});
}

/// The kinds of the bytes of sequence lines.
enum letter_kind : uint32_t { letter_blank, letter_base, letter_other, letter_odd };

MGPU_HD uint32_t kind_of_letter(const text_arguments& a, uint32_t position, uint8_t byte, bool first) {
  if (is_base(byte)) return letter_base;
  const bool fastq = a.format == text_fastq;
  if (byte == '\r' && (!fastq || a.text[position + 1] == '\n')) return letter_blank;
  if (byte == ' ' || byte == '\t') return fastq ? letter_odd : letter_blank;
  if (byte < '!' || byte > '~' || byte == '>' || byte == '@' || (first && byte == '+')) return letter_odd;
  return letter_other;
}

/// Visits the lines and letters of this thread's bytes: `header()` at the first byte of each header,
/// `letter(kind, quality)` for each byte of a sequence that is not blank. Returns the number of odd bytes.
template <class Block, class Header, class Letter>
MGPU_HD uint32_t visit_piece(Block& me, const text_arguments& a, Header header, Letter letter) {
  const text_piece piece = read_piece(me, a);
  uint32_t sum, odd = 0;
  uint64_t line = a.lines_before[me.index()] + me.sum_before(count_line_ends(piece), sum);
  if (piece.from == piece.to) return 0;
  uint32_t start = line_start(a, line), kind = kind_of_line(a, line, start);
  for_bytes(piece, [&](uint32_t i, uint8_t byte) {
    const uint32_t position = piece.at + i;
    if (byte == '\n') {
      start = position + 1;
      kind = kind_of_line(a, ++line, start);
    } else if (kind == line_sequence) {
      // In FASTA within a line, the first byte is like any other.
      const bool first = position == start && a.format == text_fasta && !(line == 0 && a.in_line);
      uint32_t what = kind_of_letter(a, position, byte, first);
      if (what == letter_odd) {
        ++odd;
      } else if (what != letter_blank) {
        uint8_t quality = 0xff;
        if (a.least_quality != 0) {
          const uint32_t there = line_start(a, line + 2) + (position - start);
          quality = there < a.end ? a.text[there] : 0;
        }
        letter(byte, what == letter_base, quality);
      }
    } else if (kind == line_header && position == start) {
      header();
    } else if (kind == line_quality && a.least_quality != 0 && (byte < '!' || byte > '~')) {
      odd += !(byte == '\r' && a.text[position + 1] == '\n');
    }
  });
  return odd;
}

/// Counts the letters of each tile. Also sets the item after the last tile's to 0.
static __global__ void __launch_bounds__(text_threads) count_letters_kernel(text_arguments a) {
  block<text_threads> me;
  uint32_t letters = 0, sum;
  const uint32_t odd =
      visit_piece(me, a, [] {}, [&](uint8_t, bool, uint8_t) { ++letters; });
  if (odd != 0) me.add(&a.totals[total_odd], uint64_t{odd});
  me.sum_before(letters, sum);
  if (me.thread() == 0) {
    a.counts[me.index()] = sum;
    if (me.index() + 1 == me.count()) a.counts[me.count()] = 0;
  }
}

/// Packs the letters of each tile.
static __global__ void __launch_bounds__(text_threads) pack_letters_kernel(text_arguments a) {
  // The letters of a tile and their cuts, from the start of the word that its first letter is in.
  constexpr uint32_t base_words = text_tile / 32 + 2, cut_words = text_tile / 64 + 3;
  MGPU_SHARED uint64_t bases[base_words];
  MGPU_SHARED uint64_t cuts[cut_words];
  block<text_threads> me;
  for (uint32_t i = me.thread(); i < base_words; i += me.threads()) bases[i] = 0;
  for (uint32_t i = me.thread(); i < cut_words; i += me.threads()) cuts[i] = 0;

  // A thread's letters and cuts, bit by bit; then they are shifted to their position.
  uint32_t count = 0, codes = 0, breaks = 0, records = 0, others = 0, low = 0;
  visit_piece(
      me, a,
      [&] {
        breaks |= 1u << count;
        ++records;
      },
      [&](uint8_t byte, bool base, uint8_t quality) {
        const bool is_low = base && quality < a.least_quality;
        codes = codes << 2 | base_code(byte);
        if (!base || is_low) breaks |= 3u << count;
        others += !base;
        low += is_low;
        ++count;
      });
  uint32_t all;
  const uint32_t before = me.sum_before(count, all);
  const uint64_t first = a.letters_before[me.index()];
  me.sync();
  if (count != 0) {
    const uint32_t at = static_cast<uint32_t>(first % 32) + before;
    const uint64_t aligned = uint64_t{codes} << (64 - 2 * count);
    const uint32_t shift = 2 * (at % 32);
    me.set(&bases[at / 32], aligned >> shift);
    if (shift + 2 * count > 64) me.set(&bases[at / 32 + 1], aligned << (64 - shift));
  }
  if (breaks != 0) {
    const uint32_t at = static_cast<uint32_t>(first % 64) + before;
    me.set(&cuts[at / 64], uint64_t{breaks} << (at % 64));
    if (at % 64 > 64 - 18) me.set(&cuts[at / 64 + 1], uint64_t{breaks} >> (64 - at % 64));
  }
  me.sync();
  for (uint32_t i = me.thread(); i < base_words; i += me.threads()) {
    if (bases[i] != 0) me.set(&a.bases[first / 32 + i], bases[i]);
  }
  for (uint32_t i = me.thread(); i < cut_words; i += me.threads()) {
    if (cuts[i] != 0) me.set(&a.cuts[first / 64 + i], cuts[i]);
  }
  const uint32_t sums[3] = {records, others, low};
  MGPU_UNROLL
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t sum;
    me.sum_before(sums[i], sum);
    if (me.thread() == 0 && sum != 0) me.add(&a.totals[total_records + i], uint64_t{sum});
  }
}

}  // namespace mgpu
