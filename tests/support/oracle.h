// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "models/core/document.h"

#include <string>
#include <utility>
#include <vector>

#include <QDir>
#include <QTest>

namespace prosector {

inline std::string slurp(const std::string &path)
{
    const auto file = openFile(path);
    return file ? readText(**file).valueOr({}) : std::string();
}

/// A reference library's answers: JSON Lines, the first of which is `{"meta": {…}}`.
struct Oracle {
    DocumentPtr head;
    std::vector<DocumentPtr> rows;

    Value meta() const { return head->root()["meta"]; }

    static Oracle read(const std::string &path)
    {
        Oracle oracle;
        const std::string lines = slurp(path);
        for (std::size_t at = 0; at < lines.size();) {
            const std::size_t end = std::min(lines.find('\n', at), lines.size());
            auto line = Document::parseJson(lines.substr(at, end - at));
            at = end + 1;
            if (!oracle.head)
                oracle.head = std::move(line);
            else
                oracle.rows.push_back(std::move(line));
        }
        return oracle;
    }
};

/// One test row for each `*.jsonl` of a folder, with the column `oracle`.
inline void addOracleRows(const std::string &folder)
{
    QTest::addColumn<QString>("oracle");
    const QDir files(QString::fromStdString(folder));
    for (const QString &name : files.entryList({QStringLiteral("*.jsonl")}, QDir::Files))
        QTest::newRow(qPrintable(name)) << files.filePath(name);
}

} // namespace prosector
