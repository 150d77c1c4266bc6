#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""templates.py PROSECTOR_CLI LIBRARY.jsonl [--count N] [--seed N] [--out FILE]: renders random conversations
with every template of a library by `prosector-cli render --jsonl` and by Jinja2 set up as Transformers does,
and prints every difference. LIBRARY has rows {"template_id", "template", "bos", "eos"}. Texts and errors
(type and message) must be equal. Exit status 1 when something differs. Needs jinja2 3.1."""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "support"))
import transformersjinja

NOW = "2026-01-15T12:34:56"
WORDS = ["", " ", "\n", "Hello", "a b  c", "<|im_end|>", "</s>", "[INST] x [/INST]", "<think>", "</think>", "<think>\nwhy\n</think>\n\nso",
         "{{ 7*7 }}", "{% raise %}", "\"q\" 'a'", "\\n\\t\\\\", "tab\there", "\r\n", "é", "e\u0301", "日本語", "👩‍👩‍👧", "\u200b", "\u00a0x\u00a0",
         "\u2028", "ßİıſ", "ΑΣ", "ﬃ", "\x00", "\x1f", "\x7f", "{\"a\": 1}", "<b>&amp;</b>", "0", "-1.5e3", "True", "None", "%s %d %%", "x" * 300,
         "<tool_call>", "[TOOL_CALLS]", "```py\nprint()\n```", "  lead", "trail  ", "\n\nboth\n\n", "/think", "/no_think", "final", "analysis"]
ROLES = ["user", "assistant", "system", "tool", "developer", "ipython", "function", "model", "", "User", "observation", "documents", "context"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def text(self):
        return "".join(self.random.choice(WORDS) for _ in range(self.random.choice([1, 1, 1, 2, 3])))

    def value(self, depth=0):
        r = self.random
        kind = r.randrange(12 if depth < 3 else 8)
        if kind < 3:
            return self.text()
        if kind < 8:
            return r.choice([0, 1, -7, 2**40, 10**25, 0.1, 1e22, 1e-7, -0.0, 2.0, True, False, None])
        if kind < 10:
            return [self.value(depth + 1) for _ in range(r.randrange(4))]
        return {self.text(): self.value(depth + 1) for _ in range(r.randrange(4))}

    def content(self):
        r = self.random
        kind = r.randrange(20)
        if kind < 16:
            return self.text()
        if kind < 19:
            parts = []
            for _ in range(r.randrange(4)):
                part = r.choice(["text", "text", "image", "image_url", "audio", "video", "thinking", "document"])
                made = {"type": part}
                if part == "text" or self.chance(0.1):
                    made["text"] = self.text()
                if self.chance(0.2):
                    made[part] = self.value(2)
                parts.append(self.text() if self.chance(0.05) else made)
            return parts
        return r.choice([None, None, "", [], {}, 5, {"text": self.text()}])

    def schema(self, depth=0):
        r = self.random
        kind = r.choice(["string", "integer", "number", "boolean", "array", "object", ["string", "null"]])
        made = {"type": kind}
        if self.chance(0.6):
            made["description"] = self.text()
        if self.chance(0.2):
            made["enum"] = [self.value(3) for _ in range(r.randrange(1, 4))]
        if self.chance(0.2):
            made["default"] = self.value(2)
        if kind == "array" and self.chance(0.9):
            made["items"] = self.schema(depth + 1) if depth < 2 else {"type": "string"}
        if kind == "object" and depth < 2:
            made["properties"] = {r.choice(["a", "b", "city", "x y", "日"]): self.schema(depth + 1) for _ in range(r.randrange(3))}
            if self.chance(0.5):
                made["required"] = list(made["properties"])[:1]
        return made

    def tool(self):
        r = self.random
        function = {"name": r.choice(["get_weather", "f", "python", "brave_search", self.text()])}
        if self.chance(0.85):
            function["description"] = self.text()
        if self.chance(0.9):
            function["parameters"] = {"type": "object", "properties": {r.choice(["a", "location", "日"]): self.schema() for _ in range(r.randrange(3))}}
            if self.chance(0.6):
                function["parameters"]["required"] = list(function["parameters"]["properties"])
        if self.chance(0.2):
            function["return"] = self.schema()
        return {"type": "function", "function": function} if self.chance(0.85) else function

    def call(self):
        r = self.random
        arguments = self.value(1) if self.chance(0.2) else {k: self.value(2) for k in r.sample(["location", "a", "b", "日"], r.randrange(3))}
        if self.chance(0.25):
            arguments = json.dumps(arguments)
        function = {"name": r.choice(["get_weather", "f", self.text()]), "arguments": arguments}
        if self.chance(0.1):
            del function["arguments"]
        made = {"type": "function", "function": function} if self.chance(0.85) else function
        if self.chance(0.6):
            made["id"] = r.choice(["call_1", "abcdef123", "x", ""])
        return made

    def message(self, role):
        r = self.random
        made = {"role": role}
        if self.chance(0.95):
            made["content"] = self.content()
        if role == "assistant" and self.chance(0.3):
            made["tool_calls"] = [self.call() for _ in range(r.choice([0, 1, 1, 2]))]
        if role == "assistant" and self.chance(0.2):
            made[r.choice(["reasoning_content", "reasoning", "thinking", "thought"])] = self.text()
        if role == "tool":
            if self.chance(0.7):
                made["tool_call_id"] = r.choice(["call_1", "abcdef123", "x"])
            if self.chance(0.5):
                made["name"] = r.choice(["get_weather", "f"])
        if self.chance(0.03):
            made[r.choice(["name", "prefix", "tool_calls", "channel", "weight", "documents"])] = self.value(1)
        if self.chance(0.02):
            del made["role"]
        return made

    def variables(self, row):
        r = self.random
        roles = []
        if self.chance(0.4):
            roles.append("system")
        if self.chance(0.7):
            for _ in range(r.choice([1, 1, 2, 3])):
                roles += ["user", "assistant"]
                if self.chance(0.25):
                    roles += ["tool"] * r.choice([1, 2]) + (["assistant"] if self.chance(0.5) else [])
            if self.chance(0.7):
                roles.append("user")
        else:
            roles += [r.choice(ROLES) for _ in range(r.randrange(5))]
        made = {"messages": [self.message(role) for role in roles], "bos_token": row["bos"], "eos_token": row["eos"]}
        if self.chance(0.8):
            made["add_generation_prompt"] = self.chance(0.7)
        if self.chance(0.35):
            made["tools"] = [self.tool() for _ in range(r.choice([0, 1, 1, 2, 3]))]
        elif self.chance(0.7):
            made["tools"] = None
        if self.chance(0.1):
            made["documents"] = [{"title": self.text(), "text": self.text(), **({"doc_id": r.randrange(9)} if self.chance(0.3) else {})} for _ in range(r.randrange(3))]
        elif self.chance(0.7):
            made["documents"] = None
        for name, values in (("enable_thinking", [True, False]), ("thinking", [True, False]), ("reasoning_effort", ["low", "high", "none"]),
                             ("date_string", ["26 Jul 2024"]), ("builtin_tools", [["code_interpreter"], []]), ("tools_in_user_message", [True, False]),
                             ("custom_tools", [None]), ("citations", [True]), ("controls", [{"length": "long"}]), ("json_schema", [{"type": "object"}])):
            if self.chance(0.08):
                made[name] = r.choice(values)
        return made


def ours(program, rows):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", delete=False) as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows))
    try:
        out = subprocess.run([program, "render", "--jsonl", file.name], capture_output=True, text=True)
        if out.returncode != 0:
            sys.exit(f"{program}: status {out.returncode}: {out.stderr[:500]}")
        return [json.loads(line) for line in out.stdout.split("\n")[:-1]]
    finally:
        pathlib.Path(file.name).unlink()


def theirs(compiled, variables):
    try:
        return {"text": compiled.render(**variables)}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", help="write the rows that differ to this file")
    options = parser.parse_args()
    library = [json.loads(line) for line in open(options.library)]
    maker = Maker(options.seed)
    environment = transformersjinja.environment(NOW)
    compiled = [environment.from_string(row["template"]) for row in library]
    different, errors, done, kept = 0, 0, 0, []
    while done < options.count:
        batch = []
        for i in range(min(2000, options.count - done)):
            which = (done + i) % len(library)
            batch.append((which, maker.variables(library[which])))
        rows = []
        for which, variables in batch:
            rest = dict(variables)
            row = {"template": library[which]["template"], "now": NOW}
            for name in ("messages", "tools", "documents", "add_generation_prompt"):
                if name in rest and rest[name] is not None:
                    row[name] = rest.pop(name)
            rows.append({**row, "variables": rest})
        for (which, variables), row, got in zip(batch, rows, ours(options.program, rows), strict=True):
            expected = theirs(compiled[which], variables)
            errors += "error" in expected
            if all(side.get("error", "").startswith("RecursionError: ") for side in (expected, got)):
                continue  # the limit is ours, and so are its words
            if got.get("text") != expected.get("text") or got.get("error") != expected.get("error"):
                different += 1
                kept.append({**row, "expected": expected, "got": got, "template_id": library[which]["template_id"]})
                if different <= 20:
                    print(f"{library[which]['template_id']}:\n  expected {json.dumps(expected)[:600]}\n  got      {json.dumps(got)[:600]}")
        done += len(batch)
    if options.out:
        pathlib.Path(options.out).write_text("".join(json.dumps(row) + "\n" for row in kept))
    print(json.dumps({"renders": done, "templates": len(library), "errors": errors, "different": different, "seed": options.seed}))
    sys.exit(1 if different else 0)


main()
