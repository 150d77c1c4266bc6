// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"

#include <QObject>
#include <QString>

#include <list>
#include <unordered_map>

namespace prosector {

class JobRunner;

/// The bytes a view is about to draw, read page by page in jobs, so that a slow disk never holds up
/// the window. GUI thread only.
class BytePager final : public QObject {
    Q_OBJECT
public:
    static constexpr std::uint64_t pageSize = 64 * 1024;
    static constexpr std::size_t pagesKept = 64;

    explicit BytePager(JobRunner *runner, QObject *parent = nullptr);

    void setSource(SourcePtr source);
    const SourcePtr &source() const { return m_source; }
    std::uint64_t size() const { return m_source ? m_source->size() : 0; }

    /// Starts reading what of [from, to) is not here yet; true when all of it is.
    bool request(std::uint64_t from, std::uint64_t to);
    /// 0..255, or -1 while the page is not here (or could not be read).
    int byteAt(std::uint64_t offset) const;
    /// What the last page that could not be read said; empty when all went well.
    const QString &problem() const { return m_problem; }

signals:
    void arrived();

private:
    void read(std::uint64_t page);

    JobRunner *m_runner;
    SourcePtr m_source;
    QString m_key;
    std::unordered_map<std::uint64_t, Bytes> m_pages;
    std::list<std::uint64_t> m_order; ///< oldest first
    std::unordered_map<std::uint64_t, bool> m_pending;
    QString m_problem;
    quint64 m_epoch = 0;
};

} // namespace prosector
