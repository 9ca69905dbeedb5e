"""Writes the `tokenizer.json` of a BERT vocabulary that comes inside a GGUF file."""

import json
from collections.abc import Sequence

WORD_START = "\u2581"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def tokenizer_definition(tokens: Sequence[str]) -> str:
    """Written by hand rather than by the tokenizers package, so that every version of it writes the same bytes."""
    vocabulary = {wordpiece(token): number for number, token in enumerate(tokens)}
    definition = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [_special(content, vocabulary[content]) for content in SPECIAL],
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": _frame(vocabulary["[CLS]"], vocabulary["[SEP]"]),
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    }
    return json.dumps(definition, ensure_ascii=False)


def wordpiece(token: str) -> str:
    """GGUF marks the pieces that begin a word, BERT those that continue one."""
    if token.startswith(WORD_START):
        return token.removeprefix(WORD_START)
    bracketed = token.startswith("[") and token.endswith("]") and len(token) > len("[]")
    return token if bracketed else f"##{token}"


def _special(content: str, number: int) -> dict[str, object]:
    exact = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": content, "special": True, **exact}


def _frame(opening: int, closing: int) -> dict[str, object]:
    """[CLS] text [SEP]."""
    single = [_piece("SpecialToken", "[CLS]"), _piece("Sequence", "A"), _piece("SpecialToken", "[SEP]")]
    pair = [*single, _piece("Sequence", "B", 1), _piece("SpecialToken", "[SEP]", 1)]
    numbers = {"[CLS]": opening, "[SEP]": closing}
    special = {name: {"id": name, "ids": [number], "tokens": [name]} for name, number in numbers.items()}
    return {"type": "TemplateProcessing", "single": single, "pair": pair, "special_tokens": special}


def _piece(kind: str, name: str, text: int = 0) -> dict[str, object]:
    return {kind: {"id": name, "type_id": text}}
