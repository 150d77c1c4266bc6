// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/arguments.h"
#include "app/mainwindow.h"
#include "app/screenshot.h"
#include "models/core/resources.h"
#include "models/session/text.h"
#include "widgets/theme.h"

#include <QApplication>
#include <QSettings>
#include <QTemporaryDir>

#include <cstdio>
#include <cstdlib>
#include <memory>

using namespace prosector;

namespace {

bool set(const char *name)
{
    const char *const value = std::getenv(name);
    return value != nullptr && *value != '\0';
}

/// Without a display Qt aborts; say it first. False: there is nothing to draw on.
bool chooseDisplay(bool screenshot)
{
    if (set("DISPLAY") || set("WAYLAND_DISPLAY") || set("QT_QPA_PLATFORM"))
        return true;
    if (!screenshot) {
        std::fputs("prosector: there is no display: DISPLAY and WAYLAND_DISPLAY are not set. "
                   "prosector-cli examine PATH reports as text; --screenshot FILE --panel ID writes a picture.\n",
                   stderr);
        return false;
    }
    qputenv("QT_QPA_PLATFORM", "offscreen");
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    const ParsedArguments parsed = parseArguments(argc, argv);
    if (!parsed.arguments)
        return parsed.exitStatus;
    const Arguments &arguments = *parsed.arguments;
    const bool screenshot = !arguments.screenshot.empty();
    if (!chooseDisplay(screenshot))
        return 2;
    if (arguments.caseNumber > 0) {
        std::fprintf(stderr,
                     "prosector: --case %d: this version has no taught cases. Its examples are model folders in %s/examples\n",
                     arguments.caseNumber, resourceFolder().c_str());
        return 2;
    }
    QApplication application(argc, argv);
    QApplication::setApplicationName(QStringLiteral("prosector"));
    QApplication::setApplicationDisplayName(QStringLiteral("Prosector"));
    QApplication::setOrganizationName(QStringLiteral("prosector"));
    QGuiApplication::setDesktopFileName(QStringLiteral("org.prosector.Prosector"));

    // A picture must not depend on how the user left the window. Not /dev/null: settings are saved by
    // renaming over the file, which would replace the device where the user may do that.
    const QTemporaryDir scratch;
    auto settings = screenshot ? std::make_unique<QSettings>(scratch.filePath(QStringLiteral("settings.ini")), QSettings::IniFormat) : nullptr;
    if (arguments.fontScale > 0)
        Theme::instance().setFontScale(arguments.fontScale);
    MainWindow window(std::move(settings));
    if (!arguments.theme.empty())
        Theme::instance().setMode(Theme::modeFromName(toQt(arguments.theme)));
    window.show();
    QStringList paths;
    for (const std::string &path : arguments.paths)
        paths.append(toQt(path));
    window.open(paths);
    if (!arguments.baseline.empty())
        window.openBaseline(toQt(arguments.baseline));
    std::unique_ptr<Screenshot> shot;
    if (screenshot) {
        shot = std::make_unique<Screenshot>(&window, toQt(arguments.screenshot), toQt(arguments.panel),
                                            QSize(arguments.width, arguments.height), !paths.isEmpty());
        shot->setParent(nullptr);
    }
    return QApplication::exec();
}
