// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/panels/panel.h"

class QComboBox;
class QLabel;
class QLineEdit;
class QStackedWidget;

namespace prosector {

class TableView;
class TensorModel;

/// All tensors of what is open, or of one model folder: name, type, shape, size, shard, offset.
class TensorsPane final : public Panel {
    Q_OBJECT
public:
    explicit TensorsPane(Session *session, QWidget *parent = nullptr);
    static QString paneId() { return QStringLiteral("tensors"); }

    bool canFind() const override { return true; }
    QString goToHint() const override;
    void goTo(const QString &where) override;
    void copy() override;
    QAbstractItemModel *csvModel() const override;

signals:
    void placeActivated(const prosector::Place &place);

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;
    void findText(const QString &text, bool forward) override;

private:
    void fillSources();
    void showSource();
    void updateOrigin();

    TensorModel *m_model;
    TableView *m_view;
    QComboBox *m_sources;
    QLineEdit *m_filter;
    QStackedWidget *m_stack;
};

} // namespace prosector
