// Computes edit distances with edlib's C API (distance only): edlib PAIRS K OUT MODE
//
// MODE is NW, or HW for reads in any part of their segments. PAIRS has lines of READ<TAB>SEGMENT. K is edlib's
// threshold, or -1 for none. The distance of each pair is written to a line of OUT, or -1 if it is larger than K.
// Prints the nanoseconds per pair that the alignments took.
#include <edlib.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    if (count != 5) return 2;
    std::ifstream file(arguments[1]);
    std::vector<std::string> reads, segments;
    for (std::string line; std::getline(file, line);) {
        const auto tab = line.find('\t');
        if (tab == std::string::npos) return 3;
        const auto end = line.find('\t', tab + 1);
        reads.push_back(line.substr(0, tab));
        segments.push_back(line.substr(tab + 1, end == std::string::npos ? end : end - tab - 1));
        // N matches nothing, not even N.
        for (char& letter : reads.back())
            if (letter == 'N') letter = 'n';
    }
    const auto mode = std::string(arguments[4]) == "HW" ? EDLIB_MODE_HW : EDLIB_MODE_NW;
    const auto config =
        edlibNewAlignConfig(std::atoi(arguments[2]), mode, EDLIB_TASK_DISTANCE, nullptr, 0);
    std::vector<int> distances(reads.size());
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < reads.size(); ++i) {
        const auto result = edlibAlign(reads[i].data(), int(reads[i].size()), segments[i].data(),
                                       int(segments[i].size()), config);
        distances[i] = result.editDistance;
        edlibFreeAlignResult(result);
    }
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    FILE* out = std::fopen(arguments[3], "w");
    if (!out) return 4;
    for (const int distance : distances) std::fprintf(out, "%d\n", distance);
    if (std::fclose(out) != 0) return 5;
    std::printf("%.3f\n", spent.count() / double(reads.size()));
}
