// Inflation of BGZF blocks (RFC 1951; SAM specification, section 4.1), 32 threads a block.
//
// Huffman codes are decoded one after the other, so all threads decode the same codes from the same registers;
// each keeps one of 32 tokens. A token is up to three literals, or a copy of earlier text. Then the threads write
// their literals at positions that a prefix sum gives, and make the copies together.
//
// A block is accepted only if it is what any inflater accepts: complete codes, distances within the text, the
// stated size, the CRC-32, and no byte left over. For all others the host's inflater decides and words the error.
#pragma once

#include "bits.cuh"
#include "block.cuh"

namespace mgpu {

/// A compressed block: the position and size of its DEFLATE data, which its CRC-32 follows, and of its text.
struct inflate_block {
  uint64_t from;
  uint64_t to;
  uint32_t size;
  uint32_t text;
};

struct inflate_arguments {
  const uint32_t* bytes;  // readable for `inflate_slack` bytes after the last block
  const inflate_block* blocks;
  uint8_t* text;      // output
  uint32_t* damaged;  // output: the number of blocks that were not accepted is added
};

constexpr uint32_t inflate_threads = 32;
/// The number of bytes that may be read after a block: 32 tokens of at most 6 bytes, and the words read ahead.
constexpr uint32_t inflate_slack = 256;

/// The bits that select an entry of the table of literals and lengths; longer codes are decoded bit by bit.
constexpr int literal_bits = 9;
/// The bits that select an entry of the table of distances.
constexpr int distance_bits = 8;
constexpr int max_code_bits = 15, max_length_bits = 7;
constexpr int literal_symbols = 288, distance_symbols = 32, length_symbols = 19;

// An entry of a table has the number of bits that it takes in its bits 0 to 3, and its kind in bits 4 to 7:
// - literals: the kind is their number, 1 to 3; the letters follow from bit 8 on;
// - a length or distance: bits 8 to 11 have the number of extra bits, the higher ones the base.
constexpr uint32_t kind_copy = 0, kind_end = 4, kind_long = 5, kind_bad = 6;

MGPU_HD uint32_t entry_bits(uint32_t entry) { return entry & 15; }
MGPU_HD uint32_t entry_kind(uint32_t entry) { return entry >> 4 & 15; }
MGPU_HD uint32_t make_entry(uint32_t kind, uint32_t bits, uint32_t value) {
  return bits | kind << 4 | value << 8;
}

/// The low `count` bits of a word, `count` below 32.
MGPU_HD uint32_t low_bits(uint32_t word, uint32_t count) { return word & ((1u << count) - 1); }

/// A reader of bits, the lowest of each word first. All threads of a warp have the same.
class bit_reader {
 public:
  MGPU_HD bit_reader(const uint32_t* words, uint64_t byte, uint32_t size)
      : words_(words + byte / 4), end_(static_cast<uint32_t>(byte % 4 + size) * 8) {
    seek(static_cast<uint32_t>(byte % 4) * 8);
  }

  /// The next 32 bits.
  MGPU_HD uint32_t peek() const {
    return funnel(low_, high_, at_);
  }

  /// Passes at most 32 bits.
  MGPU_HD void skip(uint32_t bits) {
    at_ += bits;
    if (at_ >= 32) {
      at_ -= 32;
      low_ = high_;
      high_ = ahead_;
      ahead_ = words_[next_++];
    }
  }

  MGPU_HD uint32_t take(uint32_t bits) {
    const uint32_t taken = low_bits(peek(), bits);
    skip(bits);
    return taken;
  }

  /// Passes the bits that are left of a byte.
  MGPU_HD void align() { skip((0u - at_) & 7); }

  /// Whether more bits were taken than there are.
  MGPU_HD bool is_past() const { return position() > end_; }
  MGPU_HD bool is_at_end() const { return position() == end_; }
  /// The number of whole bytes that are left.
  MGPU_HD uint32_t bytes_left() const { return is_past() ? 0 : (end_ - position()) / 8; }

