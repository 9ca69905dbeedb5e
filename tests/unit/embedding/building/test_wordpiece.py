"""A BERT tokenizer made of the vocabulary in a GGUF file."""

from tokenizers import Tokenizer

from lithify.embedding.building.gguf import tokenizer_definition, wordpiece

TOKENS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "[unused0]",
    "\u2581play",
    "ing",
    "\u2581cafe",
    "\u2581[",
    "\u2581]",
)


def test_pieces_are_marked_bert_fashion() -> None:
    assert [wordpiece(token) for token in TOKENS[5:]] == ["[unused0]", "play", "##ing", "cafe", "[", "]"]


def test_texts_are_lowered_split_and_framed() -> None:
    tokenizer = Tokenizer.from_str(tokenizer_definition(TOKENS))
    encoding = tokenizer.encode("Playing CAFÉ zebra []")
    assert encoding.tokens == ["[CLS]", "play", "##ing", "cafe", "[UNK]", "[", "]", "[SEP]"]
    assert encoding.ids == [2, 6, 7, 8, 1, 9, 10, 3]


def test_nothing_is_cut_or_padded() -> None:
    tokenizer = Tokenizer.from_str(tokenizer_definition(TOKENS))
    assert tokenizer.truncation is None
    assert tokenizer.padding is None
