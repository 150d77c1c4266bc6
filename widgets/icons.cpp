// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/icons.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>

#include <memory>

namespace prosector {

namespace {

/// Renderers are few (shapes × colours of the theme) and small; they are kept.
QSvgRenderer *renderer(const QString &name, const QColor &color)
{
    static QHash<QString, std::shared_ptr<QSvgRenderer>> cache;
    auto &entry = cache[name + color.name(QColor::HexArgb)];
    if (!entry) {
        QFile file(QStringLiteral(":/prosector/icons/%1.svg").arg(name));
        QByteArray svg;
        if (file.open(QIODevice::ReadOnly))
            svg = file.readAll();
        svg.replace("currentColor", color.name().toLatin1());
        entry = std::make_shared<QSvgRenderer>(svg);
    }
    return entry.get();
}

class ThemedEngine final : public QIconEngine {
public:
    ThemedEngine(QString name, Token token) : m_name(std::move(name)), m_token(token) {}

    void paint(QPainter *painter, const QRect &rect, QIcon::Mode mode, QIcon::State state) override
    {
        Token token = m_token;
        if (mode == QIcon::Disabled)
            token = Token::Faint;
        else if (m_token == Token::Dim && (mode == QIcon::Active || state == QIcon::On))
            token = Token::Text;
        const int side = std::min(rect.width(), rect.height());
        const QRectF square(rect.x() + (rect.width() - side) / 2.0, rect.y() + (rect.height() - side) / 2.0, side, side);
        paintThemedIcon(*painter, square, m_name, Theme::instance().color(token));
    }

    QPixmap pixmap(const QSize &size, QIcon::Mode mode, QIcon::State state) override
    {
        QPixmap pixmap(size);
        pixmap.fill(Qt::transparent);
        QPainter painter(&pixmap);
        paint(&painter, QRect(QPoint(), size), mode, state);
        return pixmap;
    }

    QIconEngine *clone() const override { return new ThemedEngine(*this); }

private:
    QString m_name;
    Token m_token;
};

} // namespace

void paintThemedIcon(QPainter &painter, const QRectF &rect, const QString &name, const QColor &color)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    renderer(name, color)->render(&painter, rect);
    painter.restore();
}

QIcon themedIcon(const QString &name, Token token)
{
    if (!QFile::exists(QStringLiteral(":/prosector/icons/%1.svg").arg(name)))
        return {};
    return QIcon(new ThemedEngine(name, token));
}

QString severityIconName(Severity severity)
{
    const std::string_view name = nameOf(severity);
    return QString::fromUtf8(name.data(), static_cast<qsizetype>(name.size()));
}

QIcon severityIcon(Severity severity) { return themedIcon(severityIconName(severity), Theme::tokenOf(severity)); }

} // namespace prosector
