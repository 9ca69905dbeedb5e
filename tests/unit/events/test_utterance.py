"""Who says what is read from every shape that hosts have, and from none that they have not."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lithify.events.utterance import MAX_CALL_CHARS, read_utterance, render_call

CALL = {"type": "function", "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'}}
NAMES = "role content type text parts tool_calls function_call function name arguments input output refusal toolUse"
KINDS = "text tool_use tool_result refusal function_call function_call_output image user assistant"
FIELDS = st.sampled_from(NAMES.split())
SCALARS = st.sampled_from([None, True, 7, -2.5, "", " a ", "\u00e9\n", *KINDS.split()])
MESSAGE_LIKE = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=5), max_leaves=20
)


@pytest.mark.parametrize(
    ("message", "role", "text"),
    [
        # OpenAI, chat
        ({"role": "user", "content": " hello "}, "user", "hello"),
        ({"role": "developer", "content": "be brief"}, "system", "be brief"),
        ({"role": "assistant", "content": None, "tool_calls": [CALL]}, "tool", 'weather({"city": "Lisbon"})'),
        ({"role": "assistant", "tool_calls": [CALL, CALL]}, "tool", "; ".join(['weather({"city": "Lisbon"})'] * 2)),
        ({"role": "assistant", "content": "I look.", "tool_calls": [CALL]}, "assistant", "I look."),
        ({"role": "assistant", "content": None, "refusal": "I cannot."}, "assistant", "I cannot."),
        ({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}, "assistant", "No."),
        ({"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}, "tool", "f({})"),
        ({"role": "function", "name": "f", "content": "21"}, "tool", "21"),
        ({"role": "tool", "tool_call_id": "c", "content": [{"type": "text", "text": "21"}]}, "tool", "21"),
        ({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}, "user", ""),
        # OpenAI, responses
        ({"role": "user", "content": [{"type": "input_text", "text": "a"}, {"type": "input_image"}]}, "user", "a"),
        ({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}, "assistant", "b"),
        ({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "c"}, "tool", "f({})"),
        ({"type": "function_call_output", "call_id": "c", "output": "21"}, "tool", "21"),
        ({"type": "reasoning", "summary": []}, "", ""),
        # Anthropic
        (
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "input": {"a": 1}}]},
            "tool",
            'f({"a":1})',
        ),
        ({"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}]}, "assistant", ""),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "content": "1"}, {"type": "tool_result", "content": "2"}],
            },
            "tool",
            "1\n2",
        ),
        (
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "content": [{"type": "text", "text": "a"}, {"type": "image", "source": {}}],
                    },
                ],
            },
            "tool",
            "a",
        ),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": "21"}, {"type": "text", "text": "so?"}]},
            "user",
            "so?",
        ),
        ({"role": "user", "content": [{"type": "tool_result"}]}, "user", ""),
        # Others
        ({"role": "model", "parts": [{"text": "c"}]}, "assistant", "c"),
        ({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}, "tool", "f({})"),
        ({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"t": 21}}}]}, "tool", '{"t":21}'),
        ({"role": "user", "content": [{"toolResult": {"content": [{"text": "21"}]}}]}, "tool", "21"),
        ({"type": "human", "content": "d"}, "user", "d"),
        ({"role": "user", "content": ["a", "b"]}, "user", "a\nb"),
        ({}, "", ""),
    ],
)
def test_every_shape_is_read(message: dict[str, Any], role: str, text: str) -> None:
    assert read_utterance(message) == (role, text)


def test_a_call_is_one_line_however_long() -> None:
    told = render_call({"name": "write", "input": {"path": "a\nb", "text": "line\n" * 100_000}})
    assert "\n" not in told
    assert len(told) <= MAX_CALL_CHARS + 10
    assert told.startswith('write({"path":')
    assert told.endswith("…)")
    assert render_call({"function": {"name": "f", "arguments": '{\n  "a": 1\n}'}}) == 'f({ "a": 1 })'
    assert render_call({}) == "tool()"


@settings(deadline=None)
@given(st.dictionaries(FIELDS, MESSAGE_LIKE))
def test_nothing_that_json_can_say_is_an_error(message: dict[str, Any]) -> None:
    role, text = read_utterance(message)
    assert isinstance(role, str)
    assert text == text.strip()
