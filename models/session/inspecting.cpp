// SPDX-License-Identifier: GPL-3.0-or-later
#include "models/session/inspecting.h"

#include "models/session/session.h"

namespace prosector {

void startInspecting(Session &session, const QString &key, const Selection &selection, const QObject *context,
                     std::function<void(std::vector<Fact>)> done)
{
    const RunPtr run = selection.empty() ? nullptr : session.run(selection.front().side);
    if (!run) {
        session.jobs()->cancel(key);
        return done({});
    }
    std::vector<std::shared_ptr<const Outcome>> outcomes;
    for (int i = 0; i < session.instrumentCount(); ++i) {
        if (session.state(i).outcome)
            outcomes.push_back(session.state(i).outcome);
    }
    session.jobs()->start(
        key, QStringLiteral("Looking up the selected place"), context,
        [run, selection, outcomes](const Job &) -> Result<std::vector<Fact>> {
            std::vector<const Outcome *> seen;
            for (const auto &outcome : outcomes)
                seen.push_back(outcome.get());
            return inspect(*run, selection, seen);
        },
        [done = std::move(done)](Result<std::vector<Fact>> facts) { done(facts ? std::move(*facts) : std::vector<Fact>()); }, 1);
}

} // namespace prosector
