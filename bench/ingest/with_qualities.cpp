// Gives simulated reads the qualities of real reads: FASTQ. The reads are FASTA, two lines per read, all records of one
// size.
//
//   g++ -O3 -std=c++17 -pthread bench/ingest/with_qualities.cpp -o with_qualities
//   with_qualities READS.fa SAMPLE.fastq OUT
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "with_qualities: %s\n", what.c_str());
  std::exit(1);
}

std::string_view map_file(const char* path) {
  const int file = open(path, O_RDONLY);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0 || about.st_size == 0) fail(std::string("cannot open ") + path);
  void* at = mmap(nullptr, static_cast<size_t>(about.st_size), PROT_READ, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) fail(std::string("cannot map ") + path);
  return {static_cast<const char*>(at), static_cast<size_t>(about.st_size)};
}

/// The qualities of the reads of the sample with at least `length` bases, cut to this length.
std::vector<std::string_view> qualities_of(std::string_view sample, size_t length) {
  std::vector<std::string_view> found;
  size_t line = 0;
  for (size_t at = 0; at < sample.size(); ++line) {
    const size_t end = std::min(sample.find('\n', at), sample.size());
    if (line % 4 == 3 && end - at >= length) found.push_back(sample.substr(at, length));
    at = end + 1;
  }
  if (found.empty()) fail("the sample has no reads of this length");
  return found;
}

}  // namespace

int main(int count, char** values) {
  if (count != 4) fail("usage: with_qualities READS.fa SAMPLE.fastq OUT");
  const std::string_view reads = map_file(values[1]);
  const size_t name_end = reads.find('\n'), record = reads.find('\n', name_end + 1) + 1;
  if (record == 0 || reads.size() % record != 0) fail("the reads are not records of one size");
  const size_t length = record - name_end - 2, total = reads.size() / record, size = record + 2 + length + 1;
  const std::vector<std::string_view> qualities = qualities_of(map_file(values[2]), length);
  const int out = open(values[3], O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (out < 0) fail(std::string("cannot create ") + values[3]);
  constexpr size_t chunk = 8192;
  std::atomic<size_t> taken{0};
  const auto work = [&] {
    std::vector<char> buffer(chunk * size);
    for (size_t from; (from = taken.fetch_add(chunk)) < total;) {
      const size_t to = std::min(total, from + chunk);
      char* at = buffer.data();
      for (size_t i = from; i < to; ++i) {
        const char* real = reads.data() + i * record;
        if (*real != '>') fail("the reads are not records of one size");
        std::memcpy(at, real, record);
        *at = '@';
        at += record;
        *at++ = '+', *at++ = '\n';
        std::memcpy(at, qualities[i % qualities.size()].data(), length);
        at += length;
        *at++ = '\n';
      }
      const char* bytes = buffer.data();
      for (size_t place = from * size; bytes < at;) {
        const ssize_t written = pwrite(out, bytes, static_cast<size_t>(at - bytes), static_cast<off_t>(place));
        if (written <= 0) fail("writing failed");
        bytes += written, place += static_cast<size_t>(written);
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (close(out) != 0) fail("writing failed");
  std::printf("%zu reads of %zu bases, %zu bytes\n", total, length, total * size);
}
