// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/item/tokenlayout.h"
#include "widgets/views/rowview.h"

class QTimer;

namespace prosector {

class JobRunner;

/// Tokens painted as coloured pieces: wrapped text, or one a row with id, piece, bytes and offsets. Neighbours
/// alternate two tints, special tokens are pills, roles lie behind the text, a dear logprob is tinted. Only
/// visible rows are painted; rows of the wrapped view are cut in a job.
class TokenView final : public RowView {
    Q_OBJECT
public:
    enum class Mode : std::uint8_t { Wrapped, List };

    /// A window's views outlive the runner, so nothing here asks it for anything while going.
    explicit TokenView(JobRunner *runner, QWidget *parent = nullptr);

    void setSequence(TokenSequencePtr sequence);
    const TokenSequencePtr &sequence() const { return m_sequence; }
    void setMode(Mode mode);
    Mode mode() const { return m_mode; }

    const TokenRange &selection() const { return m_selection; }
    /// Selects tokens and shows the first. Emits nothing.
    void select(const TokenRange &tokens);
    QString selectedText() const; ///< the text of the tokens; of ids alone the ids; at most 16 MiB
    /// Rows stand where they stay.
    bool ready() const { return !m_sequence || m_mode == Mode::List || m_layout; }

    std::uint64_t rowCount() const override;

signals:
    void selected(const prosector::TokenRange &tokens); ///< by mouse or key
    void laidOut();

protected:
    void paintRow(QPainter &painter, std::uint64_t row, const QRect &rect) override;
    QString emptyText() const override;
    void fontChanged() override;
    void resizeEvent(QResizeEvent *event) override;
    void mousePressEvent(QMouseEvent *event) override;
    void mouseMoveEvent(QMouseEvent *event) override;
    void mouseReleaseEvent(QMouseEvent *event) override;
    void keyPressEvent(QKeyEvent *event) override;

private:
    int cell() const;
    int gutter() const; ///< pixels in front of the tokens, for the index
    std::uint32_t columns() const;
    void layOut();
    std::uint64_t rowOf(std::uint64_t token) const;
    std::uint64_t tokenAt(const QPoint &position) const;
    void paintToken(QPainter &painter, std::uint64_t token, const QRect &rect) const;
    void paintLine(QPainter &painter, std::uint64_t token, const QRect &rect) const;
    void moveTo(std::uint64_t token, bool extend);

    JobRunner *m_runner;
    QString m_key;
    TokenSequencePtr m_sequence;
    TokenLayoutPtr m_layout;
    Mode m_mode = Mode::Wrapped;
    TokenRange m_selection;
    std::uint64_t m_anchor = 0, m_cursor = 0; ///< where a selection began, and its moving end
    bool m_dragging = false, m_showWhenLaidOut = false;
    QTimer *m_relayout;
};

} // namespace prosector
