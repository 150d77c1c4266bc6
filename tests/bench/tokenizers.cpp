// SPDX-License-Identifier: GPL-3.0-or-later
// Loads a tokenizer and encodes texts on one thread: JSON with seconds, best of three rounds.
// tokenizers.py sets it against Hugging Face.
#include "models/core/digest.h"
#include "models/runs/run.h"
#include "models/tokenizers/open.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <limits>

using namespace prosector;

namespace {

template<class Work>
double secondsOf(Work &&work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int failed(const Error &error)
{
    std::fprintf(stderr, "%s\n", describe(error).c_str());
    return 1;
}

/// Ids of a text line by line, as one list.
Result<std::vector<std::uint32_t>> encodeLines(Encoder &encoder, std::string_view text, const EncodeOptions &options)
{
    std::vector<std::uint32_t> ids;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        const auto encoding = encoder.encode(text.substr(at, end - at), options);
        if (!encoding)
            return encoding.error();
        ids.insert(ids.end(), encoding->ids.begin(), encoding->ids.end());
        at = end;
    }
    return ids;
}

Result<std::vector<std::uint32_t>> encodeWhole(Encoder &encoder, std::string_view text, const EncodeOptions &options)
{
    auto encoding = encoder.encode(text, options);
    if (!encoding)
        return encoding.error();
    return std::move(encoding->ids);
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 2) {
        std::fprintf(stderr, "usage: %s TOKENIZER TEXT...\n", argv[0]);
        return 2;
    }
    Result<OpenedTokenizer> opened = Error{};
    RunPtr run;
    const double load = secondsOf([&] {
        auto made = Run::open(std::vector<std::string>{argv[1]}, Job());
        if (made) {
            run = *made;
            opened = openTokenizer(*run);
        } else {
            opened = made.error();
        }
    });
    if (!opened)
        return failed(opened.error());
    EncodeOptions options = opened->options;
    options.addSpecialTokens = false;
    options.tokens = false;
    std::printf("{\"load\": %.4f, \"texts\": [", load);
    for (int i = 2; i < argc; ++i) {
        const auto source = openFile(argv[i]);
        if (!source)
            return failed(source.error());
        const auto text = readText(**source);
        if (!text)
            return failed(text.error());
        for (const auto &[how, encode] : {std::pair("lines", &encodeLines), std::pair("whole", &encodeWhole)}) {
            double seconds = std::numeric_limits<double>::max();
            Result<std::vector<std::uint32_t>> ids = std::vector<std::uint32_t>();
            for (int round = 0; round < 3; ++round) {
                Encoder encoder(opened->tokenizer); // a cold cache each time
                seconds = std::min(seconds, secondsOf([&, work = encode] { ids = work(encoder, *text, options); }));
                if (!ids)
                    return failed(ids.error());
            }
            const bool first = i == 2 && std::string_view(how) == "lines";
            std::printf("%s{\"file\": \"%s\", \"how\": \"%s\", \"bytes\": %zu, \"ids\": %zu, \"sha256\": \"%s\", \"seconds\": %.5f}",
                        first ? "" : ", ", argv[i], how, text->size(), ids->size(),
                        sha256Hex({reinterpret_cast<const char *>(ids->data()), ids->size() * sizeof(std::uint32_t)}).c_str(), seconds);
        }
    }
    std::puts("]}");
    return 0;
}
