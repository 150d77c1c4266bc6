// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"

#include <QColor>
#include <QObject>
#include <QPalette>

#include <array>
#include <vector>

class QFont;
class QFontMetrics;

namespace prosector {

/// Names of the colour tokens in resources/themes/prosector.json, in no particular order.
enum class Token : std::uint8_t {
    Window, Pane, Stripe, Header, Raised, Text, Dim, Faint, Hairline, Control, Link, Highlight, HighlightText, SelectedRow,
    Error, Warning, Info, Ok, Undecidable, RunA, RunB, SetRequest, SetFlag, SetLog, SetCheckpoint, SetDefault,
    Count,
};

/// The one source of colour. Lives in the GUI thread; one per process, since it owns the
/// application's palette and style sheet.
class Theme final : public QObject {
    Q_OBJECT
public:
    enum class Mode : std::uint8_t { System, Light, Dark };

    static Theme &instance();

    /// Applies palette and style sheet to the application and keeps following the system in System mode.
    void setMode(Mode mode);
    Mode mode() const { return m_mode; }
    bool dark() const { return m_dark; }
    static QString nameOf(Mode mode); ///< "system", "light", "dark"
    static Mode modeFromName(const QString &name);

    QColor color(Token token) const { return color(token, m_dark); }
    QColor color(Token token, bool dark) const;
    QColor severity(Severity severity) const { return color(tokenOf(severity)); }
    /// `ink` at `share` (0..1) over the pane's background: a tint to lay behind text.
    QColor tint(const QColor &ink, double share) const;
    /// Perceptually uniform, 0..1.
    QColor heat(double share) const;
    /// Blue to orange, -1..1, neutral at 0.
    QColor diverging(double value) const;

    static Token tokenOf(Severity severity);
    static constexpr int grid = 4; ///< logical pixels
    /// Height of a table row: 22 px at 96 dpi with the usual font, growing with it.
    static int rowHeight(const QFontMetrics &metrics);
    static QFont fixedFont(); ///< the system's, in the size of the interface font

    /// Multiplies the interface font (1.0 = the system's size).
    void setFontScale(double scale);
    double fontScale() const { return m_fontScale; }

signals:
    void changed();

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    Theme();
    void load();
    void apply();
    QPalette palette() const;
    QString styleSheet() const;

    std::array<std::array<QColor, static_cast<std::size_t>(Token::Count)>, 2> m_colors;
    std::vector<QColor> m_heat, m_diverging;
    Mode m_mode = Mode::System;
    bool m_dark = false;
    bool m_applying = false;
    double m_fontScale = 1.0;
    double m_systemPointSize = 0;
    QColor m_systemHighlight;
};

} // namespace prosector
