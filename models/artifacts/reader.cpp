// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/artifacts/reader.h"

namespace prosector {

const Reader *sniff(const Head &head)
{
    const Reader *best = nullptr;
    int surest = 0;
    for (const Reader *const reader : readers()) {
        const int sure = reader->sniff(head);
        if (sure > surest) {
            surest = sure;
            best = reader;
        }
    }
    return best;
}

} // namespace prosector
