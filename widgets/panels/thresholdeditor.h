// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

namespace prosector {

class Session;

/// The thresholds of an instrument: each editable inside its limits, with a reset. A change runs
/// the instrument again.
class ThresholdEditor final : public QWidget {
    Q_OBJECT
public:
    ThresholdEditor(Session *session, int instrument, QWidget *parent = nullptr);
};

} // namespace prosector
