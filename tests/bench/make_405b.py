#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make_405b.py OUT [--tokenizer FOLDER]: writes a model folder with the headers, index and
configuration of a 405-billion-parameter Llama 3.1: 191 shards, sparse (812 GB in name, a few
megabytes on disk). The tokenizer's files are copied from FOLDER when given."""
import argparse
import json
import pathlib
import shutil
import struct

LAYERS, HIDDEN, FFN, HEADS, KV_HEADS, VOCABULARY, SHARDS = 126, 16384, 53248, 128, 8, 128256, 191
KV = HIDDEN // HEADS * KV_HEADS


def tensors():
    yield "model.embed_tokens.weight", [VOCABULARY, HIDDEN]
    for layer in range(LAYERS):
        base = f"model.layers.{layer}."
        yield base + "input_layernorm.weight", [HIDDEN]
        yield base + "mlp.down_proj.weight", [HIDDEN, FFN]
        yield base + "mlp.gate_proj.weight", [FFN, HIDDEN]
        yield base + "mlp.up_proj.weight", [FFN, HIDDEN]
        yield base + "post_attention_layernorm.weight", [HIDDEN]
        yield base + "self_attn.k_proj.weight", [KV, HIDDEN]
        yield base + "self_attn.o_proj.weight", [HIDDEN, HIDDEN]
        yield base + "self_attn.q_proj.weight", [HIDDEN, HIDDEN]
        yield base + "self_attn.v_proj.weight", [KV, HIDDEN]
    yield "model.norm.weight", [HIDDEN]
    yield "lm_head.weight", [VOCABULARY, HIDDEN]


def size_of(shape):
    size = 2
    for extent in shape:
        size *= extent
    return size


def split(limit):
    shards, held = [[]], 0
    for name, shape in tensors():
        size = size_of(shape)
        if shards[-1] and held + size > limit:
            shards.append([])
            held = 0
        shards[-1].append((name, shape))
        held += size
    return shards


def into_shards():
    """Whole tensors in order, the lowest limit that gives at most 191 files, then the fullest split."""
    low, high = 0, 10**11
    while low < high:
        middle = (low + high) // 2
        if len(split(middle)) <= SHARDS:
            high = middle
        else:
            low = middle + 1
    shards = split(low)
    while len(shards) < SHARDS:
        index = max(range(len(shards)), key=lambda i: len(shards[i]))
        half = len(shards[index]) // 2
        shards[index:index + 1] = [shards[index][:half], shards[index][half:]]
    return shards


CONFIG = {
    "architectures": ["LlamaForCausalLM"], "attention_bias": False, "attention_dropout": 0.0, "bos_token_id": 128000,
    "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": HIDDEN, "initializer_range": 0.02,
    "intermediate_size": FFN, "max_position_embeddings": 131072, "mlp_bias": False, "model_type": "llama",
    "num_attention_heads": HEADS, "num_hidden_layers": LAYERS, "num_key_value_heads": KV_HEADS, "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
                     "rope_type": "llama3"},
    "rope_theta": 500000.0, "tie_word_embeddings": False, "torch_dtype": "bfloat16", "transformers_version": "4.43.0",
    "use_cache": True, "vocab_size": VOCABULARY,
}
GENERATION = {"bos_token_id": 128000, "do_sample": True, "eos_token_id": [128001, 128008, 128009], "temperature": 0.6, "top_p": 0.9,
              "transformers_version": "4.43.0"}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--tokenizer", type=pathlib.Path)
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    weight_map, total = {}, 0
    shards = into_shards()
    for number, shard in enumerate(shards, 1):
        file = f"model-{number:05}-of-{len(shards):05}.safetensors"
        header, offset = {"__metadata__": {"format": "pt"}}, 0
        for name, shape in shard:
            header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [offset, offset + size_of(shape)]}
            offset += size_of(shape)
            weight_map[name] = file
        total += offset
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with open(out / file, "wb") as shard_file:
            shard_file.write(struct.pack("<Q", len(text)) + text)
            shard_file.truncate(8 + len(text) + offset)
    index = {"metadata": {"total_size": total}, "weight_map": dict(sorted(weight_map.items()))}
    (out / "model.safetensors.index.json").write_text(json.dumps(index, indent=2) + "\n")
    (out / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    (out / "generation_config.json").write_text(json.dumps(GENERATION, indent=2) + "\n")
    if arguments.tokenizer:
        for path in arguments.tokenizer.iterdir():
            if path.is_file():
                shutil.copyfile(path, out / path.name)
    print(json.dumps({"shards": len(shards), "tensors": len(weight_map), "bytes": total}))


main()
