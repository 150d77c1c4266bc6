# SPDX-License-Identifier: GPL-3.0-or-later
"""log-lines.json: patterns over log lines, each with strings of which every match contains one."""

import warnings

from table_common import drop_empty, render, source

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import sre_parse

NAME = "log-lines"


def required(parsed):
    """Every match of the pattern contains one of each of these alternatives: a list of lists of strings.
    Also whether the pattern is nothing but one string."""
    found, current, exact = [], [], True

    def flush():
        if current:
            found.append(["".join(current)])
            current.clear()

    for operation, argument in parsed:
        kind = str(operation)
        if kind == "LITERAL":
            current.append(chr(argument))
            continue
        if kind == "SUBPATTERN":
            inner, inner_exact = required(argument[-1])
            if inner_exact and len(inner) == 1:
                current.extend(inner[0][0])
                continue
            flush()
            found.extend(inner)
        else:
            flush()
            if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and argument[0] >= 1:
                found.extend(required(argument[2])[0])
            elif kind == "BRANCH":
                branches = [best(required(branch)[0]) for branch in argument[1]]
                if all(branches):
                    found.append([text for branch in branches for text in branch])
        exact = False
    flush()
    return found, exact


def best(alternatives):
    """The set of strings whose shortest member is longest: the rarest thing to look for."""
    return max(alternatives, key=lambda texts: (min(map(len, texts)), -len(texts)), default=[])


def literals(regex):
    """Strings of which every match of the regex contains at least one."""
    return list(dict.fromkeys(best(required(sre_parse.parse(regex))[0])))


def pattern(entry):
    found = literals(entry["regex"])
    for example in [entry["example"], *entry.get("more_examples", [])]:
        if found and not any(text in example for text in found):
            raise ValueError(f"{entry['id']}: none of {found} is in its example")
    return drop_empty({
        "id": entry["id"],
        "engine": entry["engine"],
        "also_in": entry.get("also_in"),
        "class": entry["class"],
        "severity": entry["severity"],
        "who_set_it": entry["who_set_it"],
        "settings": entry["settings"],
        "regex": entry["regex"],
        "literals": found,
        "fields": entry["fields"],
        "optional": entry.get("optional_fields"),
        "example": entry["example"],
        "captured": entry["captured"],
        "more_examples": entry.get("more_examples"),
        "first": entry["seen"]["first"],
        "last": entry["seen"]["last"],
        "note": entry.get("note"),
        "source": source(entry["source"]),
        "status": entry["status"],
    })


def printed(key, capture, regex, example, meaning):
    """A number that llama.cpp prints of the loaded model, in the same block as n_ctx_train (print_info())."""
    found = rf"(?:print_info|llm_load_print_meta): {key}\s*=\s*(?P<{capture}>{regex})"
    return {"id": f"llamacpp.{key}", "engine": "llama.cpp", "also_in": ["Ollama"], "class": "architecture", "severity": "info",
            "who_set_it": "checkpoint", "settings": [key], "regex": found, "literals": literals(found),
            "fields": {capture: meaning}, "example": f"print_info: {key:<16} = {example}", "captured": {capture: example},
            "first": "b3400", "last": "b8985", "source": "ggml-org/llama.cpp src/llama-model.cpp print_info()", "status": "verified"}


# Beside the collected facts: what the engine took from the file, to hold against what it listed of the file.
OWN = [
    printed("n_embd", "n_embd", r"\d+", "4096", "width of a hidden state"),
    printed("n_head", "n_head", r"\d+", "32", "query heads"),
    printed("n_ff", "n_ff", r"\d+", "14336", "width of a feed-forward block"),
    printed("f_norm_rms_eps", "eps", r"(?!0\.0e\+00)[\d.e+-]+", "1.0e-05", "epsilon of the norms, where they are RMS norms"),
]


def prefix(entry):
    return drop_empty({"engine": entry["engine"], "regex": entry["regex"], "example": entry["example"],
                       "more_examples": entry["more_examples"], "note": entry["note"],
                       "source": source(entry["source"])})


def build(folder_json):
    data = folder_json("log-lines.json")
    return render(NAME, data["meta"]["made"], {
        "prefixes": [prefix(entry) for entry in data["line_prefixes"]],
        "patterns": [pattern(entry) for entry in data["patterns"]] + OWN,
    })
