// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/panels/exporting.h"

#include "models/item/roles.h"
#include "widgets/panels/panel.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFileDialog>
#include <QMenu>
#include <QMessageBox>
#include <QPainter>
#include <QPdfWriter>
#include <QPointer>
#include <QPrintDialog>
#include <QPrinter>
#include <QSaveFile>
#include <QScrollArea>
#include <QSvgGenerator>
#include <QTimer>

namespace prosector {

namespace {

/// What a scroll area shows a part of; else the widget itself.
QWidget *wholeOf(QWidget *widget)
{
    if (auto *const area = qobject_cast<QScrollArea *>(widget); area && area->widget())
        return area->widget();
    return widget;
}

void paintOnPage(QWidget *widget, QPagedPaintDevice &device, QPainter &painter)
{
    const QSizeF page(device.width(), device.height());
    const double scale = std::min({page.width() / widget->width(), page.height() / widget->height(),
                                   device.logicalDpiX() / 96.0});
    painter.scale(scale, scale);
    widget->render(&painter, QPoint(), QRegion(), QWidget::DrawChildren);
}

void complain(QWidget *parent, const QString &text)
{
    auto *const box = new QMessageBox(QMessageBox::Warning, QApplication::applicationDisplayName(), text, QMessageBox::Ok, parent);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setModal(false);
    box->show();
}

void askFile(QWidget *parent, QString name, const QString &ending, const std::function<void(const QString &)> &write)
{
    auto *const dialog = new QFileDialog(parent, Panel::tr("Export %1").arg(name));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending);
    dialog->setNameFilter(QStringLiteral("*.%1").arg(ending));
    dialog->selectFile(name.replace(QLatin1Char('/'), QLatin1Char('-')) + QLatin1Char('.') + ending);
    QObject::connect(dialog, &QFileDialog::fileSelected, parent, write);
    dialog->show();
}

/// Writes a slice of rows each time the event loop is idle.
class CsvWriter final : public QObject {
public:
    CsvWriter(QAbstractItemModel *model, const QString &file, QWidget *parent)
        : QObject(parent), m_model(model), m_rows(*model), m_file(file)
    {
        connect(model, &QAbstractItemModel::modelAboutToBeReset, this, [this] { m_changed = true; });
        if (!m_file.open(QIODevice::WriteOnly)) {
            complain(parent, Panel::tr("%1 could not be written: %2").arg(file, m_file.errorString()));
            deleteLater();
            return;
        }
        m_timer.setInterval(0);
        connect(&m_timer, &QTimer::timeout, this, &CsvWriter::step);
        m_timer.start();
    }

private:
    void step()
    {
        if (!m_model || m_changed)
            return finish(Panel::tr("The table changed or was closed before all rows were written. Nothing was written."));
        QElapsedTimer clock;
        clock.start();
        while (!m_rows.atEnd() && clock.elapsed() < 20)
            m_file.write(m_rows.take(200).toUtf8());
        if (m_rows.atEnd())
            finish(m_file.commit() ? QString() : m_file.errorString());
    }

    void finish(const QString &problem)
    {
        m_timer.stop();
        if (!problem.isEmpty())
            complain(static_cast<QWidget *>(parent()), problem);
        deleteLater();
    }

    QPointer<QAbstractItemModel> m_model;
    CsvRows m_rows;
    QSaveFile m_file;
    QTimer m_timer;
    bool m_changed = false;
};

QString textToCopy(const QModelIndex &index)
{
    const QVariant exact = index.data(CopyRole);
    return exact.isValid() ? exact.toString() : index.data().toString();
}

} // namespace

QString csvField(const QString &text)
{
    static const QString special = QStringLiteral(",\"\n\r");
    const bool quote = std::any_of(text.begin(), text.end(), [](QChar c) { return special.contains(c); });
    return quote ? QLatin1Char('"') + QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"') : text;
}

CsvRows::CsvRows(const QAbstractItemModel &model) : m_model(model), m_row(model.index(0, 0))
{
    for (int r = 0; r < std::min(model.rowCount(), 100); ++r)
        m_tree = m_tree || model.hasChildren(model.index(r, 0));
}

void CsvRows::step()
{
    const QModelIndex row = m_row;
    if (m_tree && m_model.rowCount(row) > 0) {
        m_row = m_model.index(0, 0, row);
        ++m_level;
        return;
    }
    for (QModelIndex at = row; at.isValid(); at = at.parent(), --m_level) {
        if (const QModelIndex next = at.sibling(at.row() + 1, 0); next.isValid()) {
            m_row = next;
            return;
        }
    }
    m_row = QModelIndex();
}

