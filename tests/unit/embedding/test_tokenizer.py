"""Token rows: nothing is lost that the model could have read in another window."""

import json

import pytest

from lithify.embedding.tokenizer import TextTokenizer
from lithify.errors import Invalid, Misconfigured
from tests.unit.embedding.tiny_model import WORDS, tokenizer

CLS, SEP, RED, BLUE = (WORDS.index(word) for word in ("[CLS]", "[SEP]", "red", "blue"))


def tiny(*, add_special_tokens: bool = True) -> TextTokenizer:
    return TextTokenizer(json.dumps(tokenizer()).encode(), add_special_tokens=add_special_tokens)


def test_the_files_own_cutting_and_padding_are_off() -> None:
    assert tiny().windows("red", 16, 8) == [[CLS, RED, SEP]]
    assert tiny().windows("red " * 8, 16, 8) == [[CLS, *[RED] * 8, SEP]]


def test_windows_cover_the_whole_text_and_each_is_framed() -> None:
    rows = tiny().windows("red " * 6 + "blue " * 3, 8, 2)
    assert rows == [[CLS, *[RED] * 6, SEP], [CLS, RED, RED, BLUE, BLUE, BLUE, SEP]]


def test_windows_without_special_tokens_use_the_room() -> None:
    assert tiny(add_special_tokens=False).windows("red " * 8, 8, 4) == [[RED] * 8]


def test_the_head_is_cut_so_that_its_frame_fits() -> None:
    assert tiny().head("red " * 20, 8) == [CLS, *[RED] * 6, SEP]
    assert tiny().head("red", 8) == [CLS, RED, SEP]


def test_an_empty_text_is_its_frame() -> None:
    assert tiny().windows("", 8, 4) == [[CLS, SEP]]


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(Invalid, match="not valid Unicode"):
        tiny().windows("red \ud800", 8, 4)


@pytest.mark.parametrize("definition", [b"", b"{}", b"\xff\xff", b'{"version": "1.0"}'])
def test_a_broken_definition_is_refused(definition: bytes) -> None:
    with pytest.raises(Misconfigured, match="the tokenizer cannot be read"):
        TextTokenizer(definition, add_special_tokens=True)
