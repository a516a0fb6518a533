// What the programs that measure inflation of BGZF on a device share: the file, the check of the text, the times.
#pragma once

#include <cuda_runtime.h>
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
#include <thread>
#include <vector>

#include "clock.cuh"

namespace bench {

using ::check;

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

/// A block: where its DEFLATE data and its text begin, and their sizes. The CRC-32 follows the data in the file.
struct block {
  uint64_t from, to;
  uint32_t size, text, crc;
};

struct bgzf {
  std::vector<uint8_t> bytes;  // of the file, up to the end of the last block
  std::vector<block> blocks;   // those with text
  uint64_t text = 0, data = 0;  // bytes of text and of DEFLATE data
  uint32_t largest = 0;         // text of a block
};

inline uint32_t little_endian(const uint8_t* at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= static_cast<uint32_t>(at[i]) << (8 * i);
  return value;
}

/// Loads blocks until they have `most` bytes of text.
inline bgzf load(const std::string& path, uint64_t most) {
  const int file = open(path.c_str(), O_RDONLY);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0 || about.st_size == 0) fail("cannot open " + path);
  const uint64_t size = static_cast<uint64_t>(about.st_size);
  void* const mapped = mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) fail("cannot map " + path);
  const uint8_t* const at = static_cast<const uint8_t*>(mapped);
  bgzf loaded;
  uint64_t place = 0;
  while (place + 18 <= size && loaded.text < most) {
    const uint8_t* header = at + place;
    if (little_endian(header, 4) != 0x04088b1f) fail(path + " is not BGZF");
    const uint32_t extra = little_endian(header + 10, 2);
    uint64_t whole = 0;
    for (uint32_t i = 0; i + 4 <= extra; i += 4 + little_endian(header + 12 + i + 2, 2)) {
      if (header[12 + i] == 'B' && header[13 + i] == 'C') whole = little_endian(header + 12 + i + 4, 2) + 1;
    }
    if (whole == 0 || place + whole > size) fail(path + " ends within a block, or is not BGZF");
    const uint8_t* footer = header + whole - 8;
    block next{place + 12 + extra, loaded.text, 0, little_endian(footer + 4, 4), little_endian(footer, 4)};
    next.size = static_cast<uint32_t>(place + whole - 8 - next.from);
    place += whole;
    if (next.text == 0) continue;
    loaded.blocks.push_back(next);
    loaded.text += next.text;
    loaded.data += next.size;
    loaded.largest = std::max(loaded.largest, next.text);
  }
  loaded.bytes.assign(at, at + place);
  munmap(mapped, size);
  close(file);
  return loaded;
}

/// CRC-32 with 8 tables.
class crc_table {
 public:
  crc_table() {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t value = i;
      for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
      of_[0][i] = value;
    }
    for (int t = 1; t < 8; ++t) {
      for (uint32_t i = 0; i < 256; ++i) of_[t][i] = of_[t - 1][i] >> 8 ^ of_[0][of_[t - 1][i] & 255];
    }
  }
  uint32_t of(const uint8_t* text, size_t size) const {
    uint32_t crc = 0xffffffffu;
    for (; size >= 8; text += 8, size -= 8) {
      uint64_t word;
      std::memcpy(&word, text, 8);
      word ^= crc;
      crc = 0;
      for (int i = 0; i < 8; ++i) crc ^= of_[7 - i][word >> (8 * i) & 255];
    }
    for (; size > 0; ++text, --size) crc = crc >> 8 ^ of_[0][(crc ^ *text) & 255];
    return ~crc;
  }

 private:
  uint32_t of_[8][256];
};

/// Returns the number of blocks whose text, at `places` of the device's memory, has another CRC-32 than stated.
inline uint64_t wrong_blocks(const bgzf& file, const uint8_t* device_text, uint64_t size,
                             const std::vector<uint64_t>& places) {
  std::vector<uint8_t> text(size);
  check(cudaMemcpyAsync(text.data(), device_text, size, cudaMemcpyDefault, nullptr), "copying the text");
  check(cudaStreamSynchronize(nullptr), "copying the text");
  static const crc_table table;
  std::atomic<uint64_t> taken{0}, wrong{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()); ++i) {
    threads.emplace_back([&] {
      for (uint64_t from; (from = taken.fetch_add(64)) < file.blocks.size();) {
        for (uint64_t b = from; b < std::min<uint64_t>(from + 64, file.blocks.size()); ++b) {
          wrong += table.of(text.data() + places[b], file.blocks[b].text) != file.blocks[b].crc;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong;
}

/// Allocates device memory and copies the elements there, with `slack` zero bytes after them.
template <class T>
T* upload(const std::vector<T>& from, size_t slack = 0) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, from.size() * sizeof(T) + slack), "device memory");
  const size_t size = from.size() * sizeof(T);
  check(cudaMemcpyAsync(memory, from.data(), size, cudaMemcpyDefault, nullptr), "uploading");
  if (slack) check(cudaMemsetAsync(static_cast<uint8_t*>(memory) + size, 0, slack, nullptr), "slack");
  check(cudaStreamSynchronize(nullptr), "uploading");
  return static_cast<T*>(memory);
}

template <class T>
std::vector<T> download(const T* from, size_t count) {
  std::vector<T> to(count);
  check(cudaMemcpyAsync(to.data(), from, count * sizeof(T), cudaMemcpyDefault, nullptr), "downloading");
  check(cudaStreamSynchronize(nullptr), "downloading");
  return to;
}

template <class T>
T* device_array(size_t count) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, std::max<size_t>(1, count) * sizeof(T)), "device memory");
  return static_cast<T*>(memory);
}