  /// The byte that is `offset` bytes after the position, which is aligned.
  MGPU_HD uint8_t byte(uint32_t offset) const {
    return reinterpret_cast<const uint8_t*>(words_)[position() / 8 + offset];
  }
  MGPU_HD void skip_bytes(uint32_t bytes) { seek(position() + 8 * bytes); }

 private:
  MGPU_HD uint32_t position() const { return 32 * (next_ - 3) + at_; }
  MGPU_HD void seek(uint32_t bit) {
    next_ = bit / 32;
    at_ = bit % 32;
    low_ = words_[next_++];
    high_ = words_[next_++];
    ahead_ = words_[next_++];
  }

  const uint32_t* words_;
  uint32_t end_;
  uint32_t low_, high_, ahead_;
  uint32_t at_, next_;
};

/// A canonical Huffman code: the symbols in the order of their codes, and for each length the first code, the number
/// of codes, and the place of the first among the symbols.
template <int Symbols>
struct huffman_code {
  uint16_t symbols[Symbols];
  uint16_t first[max_code_bits + 1];
  uint16_t count[max_code_bits + 1];
  uint16_t place[max_code_bits + 1];

  /// The symbol of the code at the low end of `window`, or -1; the number of its bits goes to `bits`. Lengths from
  /// `from` to `to` are tried.
  MGPU_HD int decode(uint32_t window, int from, int to, uint32_t& bits) const {
    const uint32_t from_top = reversed(window);
    for (int length = from; length <= to; ++length) {
      const uint32_t code = (from_top >> (32 - length)) - first[length];
      if (code < count[length]) {
        bits = static_cast<uint32_t>(length);
        return symbols[place[length] + code];
      }
    }
    return -1;
  }
};

/// The shared memory of a block.
struct inflate_shared {
  union {
    uint32_t literals[1 << literal_bits];
    uint32_t crc[4][256];
  };
  uint32_t distances[1 << distance_bits];
  huffman_code<literal_symbols> literal_code;
  huffman_code<distance_symbols> distance_code;
  uint8_t lengths[literal_symbols + distance_symbols];
  /// Copies: the position, and length | distance << 16.
  uint32_t copies[32][2];
};

/// Makes the code of symbols with these lengths. Returns false unless it is complete, or has no symbol, or has one
/// symbol of one bit. The threads of the block work together.
template <int Symbols, class Block>
MGPU_HD bool make_code(Block& me, const uint8_t* lengths, int symbols, huffman_code<Symbols>& code) {
  uint32_t next = 0, place = 0, used = 0;
  for (int length = 1; length <= max_code_bits; ++length) {
    uint32_t count = 0;
    for (int row = 0; row < symbols; row += 32) {
      const int symbol = row + static_cast<int>(me.thread());
      const bool mine = symbol < symbols && lengths[symbol] == length;
      const uint32_t all = me.ballot(mine);
      const uint32_t before = ones(all & ((1u << me.thread()) - 1));
      if (mine) code.symbols[place + count + before] = static_cast<uint16_t>(symbol);
      count += ones(all);
    }
    next <<= 1;
    if (me.thread() == 0) {
      code.first[length] = static_cast<uint16_t>(next);
      code.count[length] = static_cast<uint16_t>(count);
      code.place[length] = static_cast<uint16_t>(place);
    }
    next += count;
    place += count;
    used += count << (max_code_bits - length);
  }
  me.sync();
  return used == 1u << max_code_bits || place == 0 || (place == 1 && code.count[1] == 1);
}

/// The entry of a symbol of literals and lengths.
MGPU_HD uint32_t literal_entry(int symbol, uint32_t bits) {
  if (symbol < 0) return make_entry(kind_bad, 0, 0);
  if (symbol < 256) return make_entry(1, bits, static_cast<uint32_t>(symbol));
  if (symbol == 256) return make_entry(kind_end, bits, 0);
  if (symbol > 285) return make_entry(kind_bad, 0, 0);
  if (symbol == 285) return make_entry(kind_copy, bits, 258u << 4);
  const uint32_t step = static_cast<uint32_t>(symbol) - 257;
  if (step < 8) return make_entry(kind_copy, bits, (step + 3) << 4);
  const uint32_t extra = step / 4 - 1;
  return make_entry(kind_copy, bits, extra | (((4 + step % 4) << extra) + 3) << 4);
}

/// The entry of a symbol of distances.
MGPU_HD uint32_t distance_entry(int symbol, uint32_t bits) {
  if (symbol < 0 || symbol > 29) return make_entry(kind_bad, 0, 0);
  const uint32_t step = static_cast<uint32_t>(symbol);
  if (step < 4) return make_entry(kind_copy, bits, (step + 1) << 4);
  const uint32_t extra = step / 2 - 1;
  return make_entry(kind_copy, bits, extra | (((2 + step % 2) << extra) + 1) << 4);
}

/// The entry for a window whose low `literal_bits` bits are `index`: as many literals as have whole codes there, up
/// to three, or what the first code means.
MGPU_HD uint32_t literals_of(const huffman_code<literal_symbols>& code, uint32_t index) {
  uint32_t letters = 0, count = 0, taken = 0;
  while (count < 3 && taken < literal_bits) {
    uint32_t bits = 0;
    const int symbol = code.decode(index >> taken, 1, literal_bits - static_cast<int>(taken), bits);
    if (count == 0 && symbol < 0) return make_entry(kind_long, 0, 0);
    if (count == 0 && symbol >= 256) return literal_entry(symbol, bits);
    if (symbol < 0 || symbol >= 256) break;
    letters |= static_cast<uint32_t>(symbol) << (8 * count);
    taken += bits;
    ++count;
  }
  return make_entry(count, taken, letters);
}

/// Makes the codes and tables of the lengths in `shared`; returns false if a code is not accepted.
template <class Block>
MGPU_HD bool make_tables(Block& me, inflate_shared& shared, int literals, int distances) {
  const bool good = make_code(me, shared.lengths, literals, shared.literal_code) &
                    make_code(me, shared.lengths + literals, distances, shared.distance_code);
  if (!good) return false;
  for (uint32_t i = me.thread(); i < 1u << literal_bits; i += inflate_threads) {
    shared.literals[i] = literals_of(shared.literal_code, i);
  }
  for (uint32_t i = me.thread(); i < 1u << distance_bits; i += inflate_threads) {
    uint32_t bits = 0;
    const int symbol = shared.distance_code.decode(i, 1, distance_bits, bits);
    shared.distances[i] = symbol < 0 ? make_entry(kind_long, 0, 0) : distance_entry(symbol, bits);
  }
  me.sync();
  return true;
}

/// Sets the lengths of the fixed codes (RFC 1951, section 3.2.6).
template <class Block>
MGPU_HD bool fixed_tables(Block& me, inflate_shared& shared) {
  for (uint32_t i = me.thread(); i < literal_symbols + distance_symbols; i += inflate_threads) {
    shared.lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : i < 288 ? 8 : 5;
  }
  me.sync();
  return make_tables(me, shared, literal_symbols, distance_symbols);
}

/// The symbol whose length is given as number `i` (RFC 1951, section 3.2.7): 16, 17, 18, 0, 8, 7, 9, 6, 10, ...
MGPU_HD uint32_t length_symbol(uint32_t i) {
  if (i < 3) return 16 + i;
  if (i == 3) return 0;
  return i % 2 == 0 ? 8 + (i - 4) / 2 : 7 - (i - 4) / 2;
}

/// Reads the lengths of a block's own codes (RFC 1951, section 3.2.7).
template <class Block>
MGPU_HD bool own_tables(Block& me, inflate_shared& shared, bit_reader& in) {
  const uint32_t literals = 257 + in.take(5), distances = 1 + in.take(5), given = 4 + in.take(4);
  if (literals > literal_symbols) return false;
  for (uint32_t i = 0; i < length_symbols; ++i) {
    const uint32_t length = i < given ? in.take(3) : 0;
    if (me.thread() == 0) shared.lengths[length_symbol(i)] = static_cast<uint8_t>(length);
  }
  me.sync();
  // The code of the lengths is needed before that of the distances is made.
  auto& code = shared.distance_code;
  if (!make_code(me, shared.lengths, length_symbols, code)) return false;
  const uint32_t all = literals + distances;
  uint32_t last = 0;
  for (uint32_t at = 0; at < all;) {
    uint32_t bits = 0, repeat = 1;
    const int symbol = code.decode(in.peek(), 1, max_length_bits, bits);
    if (symbol < 0) return false;
    in.skip(bits);
    uint32_t length = static_cast<uint32_t>(symbol);
    if (symbol == 16) {
      if (at == 0) return false;
      length = last;
      repeat = 3 + in.take(2);
    } else if (symbol > 16) {
      length = 0;
      repeat = symbol == 17 ? 3 + in.take(3) : 11 + in.take(7);
    }
    if (at + repeat > all) return false;
    for (uint32_t i = me.thread(); i < repeat; i += inflate_threads) {
      shared.lengths[at + i] = static_cast<uint8_t>(length);
    }
    last = length;
    at += repeat;
  }
  me.sync();
  return make_tables(me, shared, static_cast<int>(literals), static_cast<int>(distances));
}

/// The entry for a window, by a table of `Bits` bits or, for a longer code, bit by bit; `make` makes an entry of a symbol.
template <int Bits, int Symbols, class Make>
MGPU_HD uint32_t look_up(const uint32_t* table, const huffman_code<Symbols>& code, uint32_t window, Make make) {
  const uint32_t entry = table[low_bits(window, Bits)];
  if (entry_kind(entry) != kind_long) return entry;
  uint32_t bits = 0;
  const int symbol = code.decode(window, Bits + 1, max_code_bits, bits);
  return make(symbol, bits);
}

/// Takes the length or distance of an entry, which is that of the next bits.
MGPU_HD uint32_t take_value(bit_reader& in, uint32_t entry) {
  const uint32_t bits = entry_bits(entry), extra = entry >> 8 & 15;
  const uint32_t value = (entry >> 12) + low_bits(in.peek() >> bits, extra);
  in.skip(bits + extra);
  return value;
}

/// One of 32 tokens: literals, or a copy.
struct inflate_token {
  uint32_t length = 0;
  uint32_t distance = 0;  // 0 for literals
  uint32_t letters = 0;
};

/// Decodes tokens until there are 32, or the DEFLATE block ends; this thread keeps the one of its number. Returns
/// their number, or -1 if the data are damaged. All threads do the same.
MGPU_HD int decode_tokens(const inflate_shared& shared, bit_reader& in, uint32_t thread,
                          inflate_token& mine, bool& ended) {
  uint32_t number = 0;
  while (number < inflate_threads) {
    const uint32_t entry = look_up<literal_bits>(shared.literals, shared.literal_code, in.peek(), literal_entry);
    const uint32_t kind = entry_kind(entry);
    if (kind - 1 < 3) {
      in.skip(entry_bits(entry));
      if (thread == number) mine = {kind, 0, entry >> 8};
    } else if (kind == kind_copy) {
      const uint32_t length = take_value(in, entry);
      const uint32_t far =
          look_up<distance_bits>(shared.distances, shared.distance_code, in.peek(), distance_entry);
      if (entry_kind(far) != kind_copy) return -1;
      const uint32_t distance = take_value(in, far);
      if (thread == number) mine = {length, distance, 0};
    } else if (kind == kind_end) {
      in.skip(entry_bits(entry));
      ended = true;
      break;
    } else {
      return -1;
    }
    ++number;
  }
  return static_cast<int>(number);
}

/// Inflates the rest of a DEFLATE block by the tables in `shared` to `text`, which has `room` bytes and is filled up to
/// `filled`. Returns false if the data are damaged.
template <class Block>
MGPU_HD bool inflate_codes(Block& me, inflate_shared& shared, bit_reader& in, uint8_t* text,
                           uint32_t room, uint32_t& filled) {
  bool ended = false;
  while (!ended) {
    inflate_token mine;
    const int number = decode_tokens(shared, in, me.thread(), mine, ended);
    if (number < 0 || in.is_past()) return false;
    uint32_t sum;
    const uint32_t at = filled + me.sum_before(mine.length, sum);
    const bool is_copy = mine.distance != 0;
    if (filled + sum > room || me.ballot(is_copy && mine.distance > at) != 0) return false;
    if (!is_copy) {
      for (uint32_t i = 0; i < mine.length; ++i) text[at + i] = static_cast<uint8_t>(mine.letters >> (8 * i));
    }
    const uint32_t copies = me.ballot(is_copy);
    if (is_copy) {
      uint32_t* place = shared.copies[ones(copies & ((1u << me.thread()) - 1))];
      place[0] = at;
      place[1] = mine.length | mine.distance << 16;
    }
    me.sync();
    const uint32_t count = ones(copies);
    for (uint32_t i = 0; i < count; ++i) {
      const uint32_t to = shared.copies[i][0], length = shared.copies[i][1] & 0xffff;
      const uint32_t distance = shared.copies[i][1] >> 16;
      // A source within the text of these tokens may be that of an earlier copy.
      if (i > 0 && to - distance + length > filled) me.sync();
      if (distance >= length) {
        for (uint32_t j = me.thread(); j < length; j += inflate_threads) text[to + j] = text[to + j - distance];
      } else {
        for (uint32_t j = me.thread(); j < length; j += inflate_threads) {
          text[to + j] = text[to - distance + j % distance];
        }
      }
    }
    filled += sum;
    me.sync();
  }
  return true;
}

/// Copies a stored block (RFC 1951, section 3.2.4).
template <class Block>
MGPU_HD bool inflate_stored(Block& me, bit_reader& in, uint8_t* text, uint32_t room, uint32_t& filled) {
  in.align();
  if (in.bytes_left() < 4) return false;
  const uint32_t length = in.take(16), check = in.take(16);
  if ((length ^ check) != 0xffff || length > in.bytes_left() || length > room - filled) return false;
  for (uint32_t i = me.thread(); i < length; i += inflate_threads) text[filled + i] = in.byte(i);
  in.skip_bytes(length);
  filled += length;
  me.sync();
  return true;
}

/// Inflates all DEFLATE blocks of a BGZF block; returns false if these are damaged or not `room` bytes of text.
template <class Block>
MGPU_HD bool inflate_all(Block& me, inflate_shared& shared, bit_reader& in, uint8_t* text, uint32_t room) {
  uint32_t filled = 0;
  for (bool last = false; !last;) {
    last = in.take(1) != 0;
    const uint32_t kind = in.take(2);
    bool good = false;
    if (kind == 0) {
      good = inflate_stored(me, in, text, room, filled);
    } else if (kind < 3 && (kind == 1 ? fixed_tables(me, shared) : own_tables(me, shared, in))) {
      good = inflate_codes(me, shared, in, text, room, filled);
    }
    if (!good || in.is_past()) return false;
  }
  in.align();
  return in.is_at_end() && filled == room;
}

/// The polynomial of CRC-32 (RFC 1952, section 8), the highest power in the lowest bit.
constexpr uint32_t crc_polynomial = 0xedb88320u;

/// The product of two polynomials modulo that of the CRC-32.
MGPU_HD uint32_t crc_product(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int i = 0; i < 32; ++i) {
    product ^= a & 0x80000000u ? b : 0;
    a <<= 1;
    b = b >> 1 ^ (b & 1 ? crc_polynomial : 0);
  }
  return product;
}

