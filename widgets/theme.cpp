// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFile>
#include <QFont>
#include <QFontDatabase>
#include <QFontMetrics>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QStyle>
#include <QStyleFactory>
#include <QToolTip>

#include <algorithm>
#include <cmath>

namespace prosector {

namespace {

struct TokenName {
    Token token;
    const char *name;
};
constexpr TokenName tokenNames[] = {
    {Token::Window, "window"}, {Token::Pane, "pane"}, {Token::Stripe, "stripe"}, {Token::Header, "header"},
    {Token::Raised, "raised"}, {Token::Text, "text"}, {Token::Dim, "dim"}, {Token::Faint, "faint"},
    {Token::Hairline, "hairline"}, {Token::Control, "control"}, {Token::Link, "link"},
    {Token::Highlight, "highlight"}, {Token::HighlightText, "highlightText"}, {Token::SelectedRow, "selection"},
    {Token::Error, "error"}, {Token::Warning, "warning"}, {Token::Info, "info"}, {Token::Ok, "ok"},
    {Token::Undecidable, "undecidable"}, {Token::RunA, "runA"}, {Token::RunB, "runB"},
    {Token::SetRequest, "setRequest"}, {Token::SetFlag, "setFlag"}, {Token::SetLog, "setLog"},
    {Token::SetCheckpoint, "setCheckpoint"}, {Token::SetDefault, "setDefault"},
};
static_assert(std::size(tokenNames) == static_cast<std::size_t>(Token::Count));

std::vector<QColor> colorsOf(const QJsonArray &array)
{
    std::vector<QColor> colors;
    for (const QJsonValue &value : array)
        colors.emplace_back(value.toString());
    return colors;
}

QColor mixed(const QColor &a, const QColor &b, double share)
{
    const auto channel = [share](double from, double to) { return static_cast<float>(from + (to - from) * share); };
    return QColor::fromRgbF(channel(a.redF(), b.redF()), channel(a.greenF(), b.greenF()), channel(a.blueF(), b.blueF()));
}

QColor along(const std::vector<QColor> &stops, double share)
{
    const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto index = std::min(static_cast<std::size_t>(at), stops.size() - 2);
    return mixed(stops[index], stops[index + 1], at - static_cast<double>(index));
}

} // namespace

Theme &Theme::instance()
{
    // Owned by the application, so that it ends before the things it colours can outlive it.
    static Theme *const theme = new Theme;
    return *theme;
}

Theme::Theme() : QObject(QCoreApplication::instance())
{
    load();
    m_systemHighlight = QGuiApplication::palette().color(QPalette::Highlight);
    m_systemPointSize = QApplication::font().pointSizeF();
    qApp->installEventFilter(this);
}

void Theme::load()
{
    QFile file(QStringLiteral(":/prosector/themes/prosector.json"));
    const bool open = file.open(QIODevice::ReadOnly);
    Q_ASSERT(open);
    Q_UNUSED(open)
    const QJsonObject root = QJsonDocument::fromJson(file.readAll()).object();
    for (const bool dark : {false, true}) {
        const QJsonObject colors = root.value(dark ? QLatin1String("dark") : QLatin1String("light")).toObject();
        for (const auto &[token, name] : tokenNames) {
            const QColor color(colors.value(QLatin1String(name)).toString());
            Q_ASSERT_X(color.isValid(), "theme", name);
            m_colors[dark][static_cast<std::size_t>(token)] = color;
        }
    }
    m_heat = colorsOf(root.value(QLatin1String("heat")).toArray());
    m_diverging = colorsOf(root.value(QLatin1String("diverging")).toArray());
}

QColor Theme::color(Token token, bool dark) const
{
    return m_colors[dark][static_cast<std::size_t>(token)];
}

QColor Theme::tint(const QColor &ink, double share) const { return mixed(color(Token::Pane), ink, share); }
QColor Theme::heat(double share) const { return along(m_heat, share); }
QColor Theme::diverging(double value) const { return along(m_diverging, (value + 1) / 2); }

Token Theme::tokenOf(Severity severity)
{
    switch (severity) {
    case Severity::Ok: return Token::Ok;
    case Severity::Undecidable: return Token::Undecidable;
    case Severity::Info: return Token::Info;
    case Severity::Warning: return Token::Warning;
    case Severity::Error: return Token::Error;
    }
    return Token::Undecidable;
}

int Theme::rowHeight(const QFontMetrics &metrics)
{
    const int wanted = metrics.height() + grid + 2;
    return std::max(22, wanted + (wanted & 1));
}

QFont Theme::fixedFont()
{
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPointSizeF(QApplication::font().pointSizeF());
    return font;
}

void Theme::setFontScale(double scale)
{
    m_fontScale = std::clamp(scale, 0.5, 3.0);
    QFont font = QApplication::font();
    font.setPointSizeF(m_systemPointSize * m_fontScale);
    QApplication::setFont(font);
    // Widgets below a style sheet resolve their font when it is applied, and not again.
    if (!qApp->styleSheet().isEmpty()) {
        qApp->setStyleSheet({});
        qApp->setStyleSheet(styleSheet());
    }
    emit changed();
}

QString Theme::nameOf(Mode mode)
{
    switch (mode) {
    case Mode::Light: return QStringLiteral("light");
    case Mode::Dark: return QStringLiteral("dark");
    case Mode::System: break;
    }
    return QStringLiteral("system");
}

Theme::Mode Theme::modeFromName(const QString &name)
{
    return name == QLatin1String("light") ? Mode::Light : name == QLatin1String("dark") ? Mode::Dark : Mode::System;
}

void Theme::setMode(Mode mode)
{
    m_mode = mode;
    apply();
}

void Theme::apply()
{
    m_applying = true;
    // Without our palette the application shows the system's: its lightness is the only sign Qt 6.4 gives.
    QApplication::setPalette(QPalette());
    const QPalette system = QGuiApplication::palette();
    m_systemHighlight = system.color(QPalette::Highlight);
    const bool systemDark = system.color(QPalette::Window).lightnessF() < system.color(QPalette::WindowText).lightnessF();
    m_dark = m_mode == Mode::System ? systemDark : m_mode == Mode::Dark;
    if (QApplication::style()->name() != QLatin1String("fusion"))
        QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
    const QPalette ours = palette();
    QApplication::setPalette(ours);
    QToolTip::setPalette(ours);
    qApp->setStyleSheet(styleSheet());
    m_applying = false;
    emit changed();
}

QPalette Theme::palette() const
{
    QPalette palette;
    palette.setColor(QPalette::Window, color(Token::Window));
    palette.setColor(QPalette::WindowText, color(Token::Text));
    palette.setColor(QPalette::Base, color(Token::Pane));
    palette.setColor(QPalette::AlternateBase, color(Token::Stripe));
    palette.setColor(QPalette::Text, color(Token::Text));
    palette.setColor(QPalette::Button, color(Token::Header));
    palette.setColor(QPalette::ButtonText, color(Token::Text));
    palette.setColor(QPalette::BrightText, color(Token::Error));
    palette.setColor(QPalette::ToolTipBase, color(Token::Raised));
    palette.setColor(QPalette::ToolTipText, color(Token::Text));
    palette.setColor(QPalette::PlaceholderText, color(Token::Dim));
    palette.setColor(QPalette::Link, color(Token::Link));
    palette.setColor(QPalette::LinkVisited, color(Token::Link));
    palette.setColor(QPalette::Highlight, color(Token::Highlight));
    palette.setColor(QPalette::HighlightedText, color(Token::HighlightText));
    palette.setColor(QPalette::Light, mixed(color(Token::Header), color(Token::Text), 0.08));
    palette.setColor(QPalette::Midlight, color(Token::Hairline));
    palette.setColor(QPalette::Mid, color(Token::Control));
    palette.setColor(QPalette::Dark, mixed(color(Token::Hairline), color(Token::Text), 0.2));
    palette.setColor(QPalette::Shadow, color(Token::Control));
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, color(Token::Faint));
    palette.setColor(QPalette::Disabled, QPalette::Highlight, color(Token::Faint));
    return palette;
}

