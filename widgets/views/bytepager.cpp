// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/bytepager.h"

#include "models/session/jobrunner.h"
#include "models/session/text.h"

#include <algorithm>

namespace prosector {

BytePager::BytePager(JobRunner *runner, QObject *parent)
    : QObject(parent), m_runner(runner), m_key(QStringLiteral("pager.%1").arg(reinterpret_cast<quintptr>(this), 0, 16))
{
}

void BytePager::setSource(SourcePtr source)
{
    if (source == m_source)
        return;
    m_source = std::move(source);
    m_pages.clear();
    m_order.clear();
    m_pending.clear();
    m_problem.clear();
    ++m_epoch;
}

bool BytePager::request(std::uint64_t from, std::uint64_t to)
{
    to = std::min(to, size());
    if (from >= to)
        return true;
    bool complete = true;
    for (std::uint64_t page = from / pageSize; page <= (to - 1) / pageSize; ++page) {
        if (m_pages.contains(page))
            continue;
        complete = false;
        if (!m_pending.contains(page))
            read(page);
    }
    return complete;
}

int BytePager::byteAt(std::uint64_t offset) const
{
    const auto page = m_pages.find(offset / pageSize);
    if (page == m_pages.end() || offset % pageSize >= page->second.size())
        return -1;
    return std::to_integer<int>(page->second[offset % pageSize]);
}

void BytePager::read(std::uint64_t page)
{
    m_pending[page] = true;
    const quint64 epoch = m_epoch;
    m_runner->start(
        m_key + QLatin1Char('.') + QString::number(page), tr("Reading %1").arg(toQt(m_source->name())), this,
        [source = m_source, page](const Job &) { return source->readUpTo(page * pageSize, pageSize); },
        [this, page, epoch](const Result<Bytes> &bytes) {
            if (epoch != m_epoch)
                return;
            m_pending.erase(page);
            m_problem = bytes ? QString() : toQt(describe(bytes.error()));
            // A page that could not be read stays as an empty one: asking again would loop.
            m_pages[page] = bytes ? *bytes : Bytes();
            m_order.push_back(page);
            if (m_order.size() > pagesKept) {
                m_pages.erase(m_order.front());
                m_order.pop_front();
            }
            emit arrived();
        },
        10);
}

} // namespace prosector
