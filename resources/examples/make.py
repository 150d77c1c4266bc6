#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes lost-scaling and kept-scaling: a small model folder and the GGUF converted from it. The model
was trained for long prompts; in the first the conversion dropped the factors that make them work.
make.py [FOLDER]: writes there instead of beside the script."""
import math
import os
import struct
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "../../tests/support"))
from tensorfiles import write_file, write_gguf, write_json, write_safetensors  # noqa: E402

HIDDEN, HEADS, KV, FEED, VOCAB, LAYERS = 32, 2, 1, 48, 16, 2
HEAD = HIDDEN // HEADS
FACTOR, LOW, HIGH, ORIGINAL, BASE = 8.0, 1.0, 4.0, 8192, 500000.0

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": FEED,
    "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV, "head_dim": HEAD,
    "vocab_size": VOCAB, "max_position_embeddings": 131072, "rms_norm_eps": 1e-05, "rope_theta": BASE,
    "rope_scaling": {"rope_type": "llama3", "factor": FACTOR, "low_freq_factor": LOW, "high_freq_factor": HIGH,
                     "original_max_position_embeddings": ORIGINAL},
    "bos_token_id": 0, "eos_token_id": 1, "hidden_act": "silu", "tie_word_embeddings": True, "torch_dtype": "float32"}
GENERATION = {"bos_token_id": 0, "eos_token_id": 1, "do_sample": True, "temperature": 0.6, "top_p": 0.9}
METADATA = [
    ("general.architecture", "str", "llama"), ("general.name", "str", "example"), ("general.file_type", "u32", 0),
    ("llama.block_count", "u32", LAYERS), ("llama.context_length", "u32", 131072), ("llama.embedding_length", "u32", HIDDEN),
    ("llama.feed_forward_length", "u32", FEED), ("llama.attention.head_count", "u32", HEADS),
    ("llama.attention.head_count_kv", "u32", KV), ("llama.attention.layer_norm_rms_epsilon", "f32", 1e-05),
    ("llama.rope.freq_base", "f32", BASE), ("llama.rope.dimension_count", "u32", HEAD), ("llama.vocab_size", "u32", VOCAB),
    ("general.sampling.temp", "f32", 0.6), ("general.sampling.top_p", "f32", 0.9)]

state = 20260101


def numbers(*shape):
    """Small numbers that look like weights; the same at every run."""
    global state
    count, values = math.prod(shape), []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        values.append((state / 2**30 - 1) * 0.05)
    return struct.pack("<%df" % count, *values)


def weights():
    """Name in the folder, name in the GGUF, shape, bytes."""
    def row(source, target, *shape, ones=False):
        data = struct.pack("<%df" % math.prod(shape), *[1.0] * math.prod(shape)) if ones else numbers(*shape)
        return source + ".weight", target + ".weight", shape, data
    rows = [row("model.embed_tokens", "token_embd", VOCAB, HIDDEN)]
    for i in range(LAYERS):
        at, to = "model.layers.%d." % i, "blk.%d." % i
        rows += [row(at + "input_layernorm", to + "attn_norm", HIDDEN, ones=True),
                 row(at + "self_attn.q_proj", to + "attn_q", HEADS * HEAD, HIDDEN),
                 row(at + "self_attn.k_proj", to + "attn_k", KV * HEAD, HIDDEN),
                 row(at + "self_attn.v_proj", to + "attn_v", KV * HEAD, HIDDEN),
                 row(at + "self_attn.o_proj", to + "attn_output", HIDDEN, HEADS * HEAD),
                 row(at + "post_attention_layernorm", to + "ffn_norm", HIDDEN, ones=True),
                 row(at + "mlp.gate_proj", to + "ffn_gate", FEED, HIDDEN),
                 row(at + "mlp.up_proj", to + "ffn_up", FEED, HIDDEN),
                 row(at + "mlp.down_proj", to + "ffn_down", HIDDEN, FEED)]
    return rows + [row("model.norm", "output_norm", HIDDEN, ones=True)]


def factors():
    """What the conversion of llama3 scaling writes as rope_freqs.weight."""
    values = []
    for i in range(HEAD // 2):
        wavelength = 2 * math.pi * BASE ** (2 * i / HEAD)
        if wavelength < ORIGINAL / HIGH:
            values.append(1.0)
        elif wavelength > ORIGINAL / LOW:
            values.append(FACTOR)
        else:
            smooth = (ORIGINAL / wavelength - LOW) / (HIGH - LOW)
            values.append(1 / ((1 - smooth) / FACTOR + smooth))
    return struct.pack("<%df" % len(values), *values)


def model(name, extra):
    folder = os.path.join(sys.argv[1] if len(sys.argv) > 1 else here, name)
    write_json(os.path.join(folder, "source/config.json"), CONFIG)
    write_json(os.path.join(folder, "source/generation_config.json"), GENERATION)
    write_safetensors(os.path.join(folder, "source/model.safetensors"),
                      {source: ("F32", list(shape), data) for source, _, shape, data in rows})
    write_gguf(os.path.join(folder, "model.gguf"), METADATA,
               [(target, "F32", shape, data) for _, target, shape, data in rows] + extra)
    write_file(os.path.join(folder, "README.md"), README[name])


README = {
    "lost-scaling": """# Right up to 8192 tokens, then adrift

A model trained for prompts of 131072 tokens was converted to GGUF. Short prompts are answered as before; long
ones are fluent and wrong. The report says which part of the configuration the conversion left behind.
""",
    "kept-scaling": """# The same conversion, complete

The healthy twin of lost-scaling: the same folder, and a GGUF with the position factors in it.
"""}

rows = weights()
model("lost-scaling", [])
model("kept-scaling", [("rope_freqs.weight", "F32", (HEAD // 2,), factors())])
