"""Requests drawn from an OpenAPI document: mostly as it wants them, sometimes not at all."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

Schema = Mapping[str, Any]

# Slashes, escapes, separators of our keys, other scripts, lone halves of pairs, numbers too large for anybody.
AWKWARD: Final = ("", " ", "/", "..", "a:b", "{0}", "%00", "\x00", "é", "漢字", "🦓", "\u202e", "0-1-1", "x" * 300)
AWKWARD_NUMBERS: Final = (0, -1, 1, 2**31, 2**53, 2**63, 2**64, 10**400)

plain = st.sampled_from(["ada", "s1", "e1", "The zebra moved to Lisbon in May."])
text = st.one_of(st.sampled_from(AWKWARD), st.text(max_size=20))
number = st.one_of(st.sampled_from(AWKWARD_NUMBERS), st.integers(-10, 10_000))
scalar = st.one_of(st.none(), st.booleans(), number, st.floats(allow_nan=False, allow_infinity=False), text)
anything = st.recursive(
    scalar, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(text, inner, max_size=3)), max_leaves=8
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One request; parameters are text, as they travel."""

    method: str
    path: str
    parameters: Mapping[str, str]
    query: Mapping[str, str]
    body: Any


def samples(document: Schema) -> st.SearchStrategy[Sample]:
    """Requests to all operations of the document, each as likely as the others."""
    return st.one_of(
        [
            operation_samples(Values(document, wild=wild), *operation)
            for operation in operations(document)
            for wild in (False, True)
        ]
    )


def plain_samples(document: Schema, wanted: Collection[tuple[str, str]]) -> st.SearchStrategy[Sample]:
    """Requests to the named operations that keep to the types of the document."""
    values = Values(document, wild=False)
    chosen = [operation for operation in operations(document) if operation[:2] in wanted]
    return st.one_of([operation_samples(values, *operation) for operation in chosen])


def operations(document: Schema) -> Iterator[tuple[str, str, Schema]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def operation_samples(values: "Values", method: str, path: str, operation: Schema) -> st.SearchStrategy[Sample]:
    declared = operation.get("parameters", ())

    def placed(where: str) -> st.SearchStrategy[dict[str, str]]:
        wanted = {p["name"]: values.of(p["schema"]).map(str) for p in declared if p["in"] == where}
        return st.fixed_dictionaries(wanted) if where == "path" else st.fixed_dictionaries({}, optional=wanted)

    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    body = st.none() if content is None else values.of(content["schema"])
    return st.builds(Sample, st.just(method), st.just(path), placed("path"), placed("query"), body)


@dataclass(frozen=True, slots=True)
class Values:
    """Draws values of a schema; wild ones have something else in the place of one in six."""

    document: Schema
    wild: bool

    def of(self, schema: Schema) -> st.SearchStrategy[Any]:
        fitting = self._fitting(schema)
        return st.one_of(*(fitting,) * 5, anything) if self.wild else fitting

    def _fitting(self, schema: Schema) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            named = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            return st.deferred(lambda: self._fitting(named))
        if "anyOf" in schema:
            return st.one_of([self._fitting(option) for option in schema["anyOf"]])
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum") or [schema["const"]])
        return self._of_type(schema, schema.get("type"))

    def _of_type(self, schema: Schema, kind: str | None) -> st.SearchStrategy[Any]:
        low, high = schema.get("minimum"), schema.get("maximum")
        match kind:
            case "object":
                return self._object(schema)
            case "array":
                return st.lists(self.of(schema.get("items", {})), min_size=schema.get("minItems", 0), max_size=3)
            case "string":
                return st.one_of(plain, text) if self.wild else plain
            case "integer":
                return st.integers(low, high)
            case "number":
                return st.floats(low, high, allow_nan=False, allow_infinity=False)
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
        return anything

    def _object(self, schema: Schema) -> st.SearchStrategy[Any]:
        fields = {name: self.of(field) for name, field in schema.get("properties", {}).items()}
        if not fields:
            return st.dictionaries(text, anything, max_size=3)
        required = {name: field for name, field in fields.items() if name in schema.get("required", ())}
        return st.fixed_dictionaries(required, optional={n: f for n, f in fields.items() if n not in required})
