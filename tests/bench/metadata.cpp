// SPDX-License-Identifier: GPL-3.0-or-later
// prosector_bench REPEATS FILE...: lists the tensors and metadata of all files, so many times, and
// prints {"files": n, "tensors": n, "seconds": [each round]}.
#include "models/artifacts/reader.h"
#include "models/artifacts/tensors.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace prosector;

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: prosector_bench REPEATS FILE...\n");
        return 2;
    }
    const int repeats = std::atoi(argv[1]);
    std::string seconds;
    std::size_t tensors = 0;
    for (int round = 0; round < repeats; ++round) {
        tensors = 0;
        const auto begin = std::chrono::steady_clock::now();
        for (int i = 2; i < argc; ++i) {
            const auto source = openFile(argv[i]);
            const auto head = source ? (*source)->readUpTo(0, headBytes) : Result<Bytes>(source.error());
            const Reader *const reader = head ? sniff({argv[i], *head, (*source)->size()}) : nullptr;
            const auto reading = reader ? reader->open(*source, Job()) : Result<Reading>(Error{Errc::Unsupported, "not recognised"});
            const auto *const content = reading ? dynamic_cast<const TensorContent *>(reading->content.get()) : nullptr;
            if (!content || !reading->problems.empty()) {
                std::fprintf(stderr, "%s: not read cleanly\n", argv[i]);
                return 1;
            }
            for (const TensorInfo &tensor : content->tensors)
                tensors += !tensor.name.empty();
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        seconds += (seconds.empty() ? "" : ", ") + std::to_string(took.count());
    }
    std::printf("{\"files\": %d, \"tensors\": %zu, \"seconds\": [%s]}\n", argc - 2, tensors, seconds.c_str());
}
