// SPDX-License-Identifier: GPL-3.0-or-later
// One NumPy array.
#include "models/artifacts/npyheader.h"
#include "models/artifacts/reader.h"
#include "models/artifacts/tensorkinds.h"
#include "models/artifacts/tensorlayout.h"

namespace prosector {

namespace {

int sniffNpy(const Head &head)
{
    return head.text().starts_with("\x93NUMPY") ? 100 : head.name.ends_with(".npy") ? 40 : 0;
}

Result<Reading> openNpy(SourcePtr source, const Job &)
{
    const auto start = source->readUpTo(0, 12);
    if (!start)
        return start.error();
    const auto head = source->readUpTo(0, std::min<std::uint64_t>(npyHeaderBytes(*start).value_or(12), (1 << 20) + 1));
    if (!head)
        return head.error();
    const auto header = parseNpyHeader(*head);
    if (!header)
        return header.error();
    Problems problems;
    auto content = std::make_shared<TensorContent>();
    const auto fileName = fileNameOf(source->name());
    content->fortranOrder = header->fortranOrder;
    content->dataBegin = header->dataBegin;
    content->tensors.push_back(npyTensor(*header, std::string(fileName.substr(0, fileName.rfind('.'))), {0, source->size()}, problems));
    const TensorInfo &tensor = content->tensors[0];
    std::string summary = tensor.shapeText() + ' ' + tensor.dtypeName.substr(0, 20) + (header->fortranOrder ? ", columns first" : "");
    return Reading{kindOfArray(fileName), std::move(summary), std::move(content), problems.take()};
}

} // namespace

extern constinit const Reader reader_npy{"npy", "NumPy array", sniffNpy, openNpy};

} // namespace prosector
