// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/views/bytemark.h"
#include "widgets/views/bytepager.h"
#include "widgets/views/rowview.h"

#include <vector>

namespace prosector {

/// Bytes as hexadecimal and characters, of any size of file. The selection is outlined in both
/// columns; findings' bytes are tinted.
class HexView final : public RowView {
    Q_OBJECT
public:
    static constexpr std::uint64_t bytesPerRow = 16;

    explicit HexView(JobRunner *runner, QWidget *parent = nullptr);

    void setSource(SourcePtr source);
    std::uint64_t size() const { return m_pager.size(); }
    void setMarks(std::vector<ByteMark> marks);

    /// The selected bytes; empty when nothing is.
    const ByteRange &selection() const { return m_selection; }
    /// Selects and shows. Emits nothing: for selections that come from elsewhere.
    void select(const ByteRange &bytes);
    /// The selection as "48 65 6C", at most 1 MiB of it; only what has been read already.
    QString selectedHex() const;

    std::uint64_t rowCount() const override;

signals:
    void selected(const prosector::ByteRange &bytes); ///< by mouse or key

protected:
    void paintRow(QPainter &painter, std::uint64_t row, const QRect &rect) override;
    void prepare(std::uint64_t first, std::uint64_t count) override;
    QString emptyText() const override;
    int contentWidth() const override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    int offsetDigits() const;
    int hexX(std::uint64_t column) const;
    int textX(std::uint64_t column) const;
    std::uint64_t offsetAt(const QPoint &position) const;
    void extendTo(std::uint64_t offset);
    const ByteMark *markAt(std::uint64_t offset) const;

    BytePager m_pager;
    std::vector<ByteMark> m_marks;
    ByteRange m_selection;
    std::uint64_t m_dragFrom = 0;
    bool m_dragging = false;
};

} // namespace prosector
