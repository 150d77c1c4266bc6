// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/strict.h"
#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QImage>

#include <array>
#include <cmath>

using namespace prosector;

namespace {

using Linear = std::array<double, 3>;

double linear(double channel) { return channel <= 0.04045 ? channel / 12.92 : std::pow((channel + 0.055) / 1.055, 2.4); }
Linear linear(const QColor &color) { return {linear(color.redF()), linear(color.greenF()), linear(color.blueF())}; }
double luminance(const QColor &color)
{
    const Linear c = linear(color);
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
}

/// WCAG 2.1 contrast ratio.
double contrast(const QColor &a, const QColor &b)
{
    const double la = luminance(a), lb = luminance(b);
    return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

using Matrix = std::array<Linear, 3>;
/// Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB.
constexpr Matrix protanopia{{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}};
constexpr Matrix deuteranopia{{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix tritanopia{{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}};
constexpr Matrix usual{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

Linear seen(const QColor &color, const Matrix &matrix)
{
    const Linear c = linear(color);
    Linear out{};
    for (std::size_t i = 0; i < 3; ++i)
        out[i] = std::clamp(matrix[i][0] * c[0] + matrix[i][1] * c[1] + matrix[i][2] * c[2], 0.0, 1.0);
    return out;
}

/// CIE 1976 L*a*b*, D65.
Linear lab(const Linear &c)
{
    const auto f = [](double t) { return t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16.0 / 116; };
    const double x = f((0.4124 * c[0] + 0.3576 * c[1] + 0.1805 * c[2]) / 0.9505);
    const double y = f(0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]);
    const double z = f((0.0193 * c[0] + 0.1192 * c[1] + 0.9505 * c[2]) / 1.089);
    return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double distance(const QColor &a, const QColor &b, const Matrix &matrix)
{
    const Linear p = lab(seen(a, matrix)), q = lab(seen(b, matrix));
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

constexpr std::array severities{Token::Error, Token::Warning, Token::Info, Token::Ok, Token::Undecidable};

} // namespace

class ThemeTest : public QObject {
    Q_OBJECT
private slots:
    void init() { failOnQtWarnings(); }
    void textIsReadable_data();
    void textIsReadable();
    void marksAreVisible();
    void severitiesStayApart_data();
    void severitiesStayApart();
    void iconsHaveShapesOfTheirOwn();
    void modeIsApplied();
    void heatIsMonotone();
    void rowsGrowWithTheFont();
};

void ThemeTest::textIsReadable_data()
{
    QTest::addColumn<int>("token");
    QTest::addColumn<bool>("dark");
    for (const bool dark : {false, true}) {
        for (const auto &[token, name] : {std::pair(Token::Text, "text"), std::pair(Token::Dim, "dim"), std::pair(Token::Link, "link"),
                                          std::pair(Token::Error, "error"), std::pair(Token::Warning, "warning"), std::pair(Token::Info, "info"),
                                          std::pair(Token::Ok, "ok"), std::pair(Token::Undecidable, "undecidable"),
                                          std::pair(Token::SetRequest, "setRequest"), std::pair(Token::SetFlag, "setFlag"),
                                          std::pair(Token::SetLog, "setLog"), std::pair(Token::SetCheckpoint, "setCheckpoint"),
                                          std::pair(Token::SetDefault, "setDefault")})
            QTest::addRow("%s %s", name, dark ? "dark" : "light") << static_cast<int>(token) << dark;
    }
}

void ThemeTest::textIsReadable()
{
    QFETCH(int, token);
    QFETCH(bool, dark);
    const Theme &theme = Theme::instance();
    const QColor ink = theme.color(static_cast<Token>(token), dark);
    for (const Token ground : {Token::Pane, Token::Stripe, Token::Window}) {
        const double ratio = contrast(ink, theme.color(ground, dark));
        QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("%1 : 1 on %2").arg(ratio).arg(theme.color(ground, dark).name())));
    }
    if (token == static_cast<int>(Token::Text))
        QVERIFY(contrast(ink, theme.color(Token::SelectedRow, dark)) >= 4.5);
    if (token == static_cast<int>(Token::Text) || token == static_cast<int>(Token::Dim))
        QVERIFY(contrast(ink, theme.color(Token::Header, dark)) >= 4.5);
}

void ThemeTest::marksAreVisible()
{
    const Theme &theme = Theme::instance();
    for (const bool dark : {false, true}) {
        for (const Token mark : {Token::Highlight, Token::Control, Token::RunA, Token::RunB, Token::Error, Token::Warning, Token::Info, Token::Ok}) {
            for (const Token ground : {Token::Pane, Token::Header, Token::SelectedRow}) {
                if (ground == Token::SelectedRow && mark == Token::Control)
                    continue;
                const double ratio = contrast(theme.color(mark, dark), theme.color(ground, dark));
                QVERIFY2(ratio >= 3, qPrintable(QStringLiteral("%1 on %2: %3").arg(theme.color(mark, dark).name(), theme.color(ground, dark).name()).arg(ratio)));
            }
        }
        QVERIFY(contrast(theme.color(Token::HighlightText, dark), theme.color(Token::Highlight, dark)) >= 4.5);
    }
}

void ThemeTest::severitiesStayApart_data()
{
    QTest::addColumn<int>("vision");
    QTest::addColumn<bool>("dark");
    const char *const names[] = {"usual", "protanopia", "deuteranopia", "tritanopia"};
    for (int i = 0; i < 4; ++i) {
        QTest::addRow("%s light", names[i]) << i << false;
        QTest::addRow("%s dark", names[i]) << i << true;
    }
}

void ThemeTest::severitiesStayApart()
{
    QFETCH(int, vision);
    QFETCH(bool, dark);
    const Matrix matrix = std::array{usual, protanopia, deuteranopia, tritanopia}[static_cast<std::size_t>(vision)];
    const Theme &theme = Theme::instance();
    for (std::size_t i = 0; i < severities.size(); ++i) {
        for (std::size_t k = i + 1; k < severities.size(); ++k) {
            const double d = distance(theme.color(severities[i], dark), theme.color(severities[k], dark), matrix);
            // 2.3 is a just noticeable difference side by side; five times that holds across a list.
            QVERIFY2(d >= 11.5, qPrintable(QStringLiteral("tokens %1 and %2: %3").arg(i).arg(k).arg(d)));
        }
    }
}

void ThemeTest::iconsHaveShapesOfTheirOwn()
{
    // Coverage alone, without colour, must tell them apart.
    std::vector<QImage> shapes;
    for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Info, Severity::Ok, Severity::Undecidable}) {
        const QImage image = severityIcon(severity).pixmap(QSize(16, 16), 1.0).toImage().convertToFormat(QImage::Format_Alpha8);
        QVERIFY(!image.isNull());
        for (const QImage &other : shapes) {
            int different = 0;
            for (int y = 0; y < 16; ++y) {
                for (int x = 0; x < 16; ++x)
                    different += std::abs(qAlpha(image.pixel(x, y)) - qAlpha(other.pixel(x, y))) > 100 ? 1 : 0;
            }
            QVERIFY2(different >= 16, qPrintable(QString::number(different)));
        }
        shapes.push_back(image);
    }
}

void ThemeTest::modeIsApplied()
{
    Theme &theme = Theme::instance();
    theme.setMode(Theme::Mode::Dark);
    QVERIFY(theme.dark());
    QCOMPARE(QApplication::palette().color(QPalette::Base), theme.color(Token::Pane, true));
    theme.setMode(Theme::Mode::Light);
    QVERIFY(!theme.dark());
    QCOMPARE(QApplication::palette().color(QPalette::Base), theme.color(Token::Pane, false));
    theme.setMode(Theme::Mode::System);
}

void ThemeTest::heatIsMonotone()
{
    const Theme &theme = Theme::instance();
    double before = -1;
    for (int i = 0; i <= 20; ++i) {
        const double now = luminance(theme.heat(i / 20.0));
        QVERIFY(now > before);
        before = now;
    }
    QVERIFY(luminance(theme.diverging(0)) > luminance(theme.diverging(-1)));
    QVERIFY(luminance(theme.diverging(0)) > luminance(theme.diverging(1)));
}

void ThemeTest::rowsGrowWithTheFont()
{
    QFont font = QApplication::font();
    const int usualHeight = Theme::rowHeight(QFontMetrics(font));
    font.setPointSizeF(font.pointSizeF() * 1.5);
    QVERIFY(usualHeight >= 22);
    QVERIFY(Theme::rowHeight(QFontMetrics(font)) >= QFontMetrics(font).height() + 4);
    QVERIFY(Theme::rowHeight(QFontMetrics(font)) > usualHeight);
}

PROSECTOR_TEST(ThemeTest, tst_theme)
#include "tst_theme.moc"
