// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/tokenizers/base64.h"

#include <climits>
#include <openssl/evp.h>

namespace prosector {

std::optional<std::string> decodeBase64(std::string_view text)
{
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    if (text.size() % 4 != 0 || text.size() > INT_MAX || text.substr(0, text.size() - padding).find('=') != std::string_view::npos)
        return std::nullopt;
    std::string bytes(text.size() / 4 * 3, '\0');
    const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char *>(bytes.data()),
                                       reinterpret_cast<const unsigned char *>(text.data()), static_cast<int>(text.size()));
    if (length != static_cast<int>(bytes.size())) // EVP also takes blanks at the ends
        return std::nullopt;
    bytes.resize(bytes.size() - padding);
    return bytes;
}

} // namespace prosector
