#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""templates.py PROGRAM LIBRARY.jsonl: prints JSON with the time to render one conversation of 200 messages
with 50 tools by each template of a library, by PROGRAM (prosector_bench_templates, with provenance) and by
Jinja2 with a compiled template, each the best of several rounds. Templates that refuse it are left out."""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import transformersjinja


def conversation():
    messages = [{"role": "system", "content": "You are helpful. " * 20}]
    for i in range(99):
        messages += [{"role": "user", "content": f"Question {i}: what is {i} plus {i}? " * 8}, {"role": "assistant", "content": f"It is {2 * i}. " * 12}]
    messages.append({"role": "user", "content": "And now?"})
    tools = [{"type": "function", "function": {"name": f"tool_{i}", "description": "Does something useful. " * 4, "parameters": {
        "type": "object", "properties": {f"p{j}": {"type": "string", "description": f"Parameter {j}"} for j in range(6)}, "required": ["p0"]}}}
        for i in range(50)]
    return {"messages": messages, "tools": tools, "documents": None, "add_generation_prompt": True}


def best(function, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def main():
    program, library = sys.argv[1:3]
    environment = transformersjinja.environment()
    rows = []
    for row in map(json.loads, open(library)):
        variables = {**conversation(), "bos_token": row["bos"], "eos_token": row["eos"]}
        compiled = environment.from_string(row["template"])
        try:
            compiled.render(**variables)
        except Exception:
            continue
        rows.append((row["template_id"], row["template"], variables, compiled))
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for _, template, variables, _ in rows:
            file.write(json.dumps({"template": template, "variables": variables}) + "\n")
        file.flush()
        out = subprocess.run([program, "7", file.name], capture_output=True, text=True, check=True).stdout
    seconds = json.loads(out)["seconds"]
    lines = []
    for (name, _, variables, compiled), mine in zip(rows, seconds, strict=True):
        theirs = best(lambda: compiled.render(**variables), 5)
        lines.append({"template": name, "prosector_seconds": mine, "jinja2_seconds": theirs, "ratio": theirs / mine})
    lines.sort(key=lambda line: line["ratio"])
    print(json.dumps({"templates": len(lines), "least_ratio": lines[0]["ratio"], "median_ratio": lines[len(lines) // 2]["ratio"],
                      "slowest_prosector_seconds": max(line["prosector_seconds"] for line in lines), "rows": lines}, indent=1))


main()
