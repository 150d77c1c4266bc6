#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns collected facts into the tables of this folder: make_tables.py [--into FOLDER] FACTS_FOLDER [TABLE...]

Each table_*.py beside this script has NAME and build(folder_json): the text of NAME.json, one row per
line so that a change of one fact is a change of one line. Only facts and their sources are written.
"""

import importlib
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent


def main(arguments):
    into = HERE
    if arguments[:1] == ["--into"] and len(arguments) > 1:
        into, arguments = pathlib.Path(arguments[1]), arguments[2:]
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    facts, wanted = pathlib.Path(arguments[0]), set(arguments[1:])
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(HERE))

    def folder_json(name):
        return json.loads((facts / name).read_text(encoding="utf-8"))

    for path in sorted(HERE.glob("table_*.py")):
        module = importlib.import_module(path.stem)
        if not hasattr(module, "build") or (wanted and module.NAME not in wanted):
            continue
        text = module.build(folder_json)
        json.loads(text)
        (into / f"{module.NAME}.json").write_text(text, encoding="utf-8")
        print(f"{module.NAME}.json: {text.count(chr(10))} lines, {len(text.encode())} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
