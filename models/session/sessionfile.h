// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/place.h"
#include "models/core/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// A saved session, "prosector.session/1": what was open and what the user added, so that it can
/// be opened again after the files have changed. Artifacts are named, not numbered.
struct SessionFile {
    struct NamedPlace {
        Side side = Side::A;
        std::string artifact; ///< Artifact::name
        Anchor where = Whole{};
        bool operator==(const NamedPlace &) const = default;
    };
    struct Mark {
        std::vector<NamedPlace> places;
        std::string note;
        bool operator==(const Mark &) const = default;
    };

    std::vector<std::string> inputs, baseline; ///< paths
    std::vector<NamedPlace> selection;
    std::vector<Mark> bookmarks;
    /// Changed thresholds by instrument id and parameter name.
    std::map<std::string, std::map<std::string, double, std::less<>>> thresholds;
    std::map<std::string, std::string> acknowledged; ///< finding key (Session::keyOf) to the reason given
    std::string layout;                              ///< bytes the window wrote; kept as they are (base64 in the file)

    bool operator==(const SessionFile &) const = default;

    std::string toJson() const;
    /// Malformed when it is not a session of this version; entries that do not make sense are left out.
    static Result<SessionFile> parse(std::string json);
};

} // namespace prosector
