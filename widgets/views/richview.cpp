// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/richview.h"

#include "widgets/icons.h"
#include "widgets/theme.h"

#include <QAbstractTextDocumentLayout>
#include <QTextFrame>

#include <array>

namespace prosector {

namespace {

Token tokenOfIcon(const QString &name)
{
    for (const Severity severity : {Severity::Error, Severity::Warning, Severity::Info, Severity::Ok, Severity::Undecidable}) {
        if (name == severityIconName(severity))
            return Theme::tokenOf(severity);
    }
    return Token::Dim;
}

} // namespace

RichView::RichView(QWidget *parent) : QTextBrowser(parent)
{
    setOpenLinks(false);
    setFrameShape(NoFrame);
    document()->setDocumentMargin(2 * Theme::grid);
    connect(&Theme::instance(), &Theme::changed, this, &RichView::restyle);
}

QString RichView::escaped(const QString &text)
{
    return text.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>"));
}

QString RichView::link(const QString &target, const QString &text)
{
    return QStringLiteral("<a href=\"%1\">%2</a>").arg(target.toHtmlEscaped(), escaped(text));
}

void RichView::setBody(const QString &html)
{
    if (m_body == html && !m_markdown)
        return;
    m_body = html;
    m_markdown = false;
    restyle();
}

void RichView::setMarkdownBody(const QString &markdown)
{
    m_body = markdown;
    m_markdown = true;
    restyle();
}

void RichView::setFitting(bool fitting)
{
    m_fitting = fitting;
    setVerticalScrollBarPolicy(fitting ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    setHorizontalScrollBarPolicy(fitting ? Qt::ScrollBarAlwaysOff : Qt::ScrollBarAsNeeded);
    setSizePolicy(QSizePolicy::Expanding, fitting ? QSizePolicy::Fixed : QSizePolicy::Expanding);
}

void RichView::restyle()
{
    const Theme &theme = Theme::instance();
    const QFont fixed = Theme::fixedFont();
    document()->setDefaultFont(font());
    document()->setDefaultStyleSheet(
        QStringLiteral("a { color: %1; text-decoration: none; }"
                       "h1 { font-size: large; font-weight: 600; margin: 0 0 4px 0; }"
                       "h2 { font-size: medium; font-weight: 600; margin: 12px 0 4px 0; }"
                       "h3 { font-size: medium; font-weight: 600; color: %2; margin: 10px 0 2px 0; }"
                       "p { margin: 0 0 6px 0; } ul { margin: 0 0 6px 0; -qt-list-indent: 1; }"
                       "td { padding: 1px 10px 1px 0; } .key { color: %2; } .dim { color: %2; }"
                       "pre, code, .code { font-family: '%3'; }")
            .arg(theme.color(Token::Link).name(), theme.color(Token::Dim).name(), fixed.family()));
    if (m_markdown) {
        document()->setMarkdown(m_body, QTextDocument::MarkdownDialectGitHub);
    } else {
        setHtml(m_body);
    }
    if (m_fitting) {
        // Stacked on a page: the page's own spacing parts them.
        QTextFrameFormat frame = document()->rootFrame()->frameFormat();
        frame.setMargin(0);
        frame.setLeftMargin(2 * Theme::grid);
        frame.setRightMargin(2 * Theme::grid);
        document()->rootFrame()->setFrameFormat(frame);
    }
    fit();
}

void RichView::fit()
{
    if (!m_fitting)
        return;
    document()->setTextWidth(viewport()->width());
    const int height = static_cast<int>(std::ceil(document()->size().height())) + 2;
    if (height != minimumHeight())
        setFixedHeight(height);
}

QSize RichView::sizeHint() const { return m_fitting ? QSize(320, height()) : QTextBrowser::sizeHint(); }
QSize RichView::minimumSizeHint() const { return m_fitting ? QSize(160, 0) : QSize(120, 80); }

void RichView::resizeEvent(QResizeEvent *event)
{
    QTextBrowser::resizeEvent(event);
    fit();
}

QVariant RichView::loadResource(int, const QUrl &name)
{
    if (name.scheme() != QLatin1String("icon"))
        return {}; // nothing from outside
    const int side = fontMetrics().ascent() + 2;
    return themedIcon(name.path(), tokenOfIcon(name.path())).pixmap(QSize(side, side), devicePixelRatioF());
}

} // namespace prosector
