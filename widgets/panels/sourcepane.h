// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/runs/run.h"
#include "widgets/panels/panel.h"

class QSplitter;
class QToolButton;

namespace prosector {

class GgufModel;
class ColumnFit;
class HexView;
class JsonTreeModel;
class OverviewStrip;
class TextView;
class TreeView;

/// One artifact's bytes in three synchronised views: tree, text and hexadecimal. The artifact is
/// known by name, so that the pane survives a reload.
class SourcePane final : public Panel {
    Q_OBJECT
public:
    SourcePane(Session *session, Side side, const QString &artifact, QWidget *parent = nullptr);
    static QString idFor(Side side, const QString &artifact); ///< "source:config.json", "source:B:config.json"

    bool canFind() const override { return true; }
    QString goToHint() const override;
    void goTo(const QString &where) override;
    void copy() override;
    QAbstractItemModel *csvModel() const override;
    bool isBusy() const override;

    /// The bytes outlined in text and hex; empty when none are.
    ByteRange selectedBytes() const;

protected:
    void refresh() override;
    void reveal(const Selection &selection) override;
    void findText(const QString &text, bool forward) override;

private:
    enum View { Tree = 1, Text = 2, Hex = 4 };
    const Artifact *artifact() const;
    void addToggle(View view, const QString &text, QWidget *widget);
    void setViews(int views);
    void selectBytes(const ByteRange &bytes, QObject *except);
    void selectInTree(const Anchor &where);
    void publishPlace(const Anchor &where);
    void updateMarks();
    void updateWindow();

    Side m_side;
    QString m_artifactName;
    JsonTreeModel *m_json;
    GgufModel *m_gguf;
    TreeView *m_tree;
    ColumnFit *m_fit = nullptr;
    TextView *m_text;
    HexView *m_hex;
    OverviewStrip *m_strip;
    QSplitter *m_upper; ///< tree and text
    struct Toggle {
        View view;
        QToolButton *button;
        QWidget *widget;
    };
    std::vector<Toggle> m_toggles;
    RunPtr m_run; ///< what is shown now
    bool m_viewsChosen = false;
};

} // namespace prosector
