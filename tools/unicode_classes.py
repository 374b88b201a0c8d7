#!/usr/bin/env python3
"""Prints src/unicode_classes.rs: the character classes a BERT tokenizer works with.

    pip install tokenizers==0.23.3
    python tools/unicode_classes.py > src/unicode_classes.rs && rustfmt src/unicode_classes.rs

The reference tokenizer is asked about every code point, because it follows an older
edition of Unicode than current tables do and the token table assumes its answers.
"""

from tokenizers import normalizers, pre_tokenizers

OFF = dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False)
CLEAN = normalizers.BertNormalizer(**{**OFF, "clean_text": True})
STRIP = normalizers.BertNormalizer(**{**OFF, "strip_accents": True})
SPLIT = pre_tokenizers.BertPreTokenizer()


def boundaries(codes):
    edges = []
    for code in codes:
        if edges and edges[-1] == code:
            edges[-1] = code + 1
        else:
            edges += [code, code + 1]
    return edges


def show(name, doc, codes):
    edges = ", ".join(
        f"0x{edge >> 16:X}_{edge & 0xFFFF:04X}" if edge >> 16 else f"0x{edge:04X}"
        for edge in boundaries(codes)
    )
    print(f"/// {doc}\npub(crate) const {name}: &[u32] = &[{edges}];\n")


def main():
    removed, marks, punctuation = [], [], []
    for code in range(1, 0x110000):
        if 0xD800 <= code < 0xE000:
            continue
        char = chr(code)
        if CLEAN.normalize_str(f"a{char}b") == "ab":
            removed.append(code)
        if code > 0x7F and STRIP.normalize_str(char) == "":
            marks.append(code)
        if len(SPLIT.pre_tokenize_str(f"a{char}b")) == 3:
            punctuation.append(code)
    print("//! Character classes, made by `tools/unicode_classes.py`; not edited by hand.")
    print("//!")
    print("//! Each table lists the code points at which membership flips, so that a number of")
    print("//! boundaries at or below a code point that is odd means it belongs to the class.\n")
    print("/// Whether `character` belongs to the class a table of boundaries describes.")
    print("pub(crate) fn contains(boundaries: &[u32], character: char) -> bool {")
    print("    let code = u32::from(character);")
    print("    boundaries.partition_point(|&edge| edge <= code) % 2 == 1\n}\n")
    show("REMOVED", "Control, format and private-use characters, dropped from a text.", removed)
    show("MARKS", "Nonspacing marks, dropped after decomposition.", marks)
    show("PUNCTUATION", "Characters that always are a word of their own.", punctuation)


if __name__ == "__main__":
    main()
