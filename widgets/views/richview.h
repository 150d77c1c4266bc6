// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QTextBrowser>

namespace prosector {

/// Text with links in the theme's colours: `<img src="icon:error">` draws a themed icon. Links are
/// reported, never followed; nothing is ever loaded from outside.
class RichView final : public QTextBrowser {
    Q_OBJECT
public:
    explicit RichView(QWidget *parent = nullptr);

    /// Body only; styled by us and again when the theme changes.
    void setBody(const QString &html);
    void setMarkdownBody(const QString &markdown);
    /// As high as its text, for use inside a page.
    void setFitting(bool fitting);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// `text` escaped, line breaks kept.
    static QString escaped(const QString &text);
    static QString link(const QString &target, const QString &text);

protected:
    QVariant loadResource(int type, const QUrl &name) override;
    void resizeEvent(QResizeEvent *event) override;

private:
    void restyle();
    void fit();

    QString m_body;
    bool m_markdown = false, m_fitting = false;
};

} // namespace prosector
