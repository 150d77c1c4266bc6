// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractScrollArea>

#include <cstdint>

namespace prosector {

/// A scrolling view of equally high rows, with 64-bit row numbers: QScrollBar counts in int, a
/// 100 GB file has 6·10^9 rows of 16 bytes.
class RowView : public QAbstractScrollArea {
    Q_OBJECT
public:
    explicit RowView(QWidget *parent = nullptr);

    std::uint64_t topRow() const { return m_top; }
    void setTopRow(std::uint64_t row);
    /// Rows that fit wholly.
    std::uint64_t visibleRows() const;
    /// Scrolls only when the row is off screen; then puts it a third down.
    void showRow(std::uint64_t row);
    int lineHeight() const { return m_lineHeight; }

    virtual std::uint64_t rowCount() const { return 0; } // asked already while constructing, by setFont

signals:
    void scrolled();

protected:
    virtual void paintRow(QPainter &painter, std::uint64_t row, const QRect &rect) = 0;
    /// Called before the visible rows are painted.
    virtual void prepare(std::uint64_t first, std::uint64_t count) { Q_UNUSED(first) Q_UNUSED(count) }
    /// Text in the middle when there are no rows.
    virtual QString emptyText() const { return {}; }
    virtual void fontChanged() {}
    virtual int contentWidth() const { return 0; } ///< for the horizontal bar

    void contentChanged(); ///< rowCount or contentWidth changed
    std::uint64_t rowAt(int y) const;
    int horizontalOffset() const;

    void paintEvent(QPaintEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;
    void wheelEvent(QWheelEvent *event) override;
    void changeEvent(QEvent *event) override;
    void scrollContentsBy(int dx, int dy) override;
    /// Moves by rows for keys that scroll; true when the key was one.
    bool scrollByKey(int key);

private:
    void updateBars();
    void measure();

    std::uint64_t m_top = 0;
    int m_lineHeight = 16;
    int m_wheelRest = 0;
    bool m_updating = false;
};

} // namespace prosector
