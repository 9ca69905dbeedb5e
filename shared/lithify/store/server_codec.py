"""Our words in the types of qdrant-client and back, and its errors as ours."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import httpx
import numpy as np
import orjson
from qdrant_client import models
from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from lithify.errors import Doubtful, Invalid, LithifyError, Misconfigured, Unavailable
from lithify.store.contract import CollectionSpec, Query
from lithify.store.records import LEXICAL, Hit, Record, SparseVector, Vector
from lithify.store.schema import IndexKind
from lithify.store.scoping import ScopedWhere, add_places, remove_places
from lithify.store.where import AnyOf, Between, Condition, Equals, HasId, Missing
from lithify.store.writability import is_storage_trouble

# One graph for each tenant and each place, none over all points: nobody searches them all.
GRAPHS: Final = models.HnswConfigDiff(m=0, payload_m=16)
LEXICAL_PARAMS: Final = models.SparseVectorParams(modifier=models.Modifier.IDF)

# A float as JSON text, with its comma: at most 24 characters for a double.
FLOAT_BYTES: Final = 24

IndexParams: TypeAlias = (
    models.KeywordIndexParams | models.IntegerIndexParams | models.FloatIndexParams | models.BoolIndexParams
)


def vector_params(spec: CollectionSpec) -> dict[str, models.VectorParams]:
    return {name: models.VectorParams(size=n, distance=models.Distance.DOT) for name, n in spec.lengths.items()}


def index_params(kind: IndexKind) -> IndexParams:
    """Asks for graphs only where searches are confined.

    A server that does not know `enable_hnsw` (1.16) builds them all.
    """
    keyword = models.KeywordIndexType.KEYWORD
    match kind:
        case IndexKind.TENANT:
            return models.KeywordIndexParams(type=keyword, is_tenant=True)
        case IndexKind.PLACE:
            return models.KeywordIndexParams(type=keyword)
        case IndexKind.KEYWORD:
            return models.KeywordIndexParams(type=keyword, enable_hnsw=False)
        case IndexKind.INTEGER:
            return models.IntegerIndexParams(
                type=models.IntegerIndexType.INTEGER, lookup=True, range=True, enable_hnsw=False
            )
        case IndexKind.FLOAT:
            return models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False)
        case IndexKind.BOOLEAN:
            return models.BoolIndexParams(type=models.BoolIndexType.BOOL, enable_hnsw=False)


def engine_filter(where: ScopedWhere) -> models.Filter:
    return models.Filter(must=[_condition(c) for c in where.must], must_not=[_condition(c) for c in where.must_not])


def _condition(condition: Condition) -> models.Condition:
    match condition:
        case Equals(field, value):
            return models.FieldCondition(key=field, match=models.MatchValue(value=value))
        case AnyOf(field, values):
            return models.FieldCondition(key=field, match=models.MatchAny(any=list(values)))
        case Between(field, lowest, highest):
            return models.FieldCondition(key=field, range=models.Range(gte=lowest, lte=highest))
        case HasId(ids):
            return models.HasIdCondition(has_id=list(ids))
        case Missing(field):
            return models.IsEmptyCondition(is_empty=models.PayloadField(key=field))


def engine_point(record: Record) -> models.PointStruct:
    vectors: dict[str, models.Vector] = {name: vector.tolist() for name, vector in record.vectors.items()}
    if record.lexical is not None and record.lexical.indices:
        vectors[LEXICAL] = _sparse(record.lexical)
    return models.PointStruct(id=record.id, vector=vectors, payload=add_places(record))


def request_bytes(record: Record) -> int:
    """Estimates what a record takes in a request: the server's limit is in bytes."""
    terms = len(record.lexical.indices) if record.lexical else 0
    floats = sum(vector.size for vector in record.vectors.values()) + 2 * terms
    return len(orjson.dumps(record.payload)) + FLOAT_BYTES * floats


def engine_vectors(id_: str, tiers: Mapping[str, Vector]) -> models.PointVectors:
    return models.PointVectors(id=id_, vector={name: vector.tolist() for name, vector in tiers.items()})


def engine_update(where: ScopedWhere, payload: Mapping[str, Any]) -> models.SetPayloadOperation:
    return models.SetPayloadOperation(set_payload=models.SetPayload(payload=dict(payload), filter=engine_filter(where)))


def engine_query(query: Query, where: ScopedWhere) -> models.QueryRequest:
    vector = _sparse(query.vector) if isinstance(query.vector, SparseVector) else query.vector.tolist()
    return models.QueryRequest(
        query=vector,
        using=query.using,
        filter=engine_filter(where),
        limit=query.limit,
        score_threshold=query.least_score,
        with_payload=True if query.fields is None else list(query.fields),
        with_vector=list(query.with_vectors) or False,
    )


def _sparse(vector: SparseVector) -> models.SparseVector:
    return models.SparseVector(indices=list(vector.indices), values=list(vector.values))


def record_of(point: models.Record | models.ScoredPoint) -> Record:
    named: Mapping[str, object] = point.vector if isinstance(point.vector, dict) else {}
    lexical = named.get(LEXICAL)
    return Record(
        id=str(point.id),
        payload=remove_places(point.payload),
        vectors={name: np.asarray(v, np.float32) for name, v in named.items() if name != LEXICAL},
        lexical=SparseVector.from_engine(lexical.indices, lexical.values)
        if isinstance(lexical, models.SparseVector)
        else None,
    )


def hit_of(point: models.ScoredPoint) -> Hit:
    record = record_of(point)
    return Hit(record.id, point.score, record.payload, record.vectors)


# Nobody took the request, whatever is in it.
_NOT_TAKEN: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
_BUSY: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.INSUFFICIENT_STORAGE)


@contextmanager
def server_errors(url: str) -> Iterator[None]:
    """Raises Unavailable, Doubtful, Invalid or Misconfigured for what the client raises; nothing is tried again here.

    Doubtful is a request that was begun and not answered: a server may close the connection on one it finds too large.
    """
    try:
        yield
    except UnexpectedResponse as error:
        raise translate_error(error.status_code, error.content.decode(errors="replace"), url) from error
    except ResourceExhaustedResponse as error:
        raise Unavailable(f"Qdrant at {url} has too much to do: {error}") from error
    except (ResponseHandlingException, httpx.HTTPError) as error:
        cause = error.source if isinstance(error, ResponseHandlingException) else error
        if isinstance(cause, _NOT_TAKEN):
            raise Unavailable(f"Qdrant at {url} cannot be reached: {_describe(cause)}") from error
        raise Doubtful(f"Qdrant at {url} did not answer a request: {_describe(cause)}") from error


def _describe(error: Exception) -> str:
    # Some of the client's errors have no words; the answer they could not read may be one with a user's.
    return type(error).__name__ if isinstance(error, ValueError) else f"{type(error).__name__} {error}".strip()


def translate_error(status: int | None, content: str, url: str) -> LithifyError:
    """Makes our error of an answer.

    A missing collection is an outage too: it was there when the process started, and must not cost an event.
    """
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return Misconfigured(f"Qdrant at {url} refuses the API key; check LITHIFY_QDRANT_API_KEY")
    if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE):
        return Invalid(f"Qdrant at {url} refuses the request: {content}")
    answer = f"Qdrant at {url} answered {status}: {content}"
    if status in (HTTPStatus.NOT_FOUND, *_BUSY) or is_storage_trouble(content):
        return Unavailable(answer)
    return Doubtful(answer)
