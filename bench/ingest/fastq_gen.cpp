// Repeats real reads, with substituted bases and new names, until the output has a given size. The bytes depend only
// on the sample and the arguments, not on the number of threads.
//
//   g++ -O3 -std=c++17 -pthread bench/ingest/fastq_gen.cpp -o fastq_gen
//   fastq_gen SAMPLE.fastq OUT BYTES [--fasta BASES] [--substitutions RATE] [--seed N] [--threads N]
//
// The sample is plain FASTQ with four lines per read. Whole reads are written, at most BYTES bytes, with the qualities
// of the sample. N stays N. Names have the form of HiSeq 2000 and 2500: the tile, x and y are new. --fasta writes two
// lines per read: the first BASES bases of the reads that are long enough.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
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
  std::fprintf(stderr, "fastq_gen: %s\n", what.c_str());
  std::exit(1);
}

/// splitmix64.
struct generator {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t n) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
  }
  /// The bases before the next substitution.
  uint64_t gap(double inverse_log) {
    const double uniform = (static_cast<double>(next() >> 11) + 1) * (1.0 / 9007199254740992.0);
    const double gap = std::log(uniform) * inverse_log;
    return gap > 1e9 ? 1000000000u : static_cast<uint64_t>(gap);
  }
};

struct options {
  std::string sample, out;
  uint64_t bytes = 0, fasta = 0, seed = 1;
  double substitutions = 0.01;
  unsigned threads = std::max(1u, std::thread::hardware_concurrency());
};

struct record {
  std::string_view bases, qualities;
};

std::string load(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) fail("cannot open " + path);
  std::string text;
  std::vector<char> part(1 << 20);
  for (size_t n; (n = std::fread(part.data(), 1, part.size(), file)) > 0;) text.append(part.data(), n);
  std::fclose(file);
  return text;
}

std::vector<record> parse(const std::string& text, uint64_t fasta) {
  std::vector<record> reads;
  size_t at = 0;
  const auto line = [&] {
    const size_t end = text.find('\n', at);
    if (end == std::string::npos) fail("the sample ends within a read");
    const std::string_view found(text.data() + at, end - at);
    at = end + 1;
    return found;
  };
  while (at < text.size()) {
    if (line().substr(0, 1) != "@") fail("the sample is not FASTQ with four lines per read");
    record next;
    next.bases = line();
    line();
    next.qualities = line();
    if (next.bases.size() != next.qualities.size()) fail("bases and qualities differ in length");
    if (fasta == 0) reads.push_back(next);
    if (fasta != 0 && next.bases.size() >= fasta) reads.push_back({next.bases.substr(0, fasta), {}});
  }
  if (reads.empty()) fail("the sample has no reads of this length");
  return reads;
}

// "@HWI-D00146:84:HA43CADXX:1:1101:10000:10000 1:N:0:TCCTGAGCACTGCATA": always of this length.
constexpr size_t name_length = 66;

/// Writes the name of read `number`, without the line end. A tile has 100,000 reads, sorted by y.
char* name(char* to, uint64_t number, bool fasta, generator& next) {
  const uint64_t tile = 1101 + number / 100000 % 8899;
  const uint64_t x = 10000 + next.below(10000), y = 10000 + number % 100000 * 9 / 10;
  const uint64_t lane = 1 + number / 100000 / 8899 % 8;
  const int length = std::snprintf(
      to, name_length + 1, "%cHWI-D00146:84:HA43CADXX:%u:%04u:%05u:%05u 1:N:0:TCCTGAGCACTGCATA", fasta ? '>' : '@',
      static_cast<unsigned>(lane), static_cast<unsigned>(tile), static_cast<unsigned>(x), static_cast<unsigned>(y));
  if (length != static_cast<int>(name_length)) fail("a name has another length");
  return to + name_length;
}

char* put(char* to, std::string_view text) {
  std::memcpy(to, text.data(), text.size());
  return to + text.size();
}

