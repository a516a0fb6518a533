// Compresses a file to BGZF with libdeflate: blocks of 65,280 bytes of text, then the empty block.
//
//   g++ -O3 -std=c++17 -pthread bench/ingest/bgzf.cpp -ldeflate -o bgzf
//   bgzf IN OUT [--level N] [--threads N]
#include <fcntl.h>
#include <libdeflate.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr uint64_t block_text = 65280, group_blocks = 64;
constexpr size_t largest_block = 65536, header = 18, footer = 8;

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "bgzf: %s\n", what.c_str());
  std::exit(1);
}

void little_endian(uint8_t* to, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to[i] = static_cast<uint8_t>(value >> (8 * i));
}

/// Appends the block of `size` bytes of text.
void append(libdeflate_compressor* compressor, libdeflate_compressor* stored, const uint8_t* text, size_t size,
            std::vector<uint8_t>& out) {
  static const uint8_t start[16] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0};
  const size_t at = out.size();
  out.resize(at + largest_block);
  uint8_t* block = out.data() + at;
  std::memcpy(block, start, sizeof start);
  const size_t room = largest_block - header - footer;
  size_t compressed = libdeflate_deflate_compress(compressor, text, size, block + header, room);
  if (compressed == 0) compressed = libdeflate_deflate_compress(stored, text, size, block + header, room);
  if (compressed == 0) fail("a block does not fit");
  const size_t whole = header + compressed + footer;
  little_endian(block + 16, static_cast<uint32_t>(whole - 1), 2);
  little_endian(block + header + compressed, libdeflate_crc32(0, text, size), 4);
  little_endian(block + header + compressed + 4, static_cast<uint32_t>(size), 4);
  out.resize(at + whole);
}

void write_at(int file, const uint8_t* bytes, uint64_t size, uint64_t at) {
  while (size > 0) {
    const ssize_t written = pwrite(file, bytes, size, static_cast<off_t>(at));
    if (written <= 0) fail("writing failed");
    bytes += written, at += static_cast<uint64_t>(written), size -= static_cast<uint64_t>(written);
  }
}

}  // namespace

int main(int count, char** values) {
  if (count < 3) fail("usage: bgzf IN OUT [--level N] [--threads N]");
  int level = 6;
  unsigned workers = std::max(1u, std::thread::hardware_concurrency());
  for (int i = 3; i + 1 < count; i += 2) {
    const std::string name = values[i];
    if (name == "--level") level = std::atoi(values[i + 1]);
    else if (name == "--threads") workers = static_cast<unsigned>(std::max(1, std::atoi(values[i + 1])));
    else fail("unknown option " + name);
  }
  const int in = open(values[1], O_RDONLY);
  struct stat about;
  if (in < 0 || fstat(in, &about) != 0) fail(std::string("cannot open ") + values[1]);
  const uint64_t size = static_cast<uint64_t>(about.st_size);
  const void* mapped = size ? mmap(nullptr, size, PROT_READ, MAP_SHARED, in, 0) : nullptr;
  if (mapped == MAP_FAILED) fail("cannot map the input");
  const uint8_t* const text = static_cast<const uint8_t*>(mapped);
  const int out = open(values[2], O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (out < 0) fail(std::string("cannot create ") + values[2]);

  const uint64_t group = block_text * group_blocks, groups = (size + group - 1) / group;
  std::atomic<uint64_t> taken{0};
  std::mutex mutex;
  std::condition_variable changed;
  uint64_t placed = 0, end = 0;  // groups whose place is known, and the end of the last
  const auto work = [&] {
    libdeflate_compressor* compressor = libdeflate_alloc_compressor(level);
    libdeflate_compressor* stored = libdeflate_alloc_compressor(0);
    if (!compressor || !stored) fail("no such level");
    std::vector<uint8_t> bytes;
    for (uint64_t g; (g = taken++) < groups;) {
      bytes.clear();
      const uint64_t until = std::min(size, (g + 1) * group);
      for (uint64_t from = g * group; from < until; from += block_text) {
        append(compressor, stored, text + from, std::min(block_text, until - from), bytes);
      }
      uint64_t place;
      {
        std::unique_lock<std::mutex> lock(mutex);
        changed.wait(lock, [&] { return placed == g; });
        place = end;
        end += bytes.size();
        placed = g + 1;
      }
      changed.notify_all();
      write_at(out, bytes.data(), bytes.size(), place);
    }
    libdeflate_free_compressor(compressor);
    libdeflate_free_compressor(stored);
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < workers; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  static const uint8_t empty[28] = {0x1f, 0x8b, 8, 4, 0, 0, 0, 0, 0, 0xff, 6, 0, 'B', 'C', 2, 0, 0x1b, 0, 3, 0};
  write_at(out, empty, sizeof empty, end);
  if (close(out) != 0) fail("writing failed");
  std::printf("level %d: %llu -> %llu bytes\n", level, static_cast<unsigned long long>(size),
              static_cast<unsigned long long>(end + sizeof empty));
}
