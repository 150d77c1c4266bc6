#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""run.py BUILD FOLDER405B [GGUF...]: prints JSON with
  - listing names, shapes and types of all shards by Prosector and by Python's safetensors,
  - listing a GGUF file's metadata and tensors by Prosector and by Python's gguf (where installed),
  - wall time and peak memory of `prosector-cli examine FOLDER405B`,
each the best of several rounds in this one run. BUILD is a Release tree with PROSECTOR_BENCH on."""
import json
import pathlib
import resource
import subprocess
import sys
import time


def best(function, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def ours(build, files, rounds):
    program = build / "tests/bench/prosector_bench"
    out = subprocess.run([program, str(rounds), *map(str, files)], capture_output=True, text=True, check=True).stdout
    return min(json.loads(out)["seconds"])


def safetensors_row(build, files):
    from safetensors import safe_open

    def list_all():
        for file in files:
            with safe_open(file, framework="np") as opened:
                for key in opened.keys():
                    part = opened.get_slice(key)
                    part.get_shape(), part.get_dtype()

    mine, theirs = ours(build, files, 20), best(list_all, 20)
    return {"files": len(files), "prosector_seconds": mine, "safetensors_seconds": theirs, "ratio": theirs / mine}


def gguf_row(build, file):
    from gguf import GGUFReader

    def list_all():
        reader = GGUFReader(file)
        for field in reader.fields.values():
            field.contents()
        for tensor in reader.tensors:
            tensor.name, tensor.shape, tensor.tensor_type

    mine, theirs = ours(build, [file], 20), best(list_all, 3)
    return {"file": file.name, "prosector_seconds": mine, "gguf_seconds": theirs, "ratio": theirs / mine}


def examine_row(build, folder):
    program, times = build / "app/prosector-cli", []
    for _ in range(5):
        begin = time.perf_counter()
        ran = subprocess.run([program, "examine", folder, "--format", "json"], capture_output=True)
        times.append(time.perf_counter() - begin)
        if ran.returncode not in (0, 1):  # 1: it found something
            sys.exit(f"prosector-cli examine: status {ran.returncode}: {ran.stderr.decode()}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return {"status": ran.returncode, "seconds": times, "best_seconds": min(times), "peak_megabytes": peak}


def main():
    build, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    # First, while no other child has run: the peak is that of all children.
    figures = {"examine": examine_row(build, folder)}
    for name, row in (("safetensors", lambda: safetensors_row(build, sorted(folder.glob("*.safetensors")))),
                      ("gguf", lambda: [gguf_row(build, pathlib.Path(path)) for path in sys.argv[3:]])):
        try:
            figures[name] = row()
        except ImportError as error:
            figures[name] = f"not compared: {error}"
    print(json.dumps(figures, indent=2))


main()
