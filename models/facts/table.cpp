// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/table.h"

namespace prosector {

Result<void> checkFactsTable(const Document &document, std::string_view table)
{
    const Value root = document.root();
    const std::string schema = root["schema"].string("");
    if (schema != factsSchema) {
        return Error{Errc::Unsupported, "the facts table is of another form", JsonPath{"$.schema"},
                     std::string(factsSchema), schema.empty() ? "no schema" : schema};
    }
    const std::string name = root["table"].string("");
    if (name != table) {
        return Error{Errc::Malformed, "this is another facts table", JsonPath{"$.table"}, std::string(table),
                     name.empty() ? "no name" : name};
    }
    return {};
}

std::vector<std::string> stringsOf(Value array)
{
    std::vector<std::string> strings;
    for (const Value item : array) {
        if (auto text = item.string())
            strings.push_back(std::move(*text));
    }
    return strings;
}

} // namespace prosector