/// x to the power of 8 `bytes`: the factor of a CRC-32 that `bytes` zero bytes follow.
MGPU_HD uint32_t crc_shift(uint32_t bytes) {
  uint32_t power = 0x80000000u, square = 0x00800000u;
  for (; bytes != 0; bytes >>= 1) {
    if (bytes & 1) power = crc_product(power, square);
    square = crc_product(square, square);
  }
  return power;
}

/// The CRC-32 of a text. Each thread takes a stretch of it, with tables that take the place of those of the codes.
template <class Block>
MGPU_HD uint32_t crc_of(Block& me, inflate_shared& shared, const uint8_t* text, uint32_t size) {
  me.sync();
  for (uint32_t i = me.thread(); i < 256; i += inflate_threads) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? crc_polynomial : 0);
    shared.crc[0][i] = crc;
  }
  me.sync();
  for (uint32_t i = me.thread(); i < 256; i += inflate_threads) {
    for (int row = 1; row < 4; ++row) {
      const uint32_t before = shared.crc[row - 1][i];
      shared.crc[row][i] = before >> 8 ^ shared.crc[0][before & 255];
    }
  }
  me.sync();
  // Stretches begin at addresses that are multiples of 16, except for the first.
  const uint32_t lead = static_cast<uint32_t>(-reinterpret_cast<uintptr_t>(text)) & 15;
  const uint32_t each = ((size + inflate_threads - 1) / inflate_threads + 15) / 16 * 16;
  const auto bound = [&](uint32_t number) {
    const uint32_t at = number == 0 ? 0 : lead + number * each;
    return at < size ? at : size;
  };
  uint32_t at = bound(me.thread());
  const uint32_t end = me.thread() + 1 == inflate_threads ? size : bound(me.thread() + 1);
  uint32_t crc = me.thread() == 0 ? 0xffffffffu : 0;
  const auto byte = [&] { crc = crc >> 8 ^ shared.crc[0][(crc ^ text[at++]) & 255]; };
  while (at < end && ((reinterpret_cast<uintptr_t>(text) + at) & 15) != 0) byte();
  for (; at + 16 <= end; at += 16) {
    const uint4 words = *reinterpret_cast<const uint4*>(text + at);
    for (const uint32_t word : {words.x, words.y, words.z, words.w}) {
      crc ^= word;
      crc = shared.crc[3][crc & 255] ^ shared.crc[2][crc >> 8 & 255] ^ shared.crc[1][crc >> 16 & 255] ^
            shared.crc[0][crc >> 24];
    }
  }
  while (at < end) byte();
  crc = crc_product(crc, crc_shift(size - end));
  for (uint32_t step = 1; step < inflate_threads; step *= 2) crc ^= me.shuffle(crc, me.thread() ^ step);
  return ~crc;
}

/// Inflates one BGZF block a block of threads.
/// O(text). Shared: 7 KiB, so that a multiprocessor of an H100 holds 30 blocks: larger tables are slower there.
static __global__ void __launch_bounds__(inflate_threads) inflate_kernel(inflate_arguments a) {
  MGPU_SHARED inflate_shared shared;
  block<inflate_threads> me;
  const inflate_block block = a.blocks[me.index()];
  bit_reader in(a.bytes, block.from, block.size);
  uint8_t* text = a.text + block.to;
  bool good = inflate_all(me, shared, in, text, block.text);
  if (good) {
    uint32_t stated = 0;
    for (uint32_t i = 0; i < 4; ++i) stated |= uint32_t{in.byte(i)} << (8 * i);
    good = crc_of(me, shared, text, block.text) == stated;
  }
  if (!good && me.thread() == 0) me.add(a.damaged, 1u);
}

}  // namespace mgpu