struct options {
  std::vector<std::string> files;
  std::vector<uint64_t> batches{256, 1024, 4096, 16384, 0};  // 0: all blocks in one launch
  uint64_t text = 1500000000;
  int streams = 1, runs = 10;
  bool once = false, damage = false;
};

inline options arguments(int count, char** values) {
  options given;
  for (int i = 1; i < count; ++i) {
    const std::string name = values[i];
    if (name == "--once") { given.once = true; continue; }      // one launch of each batch size, for ncu
    if (name == "--damage") { given.damage = true; continue; }  // damaged blocks (ours.cu only)
    if (name.substr(0, 2) != "--") { given.files.push_back(name); continue; }
    if (++i == count) fail(name + " needs a value");
    if (name == "--text") given.text = std::strtoull(values[i], nullptr, 10);
    else if (name == "--streams") given.streams = std::max(1, std::atoi(values[i]));
    else if (name == "--runs") given.runs = std::max(1, std::atoi(values[i]));
    else if (name == "--batches") {
      given.batches.clear();
      for (char* at = values[i]; *at;) {
        given.batches.push_back(std::strtoull(at, &at, 10));
        if (*at == ',') ++at;
        else if (*at) fail("--batches takes numbers and commas");
      }
    } else fail("unknown option " + name);
  }
  if (given.files.empty()) {
    fail("usage: PROGRAM FILE.gz... [--text BYTES] [--batches A,B,..] [--streams N] [--runs N] [--once]");
  }
  return given;
}

inline void title() {
  std::printf(
      "| inflater | file | blocks a launch | streams | ms, median (least) | GB/s of text | GB/s compressed | blocks "
      "| not accepted | wrong |\n");
  std::printf("|---|---|---|---|---|---|---|---|---|---|\n");
  std::fflush(stdout);
}

/// The streams of a run, and the events that bracket it.
class stopwatch {
 public:
  explicit stopwatch(int streams) : streams_(static_cast<size_t>(streams)), done_(streams_.size()) {
    for (auto& stream : streams_) check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "stream");
    for (auto& event : done_) check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "event");
    check(cudaEventCreateWithFlags(&begin_, 0), "event");
    check(cudaEventCreateWithFlags(&end_, 0), "event");
  }
  ~stopwatch() {
    for (auto& stream : streams_) cudaStreamDestroy(stream);
    for (auto& event : done_) cudaEventDestroy(event);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  /// Returns the milliseconds from the start of the first launch to the end of the last:
  /// launch(first block, blocks, number of the stream, stream).
  template <class Launch>
  float run(uint64_t blocks, uint64_t batch, const Launch& launch) {
    check(cudaEventRecord(begin_, streams_[0]), "begin");
    for (size_t s = 1; s < streams_.size(); ++s) check(cudaStreamWaitEvent(streams_[s], begin_, 0), "waiting");
    uint64_t number = 0;
    for (uint64_t first = 0; first < blocks; first += batch, ++number) {
      const size_t s = number % streams_.size();
      launch(first, std::min(batch, blocks - first), s, streams_[s]);
    }
    for (size_t s = 1; s < streams_.size(); ++s) {
      check(cudaEventRecord(done_[s], streams_[s]), "end");
      check(cudaStreamWaitEvent(streams_[0], done_[s], 0), "waiting");
    }
    check(cudaEventRecord(end_, streams_[0]), "end");
    check(cudaEventSynchronize(end_), "inflating");
    check(cudaDeviceSynchronize(), "inflating");
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "time");
    return milliseconds;
  }

 private:
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> done_;
  cudaEvent_t begin_, end_;
};

/// Times `launch` and prints a line. `verdict` returns the number of blocks that were not accepted since its last call.
/// The text is poisoned before the first run, after which it is checked.
template <class Launch, class Verdict>
void measure(const char* inflater, const std::string& path, const bgzf& file, uint8_t* text, uint64_t size,
             const std::vector<uint64_t>& places, uint64_t batch, const options& given, const Launch& launch,
             const Verdict& verdict) {
  const uint64_t blocks = file.blocks.size(), each = batch == 0 ? blocks : batch;
  stopwatch timer(given.streams);
  check(cudaMemsetAsync(text, 0xa5, size, nullptr), "poison");
  check(cudaDeviceSynchronize(), "poison");
  std::vector<float> times{timer.run(blocks, each, launch)};
  const uint64_t refused = verdict(), wrong = wrong_blocks(file, text, size, places);
  uint64_t refused_later = 0;
  if (!given.once) {
    timer.run(blocks, each, launch);
    // A slow kernel is run fewer times: for about 3 s.
    const int runs = std::min(given.runs, std::max(3, static_cast<int>(3000 / times[0])));
    times.clear();
    for (int i = 0; i < runs; ++i) times.push_back(timer.run(blocks, each, launch));
    refused_later = verdict();
  }
  std::sort(times.begin(), times.end());
  const size_t half = times.size() / 2;
  const double median = times.size() % 2 ? times[half] : (times[half - 1] + times[half]) / 2;
  const std::string name = path.substr(path.rfind('/') + 1), launched = batch == 0 ? "all" : std::to_string(batch);
  const auto number = [](uint64_t value) { return static_cast<unsigned long long>(value); };
  std::printf("| %s | %s | %s | %d | %.3f (%.3f) | %.2f | %.2f | %llu | %llu | %llu |\n", inflater, name.c_str(),
              launched.c_str(), given.streams, median, times[0], static_cast<double>(file.text) / median / 1e6,
              static_cast<double>(file.data) / median / 1e6, number(blocks), number(std::max(refused, refused_later)),
              number(wrong));
  std::fflush(stdout);
}

}  // namespace bench