QString CsvRows::take(int rows)
{
    QString text;
    const int columns = m_model.columnCount();
    if (!m_begun) {
        m_begun = true;
        QStringList cells(m_tree ? QStringList{QStringLiteral("Level")} : QStringList());
        for (int c = 0; c < columns; ++c)
            cells.append(csvField(m_model.headerData(c, Qt::Horizontal).toString()));
        text += cells.join(QLatin1Char(',')) + QStringLiteral("\r\n");
    }
    for (; rows > 0 && m_row.isValid(); --rows) {
        QStringList cells(m_tree ? QStringList{QString::number(m_level)} : QStringList());
        for (int c = 0; c < columns; ++c)
            cells.append(csvField(textToCopy(QModelIndex(m_row).siblingAtColumn(c))));
        text += cells.join(QLatin1Char(',')) + QStringLiteral("\r\n");
        step();
    }
    m_ended = !m_row.isValid();
    return text;
}

void exportCsv(QAbstractItemModel *model, const QString &name, QWidget *parent)
{
    askFile(parent, name, QStringLiteral("csv"),
            [model = QPointer(model), parent](const QString &file) {
                if (model)
                    writeCsv(model, file, parent);
            });
}

void writeCsv(QAbstractItemModel *model, const QString &file, QWidget *parent) { new CsvWriter(model, file, parent); }

QString selectedText(const QAbstractItemView &view)
{
    QModelIndexList cells = view.selectionModel() ? view.selectionModel()->selectedIndexes() : QModelIndexList();
    if (cells.isEmpty() && view.currentIndex().isValid())
        cells.append(view.currentIndex());
    std::sort(cells.begin(), cells.end());
    QString text;
    for (qsizetype i = 0; i < cells.size(); ++i) {
        if (i > 0)
            text += cells[i].row() == cells[i - 1].row() && cells[i].parent() == cells[i - 1].parent() ? QLatin1Char('\t') : QLatin1Char('\n');
        text += textToCopy(cells[i]);
    }
    return text;
}

QString exportPicture(QWidget *widget, const QString &file)
{
    QWidget *const whole = wholeOf(widget);
    const QString ending = file.section(QLatin1Char('.'), -1).toLower();
    if (ending == QLatin1String("png"))
        return whole->grab().save(file) ? QString() : Panel::tr("%1 could not be written.").arg(file);
    if (ending == QLatin1String("svg")) {
        QSvgGenerator generator;
        generator.setFileName(file);
        generator.setSize(whole->size());
        generator.setViewBox(whole->rect());
        QPainter painter;
        if (!painter.begin(&generator))
            return Panel::tr("%1 could not be written.").arg(file);
        whole->render(&painter);
        return {};
    }
    QPdfWriter writer(file);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(12, 12, 12, 12), QPageLayout::Millimeter);
    QPainter painter;
    if (!painter.begin(&writer))
        return Panel::tr("%1 could not be written.").arg(file);
    paintOnPage(whole, writer, painter);
    return {};
}

void fillExportMenu(QMenu *menu, Panel *panel)
{
    menu->addAction(Panel::tr("Copy"), panel, &Panel::copy);
    const std::vector<Panel::NamedTable> tables = panel->tables();
    for (const Panel::NamedTable &table : tables) {
        const bool several = tables.size() > 1;
        if (several)
            menu->addSection(table.name);
        menu->addAction(Panel::tr("Copy as CSV"), panel, [rows = QPointer(table.rows)] {
            // A clipboard is no place for a million rows; the file export has no such limit.
            if (rows)
                QApplication::clipboard()->setText(CsvRows(*rows).take(20000));
        });
        menu->addAction(Panel::tr("Export CSV…"), panel, [panel, rows = QPointer(table.rows), name = several ? table.name : panel->name()] {
            if (rows)
                exportCsv(rows, name, panel);
        });
    }
    if (panel->picture() == nullptr)
        return;
    menu->addSeparator();
    for (const char *const ending : {"png", "svg", "pdf"}) {
        menu->addAction(Panel::tr("Export %1…").arg(QString::fromLatin1(ending).toUpper()), panel, [panel, ending] {
            askFile(panel, panel->name(), QLatin1String(ending), [panel](const QString &file) {
                if (const QString problem = exportPicture(panel->picture(), file); !problem.isEmpty())
                    complain(panel, problem);
            });
        });
    }
    menu->addAction(Panel::tr("Print…"), panel, [panel] {
        auto *const dialog = new QPrintDialog(panel);
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        QObject::connect(dialog, qOverload<QPrinter *>(&QPrintDialog::accepted), panel, [panel](QPrinter *printer) {
            QPainter painter(printer);
            paintOnPage(wholeOf(panel->picture()), *printer, painter);
        });
        dialog->open();
    });
}

} // namespace prosector
