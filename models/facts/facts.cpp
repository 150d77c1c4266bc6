// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/facts/facts.h"

#include "models/core/bytesource.h"
#include "models/core/resources.h"

namespace prosector {

namespace {

Result<DocumentPtr> readTable(const std::string &path)
{
    const auto file = openFile(path);
    if (!file)
        return file.error();
    const auto bytes = (*file)->read(0, (*file)->size());
    if (!bytes)
        return bytes.error();
    auto document = Document::parseJson(std::string(asText(*bytes)));
    if (document->problem()) {
        Error error = *document->problem();
        error.message = path + ": " + error.message;
        return error;
    }
    return document;
}

template<class Table>
Result<void> loadInto(Table &target, const std::string &path)
{
    auto document = readTable(path);
    if (!document)
        return document.error();
    auto table = Table::parse(*document);
    if (!table) {
        Error error = table.error();
        error.message = path + ": " + error.message;
        return error;
    }
    target = std::move(*table);
    return {};
}

} // namespace

Result<FactsPtr> Facts::load(const std::string &folder)
{
    auto facts = std::make_shared<Facts>();
    if (auto done = loadInto(facts->engineDefaults, folder + "/engine-defaults.json"); !done)
        return done.error();
    if (auto done = loadInto(facts->logPatterns, folder + "/log-lines.json"); !done)
        return done.error();
    if (auto done = loadInto(facts->knownModels, folder + "/known-models.json"); !done)
        return done.error();
    if (auto done = loadInto(facts->settings, folder + "/settings.json"); !done)
        return done.error();
    if (auto done = loadInto(facts->logRules, folder + "/log-rules.json"); !done)
        return done.error();
    return FactsPtr(std::move(facts));
}

Result<FactsPtr> Facts::load()
{
    return load(resourceFolder() + "/facts");
}

} // namespace prosector
