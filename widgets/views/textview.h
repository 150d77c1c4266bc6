// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/bytesource.h"
#include "widgets/views/bytemark.h"
#include "widgets/views/rowview.h"
#include "widgets/views/textlines.h"

#include <optional>
#include <vector>

class QTimer;

namespace prosector {

class JobRunner;

/// Text of a file with line numbers, findings' bytes tinted, the anchored bytes outlined. Cut into
/// rows in a job; files over TextLines::pieceSize are shown piece by piece.
class TextView final : public RowView {
    Q_OBJECT
public:
    explicit TextView(JobRunner *runner, QWidget *parent = nullptr);

    /// `whole` spares reading when the text is in memory already; it must equal the source's bytes.
    void setSource(SourcePtr source, std::shared_ptr<const std::string> whole = {});
    void setMarks(std::vector<ByteMark> marks);

    const ByteRange &selection() const { return m_selection; }
    /// Selects bytes of the file and shows them, loading their piece if need be. Emits nothing.
    void select(const ByteRange &bytes);
    /// Selects whole lines, counted from 1.
    void selectLines(std::uint64_t from, std::uint64_t to);
    QString selectedText() const; ///< at most 16 MiB
    /// All rows stand where they stay.
    bool ready() const;
    std::uint64_t lineOf(std::uint64_t offset) const; ///< 0 when that piece is not loaded
    const TextLines *lines() const { return m_lines.get(); }

    std::uint64_t rowCount() const override { return m_lines ? m_lines->rowCount() : 0; }

signals:
    void selected(const prosector::ByteRange &bytes); ///< by mouse or key
    void loaded();

protected:
    void paintRow(QPainter &painter, std::uint64_t row, const QRect &rect) override;
    QString emptyText() const override;
    void fontChanged() override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void mouseDoubleClickEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;
    bool viewportEvent(QEvent *event) override;

private:
    int gutter() const;
    std::uint32_t columns() const;
    void layOutAgainIfNeeded();
    std::uint64_t offsetAt(const QPoint &position) const;
    void load(std::uint64_t base);
    void layOut();
    void showSelection();
    void selectWordAt(std::uint64_t offset);
    void followScroll(); ///< loads the neighbouring piece at either end

    JobRunner *m_runner;
    QString m_key;
    SourcePtr m_source;
    std::shared_ptr<const std::string> m_text; ///< of the loaded piece
    std::uint64_t m_base = 0;
    std::uint32_t m_columns = 0;
    std::shared_ptr<const TextLines> m_lines;
    std::vector<ByteMark> m_marks;
    ByteRange m_selection;
    std::optional<std::pair<std::uint64_t, std::uint64_t>> m_wantedLines;
    bool m_showWhenLoaded = false;
    std::optional<std::uint64_t> m_keepTop; ///< offset to keep in view when the next piece arrives
    std::uint64_t m_dragFrom = 0;
    bool m_dragging = false;
    QString m_problem;
    QTimer *m_relayout;
};

} // namespace prosector
