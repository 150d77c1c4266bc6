# SPDX-License-Identifier: GPL-3.0-or-later
"""What the table modules share: the compact form of a source, and files of one row per line."""

import json

SCHEMA = "prosector.facts/1"


def source(entry):
    """A source as one string: `owner/name path@commit:line`, or the document or package it is."""
    if entry is None:
        return ""
    if "repo" in entry:
        text = f"{entry['repo']} {entry['path']}@{entry['commit'][:12]}"
        if entry.get("line"):
            text += f":{entry['line']}"
        return text + (f" ({entry['schema']})" if entry.get("schema") else "")
    if "doc" in entry:
        return entry["doc"]
    if "package" in entry:
        return f"{entry['package']} {entry.get('version', '')} {entry['path']}".replace("  ", " ")
    return entry["text"]


def drop_empty(row):
    """The row without keys that say nothing; a default of null says something and is kept."""
    return {key: value for key, value in row.items() if key == "default" or value not in (None, "", [], {})}


def dumps(value):
    return json.dumps(value, ensure_ascii=False, separators=(", ", ": "))


def render(table, made, sections):
    """The text of a table file: head, then each section with one row per line."""
    parts = [f'"schema": {dumps(SCHEMA)}, "table": {dumps(table)}, "made": {dumps(made)}']
    for name, rows in sections.items():
        parts.append(f'"{name}": [\n' + ",\n".join(dumps(row) for row in rows) + "\n]")
    return "{" + ",\n".join(parts) + "}\n"
