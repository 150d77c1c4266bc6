// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/thresholdeditor.h"

#include "models/session/session.h"
#include "models/session/text.h"
#include "widgets/theme.h"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include <cmath>

namespace prosector {

ThresholdEditor::ThresholdEditor(Session *session, int instrument, QWidget *parent) : QWidget(parent)
{
    auto *const grid = new QGridLayout(this);
    grid->setContentsMargins(2 * Theme::grid, 0, 2 * Theme::grid, 0);
    grid->setColumnStretch(2, 1);
    const Params params = session->params(instrument);
    int row = 0;
    for (const ParamSpec &spec : session->state(instrument).instrument->params) {
        auto *const label = new QLabel(toQt(spec.title));
        label->setWordWrap(true);
        auto *const box = new QDoubleSpinBox;
        label->setBuddy(box);
        box->setDecimals(std::floor(spec.value) == spec.value && std::abs(spec.value) >= 1 ? 2 : 6);
        box->setRange(spec.minimum, spec.maximum > spec.minimum ? spec.maximum : 1e12);
        box->setValue(params[spec.name]);
        box->setSuffix(spec.unit.empty() ? QString() : QLatin1Char(' ') + toQt(spec.unit));
        box->setKeyboardTracking(false);
        box->setAccessibleName(toQt(spec.title));
        const bool changed = params[spec.name] != spec.value;
        auto *const usual = new QLabel(changed ? tr("default %1").arg(spec.value) : QString());
        usual->setForegroundRole(QPalette::PlaceholderText);
        connect(box, &QDoubleSpinBox::valueChanged, this,
                [session, instrument, name = spec.name](double value) { session->setParam(instrument, name, value); });
        grid->addWidget(label, row, 0);
        grid->addWidget(box, row, 1);
        grid->addWidget(usual, row++, 2);
    }
    auto *const reset = new QPushButton(tr("Reset to defaults"));
    reset->setEnabled(!session->state(instrument).changed.empty());
    connect(reset, &QPushButton::clicked, this, [session, instrument] { session->resetParams(instrument); });
    grid->addWidget(reset, row, 1);
}

} // namespace prosector
