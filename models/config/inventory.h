// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "models/core/finding.h"
#include "models/runs/run.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace prosector {

/// Forty hexadecimal digits: a commit, which never moves.
bool isCommit(std::string_view revision);

struct ReplicaFile {
    std::string name;
    std::string hash;      ///< of the bytes, without "sha256:"
    std::string canonical; ///< of what it means (JSON in canonical form, tensors without their shards); "" unknown
    Anchor where = Whole{};
};

/// One row of a replica inventory.
struct Replica {
    ArtifactId artifact{};
    Anchor where = Whole{};
    std::string name;
    std::string service;  ///< model or pool, where rows of several stand in one file
    std::string revision; ///< as named: "main" or a commit
    std::string resolved; ///< the commit it was resolved to, if recorded
    std::string started;  ///< ISO 8601, or ""
    std::vector<ReplicaFile> files;
};
/// Rows of `replica_inventory` artifacts: JSON lists, JSON Lines, or an object with "replicas".
std::vector<Replica> replicasOf(const Run &run);

/// One model of a Hugging Face cache folder (`models--org--name`).
struct HubCache {
    struct Ref {
        std::string name, commit;
        ArtifactId artifact{};
    };
    std::string name; ///< "org/name"
    std::vector<Ref> refs;
    std::map<std::string, ArtifactId> snapshots; ///< commit → one of its files
};
std::vector<HubCache> hubCachesOf(const Run &run);

/// A revision named at start: --revision, --tokenizer-revision, --code-revision.
struct RevisionFlag {
    std::string name, value;
    ArtifactId artifact{};
    Anchor where = Whole{};
};
/// From launch arguments (engine_args, effective_config) and start-up logs; empty and "None" are left out.
std::vector<RevisionFlag> revisionFlagsOf(const Run &run);

/// One line of a list of hashes, with the file it means if that is open.
struct ManifestEntry {
    ArtifactId artifact{};
    Anchor where = Whole{};
    std::string name, sha256; ///< 64 digits; 40 digits: the id of a Git blob
    std::optional<std::uint64_t> size{};
    const Artifact *file = nullptr;
};
/// From JSON with "files" (name → sha256, or a list of {path, sha256, size}), sha256sum output, Ollama
/// manifests (layers whose blobs are open) and blob names of a Hugging Face cache.
std::vector<ManifestEntry> manifestEntriesOf(const Run &run);

} // namespace prosector
