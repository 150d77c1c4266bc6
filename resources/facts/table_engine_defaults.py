# SPDX-License-Identifier: GPL-3.0-or-later
"""engine-defaults.json: settings of the engines with names, defaults, versions, and what wins over what."""

from table_common import drop_empty, render, source

NAME = "engine-defaults"


def row(entry):
    versions = entry["versions"]
    return drop_empty({
        "id": entry["id"],
        "engine": entry["engine"],
        "component": entry["component"],
        "setting": entry["setting"],
        "category": entry["category"],
        **{kind: entry["names"].get(kind) for kind in
           ("request", "flag", "env", "config", "gguf", "modelfile", "python", "checkpoint")},
        "default": entry["default"],
        "from": versions["from"],
        "to": versions["to"],
        "current": versions.get("still_current_at_last_look") or None,
        "from_recalled": True if versions.get("from_status") == "recalled" else None,
        "precedence": entry["precedence"],
        "ignored": entry["ignored_or_clamped"],
        "note": entry["note"],
        "source": source(entry["source"]),
        "status": entry["status"],
    })


def precedence(name, entry):
    return drop_empty({"id": name, "order": entry["order"], "skipped_when": entry.get("skipped_when"),
                       "beneath": entry.get("beneath_everything"), "note": entry.get("note"),
                       "source": source(entry["source"])})


def build(folder_json):
    data = folder_json("engine-defaults.json")
    versions = [{"engine": engine, "points": [point["label"] for point in entry.get("points", [])]}
                for engine, entry in data["version_points"].items()]
    return render(NAME, data["meta"]["made"], {
        "precedence": [precedence(name, entry) for name, entry in data["precedence"].items()],
        "versions": [entry for entry in versions if entry["points"]],
        "rows": [row(entry) for entry in data["rows"]],
    })
