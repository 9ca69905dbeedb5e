"""Reads every record of the store past the product, and checks its vector."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final

import httpx
import numpy as np
import orjson

from lithify.embedding.hash_embedder import HashEmbedder
from lithify.memory.pieces import cut_pieces
from lithify.memory.vectors.tiers import mean_vector
from lithify.store.memory_record import COLLECTION, PIECE
from tests.chaos.ledger import Facts, find_marks, hash_of
from tests.chaos.observation import StoredRecord

PAGE: Final = 500
# Stored vectors are float32.
TOLERANCE: Final = 1e-5
# HashEmbedder has no prefix tiers: the full vector is all there is.
TIER: Final = "l3"
SUMMARY: Final = "summary"


async def read_records(url: str) -> AsyncIterator[StoredRecord]:
    request: dict[str, Any] = {"limit": PAGE, "with_payload": True, "with_vector": [TIER]}
    async with httpx.AsyncClient(base_url=url, timeout=60) as http:
        while True:
            answer = await http.post(f"/collections/{COLLECTION}/points/scroll", json=request)
            page = orjson.loads(answer.raise_for_status().content)["result"]
            for record in make_records(page["points"]):
                yield record
            if page["next_page_offset"] is None:
                return
            request["offset"] = page["next_page_offset"]


def make_records(raw: list[dict[str, Any]]) -> Iterable[StoredRecord]:
    embedder = HashEmbedder()
    for point in raw:
        payload = point["payload"]
        # Only a turn is divided, and the copies of it keep its vectors.
        texts = [payload["text"]] if payload["kind"] in (PIECE, SUMMARY) else cut_pieces(payload["text"])
        stored = np.array(point["vector"].get(TIER, []))
        is_long = len(texts) > 1 and payload["kind"] == "turn"
        yield StoredRecord(
            id=str(point["id"]),
            kind=payload["kind"],
            name=(payload["tenant"], payload.get("event_id") or ""),
            facts=make_facts(payload),
            marks=find_marks(payload["text"]),
            seq=payload.get("seq"),
            vector_fits=fits(stored, embedder, texts),
            piece=payload.get("piece"),
            pieces=tuple(map(hash_of, texts)) if is_long else (),
            active=payload.get("active", True),
            compacted_into=payload.get("compacted_into"),
            source_ids=tuple(payload.get("source_ids", ())),
            mentions=tuple(payload.get("mentions", ())),
        )


def make_facts(payload: Mapping[str, Any]) -> Facts:
    return Facts(
        tenant=payload["tenant"],
        user=payload["user"],
        session=payload.get("session") or "",
        role=payload.get("role") or "",
        text_hash=hash_of(payload["text"]),
        source_ref=payload.get("source_ref"),
    )


def fits(stored: "np.ndarray[Any, Any]", embedder: HashEmbedder, texts: list[str]) -> bool:
    vectors = embedder.embed_documents(texts)
    vector = mean_vector(vectors) if len(texts) > 1 else vectors[0]
    return stored.shape == vector.shape and bool(np.allclose(stored, vector, atol=TOLERANCE)) and bool(stored.any())
