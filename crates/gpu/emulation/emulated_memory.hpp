// Memory of emulated devices. Its initial content is a pattern, so that reads of uninitialized memory show.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace mgpu {
namespace emulation {

constexpr int pattern = 0xa5;
/// The size from which blocks consist of pieces of this size, each a copy-on-write mapping of one file: most
/// blocks are mostly unused, and filling them took most of the tests' time.
constexpr size_t piece = size_t{4} << 20;

/// The descriptor of a file of one piece; -1 if it cannot be created.
inline int pattern_file() {
  static const int only = [] {
    const int file = memfd_create("pattern", MFD_CLOEXEC);
    const std::vector<unsigned char> bytes(piece, pattern);
    const bool is_whole = file >= 0 && write(file, bytes.data(), piece) == ssize_t{piece};
    return is_whole ? file : -1;
  }();
  return only;
}

inline size_t of_whole_pieces(size_t bytes) { return (bytes + piece - 1) / piece * piece; }

/// Allocates memory aligned to 256 bytes; null if there is too little.
inline void* take_memory(size_t bytes) {
  if (bytes < piece) {
    void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    return memory ? std::memset(memory, pattern, bytes) : nullptr;
  }
  const size_t whole = of_whole_pieces(bytes);
  void* memory = mmap(nullptr, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  for (size_t at = 0; at < whole; at += piece) {
    void* place = static_cast<char*>(memory) + at;
    const int access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_FIXED;
    if (mmap(place, piece, access, kind, pattern_file(), 0) == MAP_FAILED) {
      munmap(memory, whole);
      return nullptr;
    }
  }
  return memory;
}

/// Frees memory of `take_memory`.
inline void give_memory(void* memory, size_t bytes) {
  if (bytes < piece) {
    std::free(memory);
  } else {
    munmap(memory, of_whole_pieces(bytes));
  }
}

}  // namespace emulation
}  // namespace mgpu
