// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/mainwindow.h"

#include <QDir>
#include <QFile>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

namespace prosector::test {

/// Two names for one thing that disagree: a contradiction inside one file.
inline const QByteArray sickConfig = "{\n"
                                     "  \"architectures\": [\"LlamaForCausalLM\"],\n"
                                     "  \"model_type\": \"llama\",\n"
                                     "  \"hidden_size\": 64,\n"
                                     "  \"num_attention_heads\": 4,\n"
                                     "  \"num_hidden_layers\": 2,\n"
                                     "  \"vocab_size\": 128,\n"
                                     "  \"max_position_embeddings\": 32768,\n"
                                     "  \"rope_theta\": 10000.0,\n"
                                     "  \"rope_scaling\": {\"type\": \"linear\", \"rope_type\": \"yarn\", \"factor\": 4.0}\n"
                                     "}\n";

inline bool write(const QString &path, const QByteArray &bytes)
{
    QFile file(path);
    return file.open(QIODevice::WriteOnly) && file.write(bytes) == bytes.size();
}

/// A window with settings of its own and a folder "model" that holds sickConfig.
class WindowFixture {
public:
    WindowFixture()
    {
        QDir().mkpath(model());
        write(model() + QStringLiteral("/config.json"), sickConfig);
        renew();
    }

    QString path(const QString &name) const { return m_folder.filePath(name); }
    QString model() const { return path(QStringLiteral("model")); }
    MainWindow *operator->() const { return m_window.get(); }
    MainWindow *window() const { return m_window.get(); }

    /// Another window with the same settings.
    void renew()
    {
        m_window.reset();
        m_window = std::make_unique<MainWindow>(std::make_unique<QSettings>(path(QStringLiteral("settings.ini")), QSettings::IniFormat));
        m_window->resize(1280, 800);
        m_window->show();
        m_window->activateWindow();
        if (!QTest::qWaitForWindowActive(m_window.get()))
            qFatal("the window does not become active");
    }

    /// Opens and waits until everything has been examined.
    bool open(const QStringList &paths)
    {
        QSignalSpy examined(m_window->session(), &Session::examinationFinished);
        m_window->open(paths);
        return examined.wait(30000) && m_window->session()->run() != nullptr;
    }
    bool openModel() { return open({model()}); }

private:
    QTemporaryDir m_folder;
    std::unique_ptr<MainWindow> m_window;
};

} // namespace prosector::test
