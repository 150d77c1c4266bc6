// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "widgets/theme.h"

#include <QIcon>

class QPainter;

namespace prosector {

/// `resources/icons/<name>.svg` drawn in the theme's present colour of `token`: recolours by itself
/// when the theme changes and is sharp at every scale. Unknown names give an empty icon.
QIcon themedIcon(const QString &name, Token token = Token::Dim);

/// The shape and colour that go with a severity: octagon, triangle, circle, tick, hatched ring.
QIcon severityIcon(Severity severity);
QString severityIconName(Severity severity);

/// Paints an icon's SVG without a detour over pixmaps, for views and printing.
void paintThemedIcon(QPainter &painter, const QRectF &rect, const QString &name, const QColor &color);

} // namespace prosector
