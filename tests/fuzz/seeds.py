#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""seeds.py OUT: writes a small seed corpus for each fuzz target into OUT/<target>/: files made here
with the standard library alone."""
import gzip
import io
import json
import pathlib
import pickle
import struct
import sys
import tarfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def safetensors():
    def file(header, data=b""):
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + data

    yield file({"__metadata__": {"format": "pt"}, "a.weight": {"dtype": "F32", "shape": [2, 1], "data_offsets": [0, 8]},
                "b": {"dtype": "BF16", "shape": [], "data_offsets": [8, 10]}}, b"x" * 10)
    yield file({"input_ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
                "q": {"dtype": "F4", "shape": [2, 2], "data_offsets": [8, 10]}}, b"y" * 10)
    yield file({"x.lora_A.weight": {"dtype": "NEW", "shape": [3], "data_offsets": [0, 3]}}, b"zzz")


def gguf():
    for version, order in ((1, "<"), (2, "<"), (3, "<"), (3, ">")):
        size = "I" if version == 1 else "Q"

        def text(value):
            return struct.pack(order + size, len(value)) + value

        entries = [text(b"general.architecture") + struct.pack(order + "I", 8) + text(b"llama"),
                   text(b"general.alignment") + struct.pack(order + "II", 4, 32),
                   text(b"f") + struct.pack(order + "If", 6, 1e-5),
                   text(b"b") + struct.pack(order + "IB", 7, 1),
                   text(b"tokenizer.ggml.tokens") + struct.pack(order + "II" + size, 9, 8, 2) + text(b"a") + text(b"bc"),
                   text(b"n") + struct.pack(order + "II" + size, 9, 9, 1) + struct.pack(order + "I" + size + "ii", 5, 2, 1, -1)]
        infos = [text(b"t") + struct.pack(order + "I" + size + "IQ", 1, 4, 0, 0),
                 text(b"q") + struct.pack(order + "I" + size + size + "IQ", 2, 32, 1, 2, 32)]
        body = (b"GGUF" + struct.pack(order + "I" + size + size, version, len(infos), len(entries)) + b"".join(entries) + b"".join(infos))
        yield body + b"\0" * (-len(body) % 32) + b"d" * 64


def npy_bytes(descr="<f4", shape="(2,)", data=b"12345678", version=1):
    header = ("{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)).encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(header)) + header + data


def npy():
    yield npy_bytes()
    yield npy_bytes(">i2", "(2, 2)", version=2)
    yield npy_bytes("|O", "(1,)", b"\x80\x04.")


def zip_bytes(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, compress_type=method)
    return out.getvalue()


def npz():
    arrays = {"input_ids.npy": npy_bytes("<i8", "(1,)"), "logits.npy": npy_bytes()}
    yield zip_bytes(arrays)
    yield zip_bytes(arrays, zipfile.ZIP_DEFLATED)


def torch():
    yield zip_bytes({"m/data.pkl": pickle.dumps({"epoch": 3, "list": [1, 2.5, "x"]}, 2), "m/data/0": b"12345678"})
    yield (ROOT / "fixtures/torch/model.pt").read_bytes()


def pickles():
    for protocol in range(6):
        yield pickle.dumps({"a": [1, -1, 2**70, 2.5, None, True, b"x", "y"], "t": (1,), "s": {1, 2}}, protocol)
    with zipfile.ZipFile(ROOT / "fixtures/torch/model.pt") as archive:
        yield archive.read("archive/data.pkl")


def archives():
    yield from npz()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tape:
        for name in ("a.json", "b/c.txt"):
            info = tarfile.TarInfo(name)
            info.size = 4
            tape.addfile(info, io.BytesIO(b"{}\n\n"))
    yield out.getvalue()
    yield gzip.compress(out.getvalue(), mtime=0)


def json_texts():
    for value in ({"weight_map": {"a": "x", "b": "y"}, "metadata": {"total_size": 24}}, [1, -2.5e3, None, True, "\u00e9\U0001f600\ud800"],
                  {"a": {"b.c": [{"d": "\"\\"}]}}):
        yield json.dumps(value).encode()
    yield b"\xef\xbb\xbf[NaN, Infinity, 1e999, \"\xff\"] "


def texts():
    yield from json_texts()
    yield b'{"a": 1}\n{"b": [2]}\n'
    yield b"---\nlicense: mit\nlist: [a, b]\nmap: {k: v}\nanchor: &x 1\nalias: *x\n---\n# Title\n"
    yield b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
    yield b"{% for m in messages %}{{ m['content'] }}{% endfor %}"
    yield b"INFO 01-01 00:00:00 api_server.py:1] vLLM API server version 0.11.0\n"
    yield b"IQ== 0\nIg== 1\nIw== 2\n"
    yield b"\n\x0b\n\x03<s>\x15\x00\x00\x00\x00\x18\x03\n\x09\n\x01a\x15\x00\x00\x80\xbf"


SEEDS = {"safetensors": safetensors, "gguf": gguf, "npy": npy, "npz": npz, "torch": torch, "pickle": pickles, "archive": archives, "members": archives,
         "document": json_texts, "weightindex": json_texts}


def main():
    out = pathlib.Path(sys.argv[1])
    readers = [path.stem for path in (ROOT.parent / "models/artifacts/readers").glob("*.cpp")]
    for target in sorted(set(SEEDS) | set(readers)):
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        for index, seed in enumerate(SEEDS.get(target, texts)()):
            (folder / f"seed-{index}").write_bytes(seed)


main()
