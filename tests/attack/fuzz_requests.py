"""Requests to every operation of an OpenAPI document: valid, nearly valid and hostile, decided by a seed."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final
from urllib.parse import quote

from tests.attack.fuzz_values import ODD, PLAIN, Schema, Values
from tests.integration.openapi_samples import operations

PARAMETER: Final = re.compile(r"\{(\w+)\}")
JSON: Final = "application/json"
VALID_SHARE, NEAR_SHARE = 0.45, 0.3
EXAMPLE_SHARE: Final = 0.7
# What most hosts do most; among fifty operations they would come too seldom to meet one another.
CENTRAL: Final = ("/v1/turns", "/v1/turns:batch", "/v1/search", "/v1/assemble", "/v1/memories")

TYPES: Final = (
    *("text/plain", "application/xml", "multipart/form-data; boundary=x", "application/json; charset=utf-16"),
    *("application/x-www-form-urlencoded", "text/markdown", "application/jsonx", "*/*", ""),
)
HEADERS: Final = (
    {"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01"},
    {"traceparent": "00-" + "a" * 32 + "-" + "b" * 16 + "-01-" + "c" * 4_000},
    {"traceparent": "nonsense"},
    {"x-lithify-tenant": "other"},
    {"accept": "text/html"},
    {"accept-encoding": "gzip;q=nan"},
    {"content-encoding": "gzip"},
    {"range": "bytes=0-"},
    {"x-forwarded-for": "1.2.3.4", "x-forwarded-proto": "https"},
    {"x-long": "x" * 6_000},
    {"cookie": "a=" + "b" * 3_000},
)
KEYS: Final = ("Bearer", "Basic YWRhOmFkYQ==", "Bearer lf_0000000000000000_x", "bearer " + "k" * 2_000)


@dataclass(frozen=True, slots=True)
class FuzzRequest:
    """One request as it travels. `key` None sends that of the caller, any other text stands in its place."""

    method: str
    target: str
    path: str  # of the document, without values
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    key: str | None = None


class Fuzz:
    """Makes the n-th request of a seed, always the same."""

    def __init__(self, document: Schema, seed: int, left_out: Sequence[tuple[str, str]] = ()) -> None:
        self._document = document
        self._seed = seed
        known = [operation for operation in operations(document) if operation[:2] not in left_out]
        self._operations = [*known, *[operation for operation in known if operation[1] in CENTRAL] * 4]
        self.reached = {operation[:2] for operation in known}

    def make(self, number: int) -> FuzzRequest:
        random = Random(f"{self._seed}/{number}")  # noqa: S311 - repeatable on purpose
        method, path, operation = random.choice(self._operations)
        values = Values(self._document, random)
        mood = random.random()
        is_hostile = mood >= VALID_SHARE + NEAR_SHARE
        is_near = not is_hostile and mood >= VALID_SHARE
        example = make_example(random, path) if random.random() < EXAMPLE_SHARE else None
        content, headers = make_body(values, operation, example, is_near=is_near, is_hostile=is_hostile)
        if random.random() < 0.1:
            headers |= random.choice(HEADERS)
        return FuzzRequest(
            method=method,
            target=make_target(values, path, operation, wild=0.3 if is_near or is_hostile else 0.0),
            path=path,
            content=content,
            headers=headers,
            key=random.choice((*KEYS, "")) if random.random() < 0.05 else None,
        )


def make_target(values: Values, path: str, operation: Schema, wild: float) -> str:
    """Returns path and query; each value is odd with the probability `wild`."""
    random = values.random
    declared = operation.get("parameters", ())

    def choose(schema: Schema) -> str:
        return str(values.odd() if random.random() < wild else values.fitting(schema))

    given = {p["name"]: choose(p["schema"]) for p in declared if p["in"] == "path"}
    filled = PARAMETER.sub(lambda match: escape(given.get(match[1], "x")) or "x", path)
    asked = [p for p in declared if p["in"] == "query" and (p.get("required") or random.random() < 0.5)]
    query = [f"{p['name']}={escape(choose(p['schema']))}" for p in asked]
    if random.random() < wild:
        query.append(random.choice(("tenant=other", "&&", "=", "a", "user=a&user=b", "%zz", "limit=-1", "wait=maybe")))
    return f"{filled}?{'&'.join(query)}" if query else filled


def escape(value: str) -> str:
    return quote(value, safe="", errors="surrogatepass")


def make_example(random: Random, path: str) -> dict[str, Any] | None:
    """Returns what a host would send; a schema does not tell which of its fields go together."""
    user, session = random.choice(("ada", "bob")), random.choice(("s1", "s2"))
    turn = {"event_id": f"e{random.randrange(10**4)}", "user": user, "session": session, "role": "user"}
    said = turn | {"text": f"{random.choice(PLAIN)} {random.randrange(10**6)}"}
    question = {"user": user, "query": random.choice(PLAIN) or "zebra"}
    match path:
        case "/v1/turns":
            return said
        case "/v1/turns:batch":
            return {"turns": [said, said | {"event_id": f"{said['event_id']}b"}]}
        case "/v1/search":
            return question
        case "/v1/assemble":
            return question | {"session": session, "token_budget": random.choice((200, 4_000))}
        case "/v1/memories":
            return {"user": user, "text": said["text"]}
    return None


def make_body(
    values: Values, operation: Schema, example: dict[str, Any] | None, *, is_near: bool, is_hostile: bool
) -> tuple[bytes | None, dict[str, str]]:
    content: Mapping[str, Any] = operation.get("requestBody", {}).get("content", {})
    if not content:
        # A body nobody asked for.
        return (hostile_body(values, b"{}"), {"content-type": JSON}) if is_hostile else (None, {})
    kind = values.random.choice(list(content))
    schema = content[kind].get("schema", {})
    if kind != JSON:
        body = str(values.odd() if is_near else values.fitting(schema)).encode(errors="surrogatepass")
    else:
        fitting = example or values.fitting(schema)
        body = write_json(values.near(fitting, schema) if is_near else fitting)
    if not is_hostile:
        return body, {"content-type": kind}
    wrong = values.random.random() < 0.3
    return hostile_body(values, body), {"content-type": values.random.choice(TYPES) if wrong else kind}


def write_json(value: object) -> bytes:
    """Writes numbers of any length and lone surrogates, too."""
    return json.dumps(value).encode()


def hostile_body(values: Values, body: bytes) -> bytes:
    """Returns what no honest writer of JSON would send."""
    random = values.random
    odd = random.choice(ODD).encode(errors="surrogatepass")
    made = (
        b"",
        body[: len(body) // 2],
        body + body,
        b"\xef\xbb\xbf" + body,
        body.replace(b":", b': NaN, "x":', 1),
        body.replace(b":", b': -Infinity, "x":', 1),
        body.replace(b"{", b'{"user": 1, "user": "ada", "text": "a", "text": "b", ', 1),
        b"[" * 20_000,
        b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
        b"[" + b"[]," * random.choice((10, 20_000)) + b"[]]",
        b'{"user": "' + b"x" * random.choice((5_000, 300_000)) + b'"}',
        b'{"user": ' + b"9" * 5_000 + b"}",
        b'{"user": "ada", "query": "' + b"-" * 30_000 + b'", "text": "' + odd + b'"}',
        b"{" + b",".join(b'"f%d": 1' % n for n in range(random.choice((20, 5_000)))) + b"}",
        bytes(random.randrange(256) for _ in range(200)),
        body.decode(errors="replace").encode("utf-16"),
        b'"' + odd + b'"',
        b"null",
    )
    return random.choice(made)
