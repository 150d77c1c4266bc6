# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes small model files for fixtures, by hand, so that damage can be written too."""
import json
import os
import struct

SIZES = {"F32": 4, "F16": 2, "BF16": 2, "I32": 4, "I64": 8, "F8_E4M3": 1, "U8": 1, "I8": 1}


def count(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


def zeros(dtype, *shape):
    return (dtype, list(shape), bytes(SIZES[dtype] * count(shape)))


def floats(values, *shape, dtype="F32"):
    assert len(values) == count(shape)
    if dtype == "BF16":
        data = b"".join(struct.pack("<f", v)[2:] for v in values)
    else:
        data = struct.pack("<%d%s" % (len(values), {"F32": "f", "F16": "e"}[dtype]), *values)
    return (dtype, list(shape), data)


def words(values, *shape):
    """32-bit words, given unsigned as one reads packed nibbles."""
    assert len(values) == count(shape)
    return ("I32", list(shape), struct.pack("<%dI" % len(values), *[v & 0xFFFFFFFF for v in values]))


def write_file(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def write_json(path, value, indent=1):
    write_file(path, json.dumps(value, indent=indent, ensure_ascii=False) + "\n")


def write_jsonl(path, rows):
    write_file(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    write_file(path, struct.pack("<Q", len(text)) + text + b"".join(data for _, _, data in tensors.values()))


def write_sharded(folder, shards, stem="model", drop=(), total_size=None):
    """Shards with their index; those in `drop` are claimed and not written."""
    weight_map, total = {}, 0
    for i, tensors in enumerate(shards, 1):
        name = "%s-%05d-of-%05d.safetensors" % (stem, i, len(shards))
        for tensor, (_, _, data) in tensors.items():
            weight_map[tensor] = name
            total += len(data)
        if i not in drop:
            write_safetensors(os.path.join(folder, name), tensors)
    write_json(os.path.join(folder, stem + ".safetensors.index.json"),
               {"metadata": {"total_size": total if total_size is None else total_size}, "weight_map": weight_map})


def lfs_pointer(size, seed="0"):
    return "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n" % (
        (seed * 64)[:64], size)


GGUF_TYPES = {"u8": (0, "<B"), "u16": (2, "<H"), "u32": (4, "<I"), "i32": (5, "<i"), "f32": (6, "<f"),
              "bool": (7, "<?"), "str": (8, None), "u64": (10, "<Q")}
GGML = {"F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18), "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144),
        "Q6_K": (14, 256, 210), "BF16": (30, 1, 2)}


def _gguf_string(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def write_gguf(path, metadata, tensors):
    """metadata: (key, type, value), type "[str]" for arrays; tensors: (name, type, shape outermost first)
    with zeros, or with the bytes as a fourth member."""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for key, kind, value in metadata:
        out += _gguf_string(key)
        array = kind.startswith("[")
        number, form = GGUF_TYPES[kind.strip("[]")]
        if array:
            out += struct.pack("<IIQ", 9, number, len(value))
        else:
            out += struct.pack("<I", number)
        for element in value if array else [value]:
            out += _gguf_string(element) if form is None else struct.pack(form, element)
    infos, data = b"", b""
    for name, kind, shape, *stored in tensors:
        number, per, size = GGML[kind]
        infos += _gguf_string(name) + struct.pack("<I", len(shape))
        infos += b"".join(struct.pack("<Q", extent) for extent in reversed(shape))
        infos += struct.pack("<IQ", number, len(data))
        data += stored[0] if stored else bytes(count(shape) // per * size)
        data += bytes(-len(data) % 32)
    out += infos
    write_file(path, out + bytes(-len(out) % 32) + data)


def llama(layers=2, hidden=4, vocab=16, head=False, experts=0, dense_lead=0):
    """The tensors of a small Llama-like model, all zero."""
    tensors = {"model.embed_tokens.weight": zeros("F32", vocab, hidden)}
    for i in range(layers):
        at = "model.layers.%d." % i
        for name in ("q", "k", "v", "o"):
            tensors[at + "self_attn.%s_proj.weight" % name] = zeros("F32", hidden, hidden)
        for name in ("gate", "up", "down"):
            if experts and i >= dense_lead:
                for e in range(experts):
                    tensors[at + "mlp.experts.%d.%s_proj.weight" % (e, name)] = zeros("F32", hidden, hidden)
            else:
                tensors[at + "mlp.%s_proj.weight" % name] = zeros("F32", hidden, hidden)
        if experts and i >= dense_lead:
            tensors[at + "mlp.gate.weight"] = zeros("F32", experts, hidden)
        tensors[at + "input_layernorm.weight"] = zeros("F32", hidden)
        tensors[at + "post_attention_layernorm.weight"] = zeros("F32", hidden)
    tensors["model.norm.weight"] = zeros("F32", hidden)
    if head:
        tensors["lm_head.weight"] = zeros("F32", vocab, hidden)
    return tensors


def llama_config(layers=2, hidden=4, vocab=16, **more):
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden,
            "num_hidden_layers": layers, "num_attention_heads": 1, "vocab_size": vocab, **more}