QString Theme::styleSheet() const
{
    const auto name = [this](Token token) { return color(token).name(); };
    return QStringLiteral(
               "QMainWindow::separator { background: %1; width: 1px; height: 1px; }"
               "QMainWindow::separator:hover { background: %2; }"
               "QSplitter::handle { background: %1; }"
               "QToolTip { background: %3; color: %4; border: 1px solid %5; padding: 4px; }"
               "QAbstractItemView { border: none; background: %6; alternate-background-color: %7;"
               " selection-background-color: %8; selection-color: %4; outline: none; }"
               "QAbstractScrollArea { border: none; }"
               "QHeaderView { background: %6; border: none; }"
               "QHeaderView::section { background: %6; color: %9; border: none; border-bottom: 1px solid %1;"
               " padding: 2px 6px; }"
               "QTabBar::tab { background: %10; color: %9; border: none; padding: 5px 12px; border-right: 1px solid %1; }"
               "QTabBar::tab:selected { background: %6; color: %4; border-top: 2px solid %2; padding-top: 3px; }"
               "QTabBar::tab:hover:!selected { color: %4; }"
               "QTabWidget::pane { border: none; }"
               "QStatusBar { border-top: 1px solid %1; } QStatusBar::item { border: none; }"
               "QMenuBar { border-bottom: 1px solid %1; }"
               "QToolButton { border: none; border-radius: 3px; padding: 2px 3px; background: transparent; color: %9; }"
               "QToolButton:hover { background: %11; } QToolButton:checked { background: %11; color: %4; }"
               "QToolButton:focus { border: 1px solid %2; }"
               "QToolButton::menu-indicator { image: none; }")
        .arg(name(Token::Hairline), name(Token::Highlight), name(Token::Raised), name(Token::Text), name(Token::Control),
             name(Token::Pane), name(Token::Stripe), name(Token::SelectedRow), name(Token::Dim))
        .arg(name(Token::Window), mixed(color(Token::Header), color(Token::Text), 0.1).name());
}

bool Theme::eventFilter(QObject *watched, QEvent *event)
{
    if (event->type() == QEvent::ThemeChange && !m_applying && m_mode == Mode::System && watched->isWidgetType()
        && static_cast<QWidget *>(watched)->isWindow()) {
        // Queued: the palette must not change in the midst of delivering the news of it.
        QMetaObject::invokeMethod(this, &Theme::apply, Qt::QueuedConnection);
    }
    return QObject::eventFilter(watched, event);
}

} // namespace prosector
