// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QLineEdit;

namespace prosector {

/// The find line of a pane: Enter next, Shift+Enter previous, Escape closes.
class FindBar final : public QWidget {
    Q_OBJECT
public:
    explicit FindBar(QWidget *parent = nullptr);
    void open();
    void setResult(const QString &text);

signals:
    void findRequested(const QString &text, bool forward);

protected:
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    QLineEdit *m_text;
    QLabel *m_result;
};

} // namespace prosector
