#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tokenizers.py PROSECTOR_CLI SECONDS MODEL...: random texts through each model by `prosector-cli tokenize` and
`decode`, and by the library that owns the format (PyPI: tokenizers, sentencepiece, tiktoken), until the time
is over. Prints every difference, shortened, and how many texts were compared. Not run in CI.

A MODEL is a tokenizer.json, a SentencePiece model or a rank file; ids, offsets and decoded texts must be equal."""
import base64
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

sys.path.pop(0)  # this script has the name of the library

BATCH = 10_000
RANGES = [(0x20, 0x7F), (0x20, 0x7F), (0x20, 0x7F), (0x00, 0x20), (0x80, 0x250), (0x300, 0x370), (0x370, 0x530), (0x590, 0x700),
          (0x900, 0xE00), (0xE00, 0xF00), (0x1100, 0x1200), (0x1E00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2C00),
          (0x3000, 0x3100), (0x3400, 0xA000), (0xA000, 0xAC00), (0xAC00, 0xD7B0), (0xE000, 0xE100), (0xF900, 0xFE00),
          (0xFE00, 0x10000), (0x10000, 0x10400), (0x1D400, 0x1D800), (0x1F000, 0x1FB00), (0x20000, 0x20100), (0xE0000, 0xE0200),
          (0x10FF00, 0x110000)]
BLANKS = " \t\n\r\x0b\x0c\x1c\x85\xa0\u1680\u180e\u2000\u2003\u200b\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"
FRAGMENTS = ["'s", "'S", "'ll", "'RE", "don't", "\u2019s", "\r\n", "\n\n", "  ", "▁", "Ġ", "##", "<0x0A>", "1234567", "3.14", "e\u0301",
             "\u1100\u1161\u11a8", "👩\u200d👩\u200d👧", "🇩🇪", "ﬁ", "Å", "İ", "ſ", "K", "ß", "Σς", "ｈｅｌｌｏ", "が", "か\u3099", "\x00", "\ufffd",
             "http://a.b/c?d=e", "def f(x):\n    return x", "<|", "|>", "</s>", "[MASK]"]


class Texts:
    def __init__(self, seed, added, pieces):
        self.random, self.added, self.pieces = random.Random(seed), added, pieces

    def character(self):
        low, high = self.random.choice(RANGES)
        code = self.random.randrange(low, high)
        return chr(code) if not 0xD800 <= code < 0xE000 else "\ue000"

    def part(self):
        r = self.random
        kind = r.randrange(10)
        if kind == 0:
            return "".join(self.character() for _ in range(r.randrange(1, 12)))
        if kind == 1:
            low, high = r.choice(RANGES)
            return "".join(chr(r.randrange(low, high)) if low != 0xD800 else "x" for _ in range(r.randrange(1, 8)))
        if kind == 2:
            return "".join(r.choice(BLANKS) for _ in range(r.randrange(1, 5)))
        if kind == 3:
            return r.choice(FRAGMENTS)
        if kind == 4 and self.added:
            token = r.choice(self.added)
            change = r.randrange(7)
            if change == 0:
                return token[: r.randrange(len(token) + 1)]
            if change == 1:
                return token[r.randrange(len(token) + 1):]
            if change == 2:
                at = r.randrange(len(token) + 1)
                return token[:at] + self.character() + token[at:]
            if change == 3:
                return r.choice(BLANKS) + token + r.choice(BLANKS)
            if change == 4:
                return token + r.choice(self.added)
            return token.upper() if change == 5 else token
        if kind == 5:
            return (self.character() if r.randrange(2) else r.choice(FRAGMENTS)) * r.choice([2, 3, 7, 40, 41, 65, 300])
        if kind == 6:
            return "".join(r.choice("abcdefghijklmnopqrstuvwxyzABC ") for _ in range(r.randrange(1, 30)))
        if kind == 7:
            return "".join(r.choice("0123456789,. ") for _ in range(r.randrange(1, 12)))
        return "".join(r.choice(self.pieces) for _ in range(r.randrange(1, 6))) if self.pieces else "x"

    def text(self):
        return "".join(self.part() for _ in range(self.random.choice([0, 1, 1, 2, 3, 5, 12])))


class HuggingFace:
    def __init__(self, path):
        from tokenizers import Tokenizer

        self.tokenizer = Tokenizer.from_file(str(path))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.added = [token.content for token in self.tokenizer.get_added_tokens_decoder().values()]
        size = self.tokenizer.get_vocab_size()
        self.pieces = [self.tokenizer.decode([i], skip_special_tokens=False) for i in random.Random(1).sample(range(size), min(size, 3000))]

    def encode(self, texts):
        return [(e.ids, e.offsets) for e in self.tokenizer.encode_batch(texts, add_special_tokens=False)]

    def decode(self, ids):
        return self.tokenizer.decode_batch(ids, skip_special_tokens=False)


class SentencePiece:
    def __init__(self, path):
        import sentencepiece

        self.model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        size = self.model.vocab_size()
        self.added = [self.model.id_to_piece(i) for i in range(size) if self.model.is_control(i)] + ["<unk>"]
        self.pieces = [self.model.id_to_piece(i).replace("▁", " ") for i in random.Random(1).sample(range(size), min(size, 3000))]

    def encode(self, texts):
        # Offsets are tested against the library's own version elsewhere: PyPI's is another.
        return [(ids, None) for ids in self.model.encode(texts)]

    def decode(self, ids):
        return [self.model.decode(one) for one in ids]


class Tiktoken:
    """The pattern and the special tokens of the known files, from tiktoken itself."""

    PATTERNS = {50256: "r50k_base", 100256: "cl100k_base", 199998: "o200k_base"}

    def __init__(self, path):
        import tiktoken
        import tiktoken_ext.openai_public as public

        ranks = {base64.b64decode(a): int(b) for a, b in (line.split() for line in path.read_bytes().splitlines() if line)}
        public.load_tiktoken_bpe = lambda *_, **__: ranks
        captured = getattr(public, self.PATTERNS[len(ranks)])()
        self.tokenizer = tiktoken.Encoding(path.stem, pat_str=captured["pat_str"], mergeable_ranks=ranks,
                                           special_tokens=captured["special_tokens"])
        self.added = list(captured["special_tokens"])
        self.pieces = [token.decode("utf-8", "replace") for token in random.Random(1).sample(list(ranks), 3000)]

    def encode(self, texts):
        return [(self.tokenizer.encode(text, allowed_special="all"), None) for text in texts]

    def decode(self, ids):
        return [self.tokenizer.decode(one) for one in ids]


def reference(path):
    if path.suffix == ".json":
        return HuggingFace(path)
    return Tiktoken(path) if path.suffix == ".tiktoken" else SentencePiece(path)


def run(cli, command, model, lines, flags):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
        file.flush()
        done = subprocess.run([cli, command, str(model), "--jsonl", file.name, *flags], capture_output=True)
    return [json.loads(line) for line in done.stdout.decode("utf-8", "replace").split("\n") if line]


def characters(text, offsets):
    """Byte offsets as code points."""
    place, at = {0: 0}, 0
    for index, c in enumerate(text):
        at += len(c.encode("utf-8"))
        place[at] = index + 1
    return [(place.get(b, -1), place.get(e, -1)) for b, e in offsets]


def compare(cli, path, theirs, texts):
    wrong = []
    expected = theirs.encode(texts)
    got = run(cli, "tokenize", path, [{"text": text} for text in texts], ["--no-special-tokens"])
    if len(got) != len(texts):
        return [("", "%d answers to %d texts" % (len(got), len(texts)))]
    decoded = run(cli, "decode", path, [{"ids": ids} for ids, _ in expected], [])
    for text, (ids, offsets), mine, back, their_back in zip(texts, expected, got, decoded, theirs.decode([ids for ids, _ in expected])):
        if mine.get("ids") != ids:
            first = next((i for i, (a, b) in enumerate(zip(mine.get("ids", []), ids)) if a != b), 0)
            wrong.append((text, "ids from %d: %s for %s" % (first, mine.get("ids", mine.get("error", []))[first:first + 6], ids[first:first + 6])))
        elif offsets is not None and characters(text, mine["offsets"]) != [tuple(o) for o in offsets]:
            pairs = zip(characters(text, mine["offsets"]), offsets)
            wrong.append((text, "offsets %s" % next(p for p in pairs if p[0] != tuple(p[1])).__repr__()))
        if back.get("text") != their_back:
            wrong.append((text, "decoded %r for %r" % (back.get("text", back)[-60:], their_back[-60:])))
    return wrong


def main():
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    cli, seconds, *models = sys.argv[1:]
    models = [pathlib.Path(m) for m in models]
    share, total, failures = float(seconds) / len(models), 0, 0
    seed = int(os.environ.get("SEED", time.time()))
    for path in models:
        theirs = reference(path)
        texts = Texts(seed, theirs.added, theirs.pieces)
        end, count, wrong = time.time() + share, 0, 0
        while time.time() < end:
            batch = [texts.text() for _ in range(BATCH)]
            for text, difference in compare(cli, path, theirs, batch):
                wrong += 1
                if wrong <= 5:
                    print(f"{path}: {text[:200]!r}\n    {difference}", flush=True)
            count += len(batch)
        print(f"{path}: {count} texts, {wrong} differences (seed {seed})", flush=True)
        total, failures = total + count, failures + wrong
    print(f"{total} texts, {failures} differences")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
