#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""seeds.py OUT: writes a seed corpus for each fuzz target into OUT/<target>/: files made here with the
standard library alone, and the small ones among the test fixtures. Beside them OUT/words, the words of
these formats that random change would hardly find."""
import bz2
import gzip
import io
import json
import lzma
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


def tar_bytes():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.GNU_FORMAT) as tape:
        for name in ("a.json", "b/c.txt", "long" * 30 + ".json"):
            info = tarfile.TarInfo(name)
            info.size = 4
            tape.addfile(info, io.BytesIO(b"{}\n\n"))
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "../a.json"
        tape.addfile(link)
    return out.getvalue()


def archives():
    yield from npz()
    yield tar_bytes()
    yield gzip.compress(tar_bytes(), mtime=0)
    yield bz2.compress(tar_bytes())
    yield lzma.compress(tar_bytes())
    yield zip_bytes({"../up.json": b"{}", "/root.json": b"{}", "a\\b": b"{}", "m/./config.json": b"{}" * 500}, zipfile.ZIP_DEFLATED)


def inspect_logs():
    yield zip_bytes({"_journal/start.json": b"{}", "samples/1_epoch_1.json": b"{}", "header.json": b"{}"}, zipfile.ZIP_DEFLATED)


def events():
    def record(data):
        return struct.pack("<QI", len(data), 0) + data + b"\0" * 4

    yield record(b"\x09" + b"\0" * 8 + b"\x1a\x0dbrain.Event:2") + record(b"\x10\x01") * 3
    yield record(b"\x1a\x0dbrain.Event:2") + struct.pack("<Q", 2**63)


def json_texts():
    for value in ({"weight_map": {"a": "x", "b": "y"}, "metadata": {"total_size": 24}}, [1, -2.5e3, None, True, "\u00e9\U0001f600\ud800"],
                  {"a": {"b.c": [{"d": "\"\\"}]}}, {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b", ["c", "d"]]}}):
        yield json.dumps(value).encode()
    yield b"\xef\xbb\xbf[NaN, Infinity, -0, 1e999, 123456789012345678901234567890, \"\xff\"] "
    yield b"[" * 300 + b"]" * 300
    yield b'{"a": 1, "a": 2}'


def jsonl():
    yield b'{"a": 1}\n{"b": [2]}\n'
    yield b'{"prompt": "x", "choices": [{"text": "y", "logprobs": null}]}\r\n\r\n{"a"\n[]'


def yaml():
    yield b"license: mit\nlist: [a, b]\nmap: {k: v}\nanchor: &x {a: 1}\nalias: *x\nmerge:\n  <<: *x\n"
    yield b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"
    yield b"text: |\n  one\n  two\nfolded: >-\n  three\n? complex\n: !!str 1\n--- second\n...\n"


def cards():
    for body in yaml():
        yield b"---\n" + body + b"---\n# Title\n"
    yield b"---\nlicense: mit\n"


def pointers():
    yield b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"a" * 64 + b"\nsize 12345\n"
    yield b"version https://hawser.github.com/spec/v1\r\noid sha256:0\r\nsize 99999999999999999999\r\n"


def sentencepiece():
    pieces = b"\n\x0b\n\x03<s>\x15\x00\x00\x00\x00\x18\x03\n\x09\n\x01a\x15\x00\x00\x80\xbf"
    yield pieces
    yield pieces + b"\x12\x06\x18\x02\x20\xe8\x07\x60" + b"\x1a\x0c\n\x04nfkc\x18\x01\x20\x00\x28\x01"


def texts():
    yield b"{% for m in messages %}{{ m['content'] }}{% endfor %}"
    yield b"INFO 01-01 00:00:00 api_server.py:1] vLLM API server version 0.11.0\n"
    yield b"\x1b[32mllama_model_loader\x1b[0m: - kv   0: general.architecture str = llama\r\n"
    yield b"IQ== 0\nIg== 1\nIw== 2\n"
    yield b"a,b\n1,\"x,\"\"y\"\n"


SEEDS = {
    "archive": archives, "document": json_texts, "gguf": gguf, "inspecteval": inspect_logs, "json": json_texts, "jsonl": jsonl, "lfs": pointers,
    "members": archives, "modelcard": cards, "npy": npy, "npz": npz, "pickle": pickles, "safetensors": safetensors, "sentencepiece": sentencepiece,
    "tensorboard": events, "text": texts, "torch": torch, "weightindex": json_texts, "yaml": yaml,
}
# Fixtures that a target is given beside its own, by the end of their names.
FIXTURES = {"document": ".json", "gguf": ".gguf", "json": ".json", "jsonl": ".jsonl", "safetensors": ".safetensors", "text": ".log",
            "weightindex": ".index.json"}
LARGEST_FIXTURE = 16 * 1024


def fixtures(target):
    """Each different one once, in an order that does not depend on the file system."""
    if target not in FIXTURES:
        return []
    found = {path.read_bytes() for path in (ROOT / "fixtures").rglob("*" + FIXTURES[target])
             if path.is_file() and path.stat().st_size <= LARGEST_FIXTURE}
    return sorted(found, key=lambda data: (len(data), data))


# As libFuzzer's -dict wants them; one list, since a word of another format does no harm.
WORDS = [
    "GGUF", "general.alignment", "general.architecture", "split.count", "tokenizer.ggml.tokens", "\\x93NUMPY", "'descr': ", "'fortran_order': True",
    "'shape': (", "|O", ">f8", "PK\\x01\\x02", "PK\\x03\\x04", "PK\\x05\\x06", "PK\\x06\\x06", "PK\\x06\\x07", "ustar", "__metadata__", "data_offsets",
    "dtype", "shape", "BF16", "F8_E4M3", "weight_map", "total_size", "brain.Event:2", "ctorch._utils\\x0a_rebuild_tensor_v2\\x0a", "\\\\ud83d",
    "\\\\u0000", "\\xef\\xbb\\xbf", "NaN", "-Infinity", "1e308", "18446744073709551615", "9223372036854775808", "\\xff\\xff\\xff\\xff",
    "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff", "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x80", "---\\x0a", "<<: *", "!!binary", "git-lfs.github.com/spec/", "size ",
]


def main():
    out = pathlib.Path(sys.argv[1])
    readers = {path.stem for path in (ROOT.parent / "models/artifacts/readers").glob("*.cpp")}
    lacking = readers - set(SEEDS)
    if lacking:
        sys.exit(f"seeds.py: no seeds for {', '.join(sorted(lacking))}")
    for target, make in sorted(SEEDS.items()):
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        for index, seed in enumerate([*make(), *fixtures(target)]):
            (folder / f"seed-{index}").write_bytes(seed)
    (out / "words").write_text("".join(f'"{word}"\n' for word in WORDS))


main()
