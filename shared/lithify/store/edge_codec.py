"""Our words in the types of Qdrant Edge, and back."""

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import qdrant_edge as edge

from lithify.store.contract import CollectionSpec, Query
from lithify.store.records import LEXICAL, Hit, Record, SparseVector, Vector
from lithify.store.schema import IndexKind
from lithify.store.scoping import ScopedWhere, add_places, remove_places
from lithify.store.where import AnyOf, Between, Condition, Equals, HasId, Missing, Scalar

# No graphs, neither over all points nor by tenant: see DECISIONS.md, "Edge searches exactly".
_NO_GRAPH: Final = edge.HnswIndexConfig(m=0, payload_m=0, ef_construct=100, full_scan_threshold=10_000)

# Below this many matching points Edge scores the stored lexical vectors one by one instead of walking the postings.
LEXICAL_SCAN_THRESHOLD: Final = 1_000

_INDEX_PARAMS: Final["dict[IndexKind, edge.PayloadSchemaParams]"] = {
    IndexKind.TENANT: edge.KeywordIndexParams(is_tenant=True, enable_hnsw=False),
    IndexKind.PLACE: edge.KeywordIndexParams(enable_hnsw=False),
    IndexKind.KEYWORD: edge.KeywordIndexParams(enable_hnsw=False),
    IndexKind.INTEGER: edge.IntegerIndexParams(lookup=True, range=True, enable_hnsw=False),
    IndexKind.FLOAT: edge.FloatIndexParams(enable_hnsw=False),
    IndexKind.BOOLEAN: edge.BoolIndexParams(enable_hnsw=False),
}


def engine_config(spec: CollectionSpec) -> edge.EdgeConfig:
    dense = {name: edge.EdgeVectorParams(size=n, distance=edge.Distance.Dot) for name, n in spec.lengths.items()}
    lexical = edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf, full_scan_threshold=LEXICAL_SCAN_THRESHOLD)
    # By default the engine reads payloads from the file when somebody asks, and the first question of a user then takes
    # four times as long. The pages stay the system's, which takes them back when memory is short.
    return edge.EdgeConfig(
        vectors=dense,
        sparse_vectors={LEXICAL: lexical},
        hnsw_config=_NO_GRAPH,
        payload_memory=edge.Memory.Cached,
    )


def index_operation(field: str, kind: IndexKind) -> edge.UpdateOperation:
    return edge.UpdateOperation.create_field_index(field, _INDEX_PARAMS[kind])


def engine_filter(where: ScopedWhere) -> edge.Filter:
    return edge.Filter(must=[_condition(c) for c in where.must], must_not=[_condition(c) for c in where.must_not])


def _condition(condition: Condition) -> "edge.ConditionType":
    match condition:
        case Equals(field, value):
            return edge.FieldCondition(field, match=_match(value))
        case AnyOf(field, values):
            return edge.FieldCondition(field, match=edge.MatchAny([*values]))
        case Between(field, lowest, highest):
            return edge.FieldCondition(field, range=edge.RangeFloat(gte=lowest, lte=highest))
        case HasId(ids):
            return edge.HasIdCondition(set(ids))
        case Missing(field):
            return edge.IsEmptyCondition(field)


def _match(value: Scalar) -> edge.MatchValue:
    # The binding reads Python's True as the number 1, which no stored boolean equals; numpy's it reads as a boolean.
    return edge.MatchValue(np.bool_(value) if isinstance(value, bool) else value)  # type: ignore[arg-type] # see above


def engine_point(record: Record) -> edge.Point:
    vectors: dict[str, edge.NamedVector] = {name: vector.tolist() for name, vector in record.vectors.items()}
    if record.lexical is not None and record.lexical.indices:
        vectors[LEXICAL] = _sparse(record.lexical)
    return edge.Point(record.id, vectors, add_places(record))


def engine_vectors(id_: str, tiers: Mapping[str, Vector]) -> edge.PointVectors:
    return edge.PointVectors(id_, {name: vector.tolist() for name, vector in tiers.items()})


def engine_query(query: Query, where: ScopedWhere) -> edge.QueryRequest:
    vector = _sparse(query.vector) if isinstance(query.vector, SparseVector) else query.vector.tolist()
    return edge.QueryRequest(
        limit=query.limit,
        query=edge.Query.Nearest(vector, using=query.using),
        filter=engine_filter(where),
        score_threshold=query.least_score,
        with_payload=True if query.fields is None else list(query.fields),
        with_vector=list(query.with_vectors),
    )


def engine_scroll(where: ScopedWhere, limit: int, after: str | None, names: Sequence[str]) -> edge.ScrollRequest:
    return edge.ScrollRequest(
        offset=after, limit=limit, filter=engine_filter(where), with_payload=True, with_vector=list(names)
    )


def _sparse(vector: SparseVector) -> edge.SparseVector:
    return edge.SparseVector(list(vector.indices), list(vector.values))


def record_of(point: edge.Record | edge.ScoredPoint) -> Record:
    vectors = point.vector  # every reading of it makes a copy
    named = vectors if isinstance(vectors, dict) else {}
    lexical = named.pop(LEXICAL, None)
    return Record(
        id=str(point.id),
        payload=remove_places(point.payload),
        vectors={name: np.asarray(vector, np.float32) for name, vector in named.items()},
        lexical=SparseVector.from_engine(lexical.indices, lexical.values)
        if isinstance(lexical, edge.SparseVector)
        else None,
    )


def hit_of(point: edge.ScoredPoint) -> Hit:
    vectors = point.vector
    named = vectors if isinstance(vectors, dict) else {}
    tiers = {name: np.asarray(vector, np.float32) for name, vector in named.items()}
    return Hit(str(point.id), point.score, remove_places(point.payload), tiers)
