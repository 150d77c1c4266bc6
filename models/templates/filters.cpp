// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/templates/filters.h"

#include "models/templates/access.h"
#include "models/templates/pynumber.h"
#include "models/templates/pystring.h"
#include "models/templates/text.h"

namespace prosector::jinja {

const FilterRow *findFilter(std::string_view name)
{
    for (const auto rows : {textFilters(), sequenceFilters(), selectionFilters(), numberFilters(), markupFilters()}) {
        for (const FilterRow &row : rows) {
            if (row.name == name)
                return &row;
        }
    }
    return nullptr;
}

Var ignoreCase(const Var &value)
{
    return value.isString() ? rewritten(value, lower(value.view())) : value;
}

std::function<Var(Renderer &, Var)> attributeGetter(const Var &attribute, const Var &fallback, bool lowerCase)
{
    std::vector<Var> parts;
    if (attribute.isString()) {
        for (const Range &range : splitAt(attribute.view(), ".", -1)) {
            const std::string_view part = attribute.view().substr(range.from, range.to - range.from);
            parts.push_back(isDigitText(part) ? parseInteger(part, 10) : makeText(std::string(part)));
        }
    } else if (!attribute.isMissing() && !attribute.isNone()) {
        parts.push_back(attribute);
    }
    return [parts, fallback, lowerCase](Renderer &renderer, Var item) {
        for (const Var &part : parts) {
            item = getItem(renderer, item, part);
            if (item.isUndefined() && !fallback.isMissing() && !fallback.isNone())
                item = fallback;
        }
        return lowerCase ? ignoreCase(item) : item;
    };
}

} // namespace prosector::jinja
