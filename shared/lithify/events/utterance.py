"""Reads who says what in a message, whatever shape the API of its model gives it.

Known are the shapes of OpenAI (chat and responses), Anthropic, and those that came after them: text or a list of parts,
calls of tools beside the content or among its parts, results of tools as a role of their own or as parts of the user's.
"""

import json
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, NamedTuple

JsonObject = dict[str, Any]

TOOL: Final = "tool"
USER: Final = "user"
ROLES: Final = {
    **{name: name for name in (USER, "assistant", "system", TOOL)},
    "developer": "system",
    "function": TOOL,
    "human": USER,
    "ai": "assistant",
    "model": "assistant",
}
"""Our four roles by what APIs call them."""

TEXT_PARTS: Final = ("text", "input_text", "output_text")
CALL_PARTS: Final = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "function_call", "custom_tool_call"}
)
RESULT_PARTS: Final = frozenset(
    {"tool_result", "web_search_tool_result", "mcp_tool_result", "tool-result"}
    | {"function_call_output", "custom_tool_call_output"}
)
# Parts without a type hold what they are under its name (Bedrock, Gemini).
WRAPPED_CALLS: Final = ("toolUse", "functionCall")
WRAPPED_RESULTS: Final = ("toolResult", "functionResponse")

NAMES: Final = ("name", "toolName")
ARGUMENTS: Final = ("arguments", "input", "args")
RESULTS: Final = ("content", "output", "result", "response")
# Arguments beyond this are whole files more often than not; a call is told in a line.
MAX_CALL_CHARS: Final = 400
MAX_NAME_CHARS: Final = 128
# Results hold parts, which may be results again; nobody nests them deeper.
MAX_DEPTH: Final = 4

_JSON: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=str)


class PieceKind(StrEnum):
    WORDS = "words"
    CALL = "call"
    RESULT = "result"


class Piece(NamedTuple):
    """One part of a message that says something; pictures and hidden thoughts do not."""

    kind: PieceKind
    text: str


class Utterance(NamedTuple):
    """Says who says what; the text is empty where nothing is said."""

    role: str
    text: str


def read_utterance(message: JsonObject) -> Utterance:
    """Reads a message, of which nothing is required."""
    return join_pieces(role_of(message), read_pieces(message))


def join_pieces(role: str, pieces: Sequence[Piece]) -> Utterance:
    """Returns what is said together.

    Words win: the calls beside them are not told. A message of nothing but calls or results is the tool's, whoever
    sends it, a call being one line like `weather({"city":"Lisbon"})`.
    """
    words = _join(pieces, PieceKind.WORDS)
    if words and role != TOOL:
        return Utterance(role, words)
    told = "\n".join(filter(None, (words, _join(pieces, PieceKind.RESULT)))) or _join(pieces, PieceKind.CALL, "; ")
    return Utterance(TOOL if told else role, told)


def role_of(message: JsonObject) -> str:
    """Returns the speaker by our names, an unknown one as it is; a message without one has none."""
    role = _text_of(message, "role")
    if not role:
        return ROLES.get(_text_of(message, "type"), "")
    return ROLES.get(role) or ROLES.get(role.strip().lower(), role)


def read_pieces(message: JsonObject) -> list[Piece]:
    """Returns what a message says, in its order; calls that stand beside the content come last."""
    content = message.get("content")
    if isinstance(content, str) and "role" in message and len(message) == 2:
        return [Piece(PieceKind.WORDS, content)]
    pieces = list(_read_content(message.get("parts") if content is None else content))
    if "role" not in message:
        pieces += _read_part(message, 0)
    if content is None and (refusal := _text_of(message, "refusal")):
        pieces.append(Piece(PieceKind.WORDS, refusal))
    calls = message.get("tool_calls")
    beside = calls if isinstance(calls, list) else ()
    pieces += [Piece(PieceKind.CALL, render_call(call)) for call in beside if isinstance(call, dict)]
    if isinstance(call := message.get("function_call"), dict):
        pieces.append(Piece(PieceKind.CALL, render_call(call)))
    return pieces


def render_call(call: JsonObject) -> str:
    """Tells a tool's call in one line, its arguments shortened where they are long."""
    inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
    name = _first(inner, NAMES)
    arguments = _first(inner, ARGUMENTS)
    called = " ".join(name[:MAX_NAME_CHARS].split()) if isinstance(name, str) else ""
    told = " ".join(_start_of(arguments).split())
    if len(told) > MAX_CALL_CHARS:
        told = told[:MAX_CALL_CHARS] + "…"
    return f"{called or TOOL}({told})"


def _read_content(content: Any, depth: int = 0) -> Iterator[Piece]:
    for part in content if isinstance(content, list) else (content,):
        if isinstance(part, str):
            yield Piece(PieceKind.WORDS, part)
        elif isinstance(part, dict):
            yield from _read_part(part, depth)


def _read_part(part: JsonObject, depth: int) -> Iterator[Piece]:
    kind = _text_of(part, "type")
    if kind in CALL_PARTS:
        yield Piece(PieceKind.CALL, render_call(part))
    elif kind in RESULT_PARTS:
        yield Piece(PieceKind.RESULT, _read_result(part, depth))
    elif "text" in part and (not kind or kind in TEXT_PARTS):
        yield Piece(PieceKind.WORDS, _text_of(part, "text"))
    elif kind == "refusal":
        yield Piece(PieceKind.WORDS, _text_of(part, "refusal"))
    elif not kind:
        yield from _read_wrapped(part, depth)


def _read_wrapped(part: JsonObject, depth: int) -> Iterator[Piece]:
    for key in WRAPPED_CALLS:
        if isinstance(call := part.get(key), dict):
            yield Piece(PieceKind.CALL, render_call(call))
    for key in WRAPPED_RESULTS:
        if isinstance(result := part.get(key), dict):
            yield Piece(PieceKind.RESULT, _read_result(result, depth))


def _read_result(result: JsonObject, depth: int) -> str:
    value = _first(result, RESULTS)
    if isinstance(value, str) or value is None or depth >= MAX_DEPTH:
        return value if isinstance(value, str) else ""
    pieces = [piece.text for piece in _read_content(value, depth + 1)]
    return "\n".join(pieces) or (_JSON.encode(value) if isinstance(value, dict) else "")


def _join(pieces: Sequence[Piece], kind: PieceKind, between: str = "\n") -> str:
    return between.join([piece.text for piece in pieces if piece.kind is kind]).strip()


def _first(fields: JsonObject, names: Sequence[str]) -> Any:
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def _text_of(fields: JsonObject, name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""


def _start_of(value: Any) -> str:
    """Returns enough of a value as JSON to be cut; a history may hold megabytes of arguments."""
    if value is None or isinstance(value, str):
        return (value or "")[: 2 * MAX_CALL_CHARS]
    told = ""
    for chunk in _JSON.iterencode(value):
        told += chunk
        if len(told) > 2 * MAX_CALL_CHARS:
            break
    return told[: 2 * MAX_CALL_CHARS]