void substitute(char* bases, size_t length, double inverse_log, generator& next) {
  for (uint64_t i = next.gap(inverse_log); i < length; i += 1 + next.gap(inverse_log)) {
    const size_t code = std::string_view("ACGT").find(bases[i]);
    if (code != std::string_view::npos) bases[i] = "ACGT"[(code + 1 + next.below(3)) % 4];
  }
}

void write_at(int file, const char* bytes, uint64_t size, uint64_t at) {
  while (size > 0) {
    const ssize_t written = pwrite(file, bytes, size, static_cast<off_t>(at));
    if (written <= 0) fail("writing failed");
    bytes += written, at += static_cast<uint64_t>(written), size -= static_cast<uint64_t>(written);
  }
}

options arguments(int count, char** values) {
  if (count < 4) {
    fail("usage: fastq_gen SAMPLE.fastq OUT BYTES [--fasta BASES] [--substitutions RATE] [--seed N] [--threads N]");
  }
  options given;
  given.sample = values[1], given.out = values[2], given.bytes = std::strtoull(values[3], nullptr, 10);
  for (int i = 4; i < count; i += 2) {
    const std::string name = values[i];
    if (i + 1 == count) fail(name + " needs a value");
    const char* value = values[i + 1];
    if (name == "--fasta") given.fasta = std::strtoull(value, nullptr, 10);
    else if (name == "--substitutions") given.substitutions = std::strtod(value, nullptr);
    else if (name == "--seed") given.seed = std::strtoull(value, nullptr, 10);
    else if (name == "--threads") given.threads = std::max(1, std::atoi(value));
    else fail("unknown option " + name);
  }
  return given;
}

}  // namespace

int main(int count, char** values) {
  const options given = arguments(count, values);
  const bool fasta = given.fasta != 0;
  const std::string text = load(given.sample);
  const std::vector<record> reads = parse(text, given.fasta);
  // Where each read of a pass over the sample begins.
  std::vector<uint64_t> begins{0};
  for (const record& next : reads) {
    const uint64_t qualities = fasta ? 0 : 2 + next.qualities.size() + 1;
    begins.push_back(begins.back() + name_length + 1 + next.bases.size() + 1 + qualities);
  }
  const auto offset = [&](uint64_t number) {
    return number / reads.size() * begins.back() + begins[number % reads.size()];
  };
  uint64_t total = given.bytes / begins.back() * reads.size();
  while (offset(total + 1) <= given.bytes) ++total;

  const int file = open(given.out.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file < 0) fail("cannot create " + given.out);
  constexpr uint64_t chunk = 8192;
  const double inverse_log = given.substitutions > 0 ? 1 / std::log1p(-given.substitutions) : -1e12;
  std::atomic<uint64_t> taken{0}, bases{0};
  const auto work = [&] {
    std::vector<char> buffer;
    for (uint64_t from; (from = taken.fetch_add(chunk)) < total;) {
      const uint64_t to = std::min(total, from + chunk);
      buffer.resize(offset(to) - offset(from) + 1);
      char* at = buffer.data();
      uint64_t sum = 0;
      for (uint64_t number = from; number < to; ++number) {
        generator next{given.seed * 0xD1342543DE82EF95u + number * 0x2545F4914F6CDD1Du};
        next.next();
        const record& real = reads[number % reads.size()];
        at = name(at, number, fasta, next);
        *at++ = '\n';
        char* const sequence = at;
        at = put(at, real.bases);
        substitute(sequence, real.bases.size(), inverse_log, next);
        if (!fasta) at = put(put(at, "\n+\n"), real.qualities);
        *at++ = '\n';
        sum += real.bases.size();
      }
      bases += sum;
      write_at(file, buffer.data(), static_cast<uint64_t>(at - buffer.data()), offset(from));
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < given.threads; ++i) threads.emplace_back(work);
  for (std::thread& thread : threads) thread.join();
  if (close(file) != 0) fail("writing failed");
  std::printf("%llu reads, %llu bases, %llu bytes\n", static_cast<unsigned long long>(total),
              static_cast<unsigned long long>(bases.load()), static_cast<unsigned long long>(offset(total)));
}
