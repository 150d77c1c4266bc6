#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tokenizers.py PROGRAM TOKENIZER_JSON... -- TEXT...: encodes each text with each tokenizer, line by line
and whole, by Prosector and by Hugging Face `tokenizers`, one thread each in this one run. Prints MB/s, the
ratio, whether the ids are equal, and the seconds each takes to load. PROGRAM is prosector_bench_tokenizers of a
Release tree with PROSECTOR_BENCH on."""
import array
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import time

sys.path.pop(0)  # this script has the name of the library

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"


def encode(tokenizer, text, how, rounds=2):
    pieces = [text]
    if how == "lines":  # \n alone ends a line there
        pieces = [p + "\n" for p in text.split("\n")]
        pieces[-1] = pieces[-1][:-1]
        pieces = [p for p in pieces if p]
    seconds = float("inf")
    for _ in range(rounds):
        begin, ids = time.perf_counter(), array.array("I")
        for piece in pieces:
            ids.extend(tokenizer.encode(piece, add_special_tokens=False).ids)
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, hashlib.sha256(ids.tobytes()).hexdigest()


def main():
    from tokenizers import Tokenizer

    program, *rest = sys.argv[1:]
    tokenizers, texts = rest[: rest.index("--")], rest[rest.index("--") + 1 :]
    for path in tokenizers:
        ours = json.loads(subprocess.run([program, path, *texts], capture_output=True, text=True, check=True).stdout)
        begin = time.perf_counter()
        theirs = Tokenizer.from_file(path)
        theirs.no_truncation()
        theirs.no_padding()
        name = pathlib.Path(path).parent.name
        print(f"{name:18} load {ours['load']:.2f} s, theirs {time.perf_counter() - begin:.2f} s", flush=True)
        for row in ours["texts"]:
            text = pathlib.Path(row["file"]).read_text(encoding="utf-8", newline="")
            seconds, digest = encode(theirs, text, row["how"])
            mine, other = row["bytes"] / 1e6 / row["seconds"], row["bytes"] / 1e6 / seconds
            print(f"{name:18} {pathlib.Path(row['file']).name:12} {row['how']:6} {mine:7.1f} MB/s, theirs {other:6.1f}:"
                  f" {mine / other:5.1f} x{'' if digest == row['sha256'] else '  IDS DIFFER'}", flush=True)


if __name__ == "__main__":
    main()
