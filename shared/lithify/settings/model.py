"""The one settings class; each field's description is what the reference table and error messages show."""

import os
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

PREFIX = "LITHIFY_"
PROFILE_SUFFIX = ".toml"
EMBEDDING_ALIASES = {"light": "all-minilm-l6-v2"}
"""Short names of embedding profiles, understood wherever one is named."""

Port = Annotated[int, Field(ge=1, le=65535)]


def resolve_embedding_name(name: str) -> str:
    """Returns the name of the profile that a short name stands for, and any other as it is."""
    return EMBEDDING_ALIASES.get(name, name)


class Settings(BaseSettings):
    """Settings of all Lithify processes; the variable of a field is its name in capitals behind `LITHIFY_`."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, validate_default=True)

    # Where things are
    data_dir: Path = Field(
        Path("~/.local/share/lithify"), description="Folder of the embedded Redis, the vectors and the logs."
    )
    models_dir: Path = Field(Path("~/.cache/lithify/models"), description="Folder of the built embedding models.")
    redis_url: str | None = Field(
        None,
        pattern=r"^(rediss?|unix)://",
        description="Redis to use (redis://, rediss:// or unix://); unset starts the embedded one.",
    )
    qdrant_url: str | None = Field(
        None, pattern=r"^https?://", description="Qdrant server to use (http:// or https://); unset opens Qdrant Edge."
    )
    qdrant_api_key: SecretStr | None = Field(None, description="API key of the Qdrant server.")

    # HTTP
    host: str = Field("127.0.0.1", description="Address to listen on; only loopback is allowed without API keys.")
    port: Port = Field(8420, description="TCP port to listen on, 1 to 65535.")
    url: str = Field(
        "http://127.0.0.1:8420", pattern=r"^https?://", description="Where the command line finds a running service."
    )
    api_key: SecretStr | None = Field(None, description="Key the command line sends along.")
    assembly_url: str | None = Field(
        None,
        pattern=r"^https?://",
        description="Where `lithify serve dashboard` asks about memory: an assembly service, or a proxy before it.",
    )
    max_body_bytes: int = Field(
        8 * 2**20, ge=1024, le=2**30, description="Largest request body in bytes, 1 KiB to 1 GiB; larger is refused."
    )
    max_header_bytes: int = Field(
        32 * 2**10, ge=1024, le=2**20, description="Largest head of a request in bytes, 1 KiB to 1 MiB; larger is 431."
    )
    header_timeout_s: float = Field(
        10.0, gt=0, le=3600, description="Seconds in which the head of a request must have come, else 408."
    )
    body_timeout_s: float = Field(
        30.0, gt=0, le=3600, description="Seconds for the body of a request, and one more for each 16 KiB of it."
    )
    max_connections: int = Field(
        1_000, ge=1, le=1_000_000, description="Connections held at once; one more is 503, after idle ones were closed."
    )
    max_requests: int = Field(
        500, ge=1, le=1_000_000, description="Requests answered at once; one more is 503. Probes are always answered."
    )
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Names, besides loopback ones, by which a service without API keys is reached, as a JSON list."
    )
    trusted_proxies: tuple[str, ...] = Field(
        ("127.0.0.1", "::1"),
        description="Addresses or networks of proxies whose X-Forwarded-Proto and -For are believed, as a JSON list.",
    )
    wait_limit_ms: int = Field(
        10_000, ge=0, le=120_000, description="Longest time `?wait=searchable` may wait, 0 to 120000 ms."
    )

    # Streams
    partitions: int = Field(
        4, ge=1, le=1024, description="Stream partitions, 1 to 1024; fixed for a deployment's life."
    )
    redis_fsync: Literal["everysec", "always"] = Field(
        "everysec",
        description="When the embedded Redis syncs to disk: everysec or always. It bounds what a crash loses.",
    )
    redis_memory_mb: int | None = Field(
        None,
        ge=16,
        le=2**20,
        description="MiB the embedded Redis may fill, 16 to 1048576; "
        "unset takes a quarter of what the machine or container has.",
    )
    receipt_days: int = Field(
        7, ge=1, le=365, description="Days a receipt, and with it deduplication, is kept, 1 to 365."
    )
    tail_turns: int = Field(64, ge=4, le=1024, description="Newest raw turns kept per session in Redis, 4 to 1024.")
    tail_days: int = Field(30, ge=1, le=3650, description="Days an idle session's tail is kept, 1 to 3650.")
    lease_ms: int = Field(
        60_000,
        ge=1_000,
        le=3_600_000,
        description="Time after which an unacknowledged message may be taken over, in ms.",
    )
    max_attempts: int = Field(
        5, ge=1, le=100, description="Deliveries before a message becomes a dead letter, 1 to 100."
    )
    lane_turns: int = Field(
        16,
        ge=0,
        le=4096,
        description="Unread turns of a tenant in a partition, up to 4096, behind which its further ones wait in a lane "
        "of their own while others are served; 0 gives all one lane.",
    )
    dead_letters_kept: int = Field(
        10_000, ge=0, le=10**9, description="Dead letters kept per tenant; beyond that the oldest go. 0 keeps all."
    )
    pressure_age_s: int = Field(
        900, ge=1, le=86_400, description="Age of the oldest unread event above which turns are refused with 429, in s."
    )
    pressure_unread: int = Field(
        200_000, ge=1, le=10**9, description="Number of unread events above which turns are refused with 429."
    )
    pressure_memory: float = Field(
        0.9, gt=0, le=1, description="Share of Redis's maxmemory above which turns are refused with 429, up to 1."
    )
    archive: bool = Field(
        True, description="Whether every event is archived for `rebuild`; with true, an archive worker must be running."
    )
    archive_dir: Path | None = Field(
        None, description="Folder of the archive segments; `archive` in data_dir if unset."
    )

    # Embedding
    embedding_profile: str = Field(
        "snowflake-arctic-embed-s",
        pattern=r"^[\w.-]+$",
        description="Embedding profile: the name of a folder in models_dir, or light for all-minilm-l6-v2; "
        "unset keeps the one that memories there were made with.",
    )
    embedding_variant: Literal["fp32", "int8"] = Field("int8", description="Weights to run: fp32 or int8.")
    embedding_threads: int = Field(0, ge=0, le=256, description="Threads of one embedding call; 0 means all cores.")
    # Small batches stay in the processor's cache: at 8,192 a short text costs 1.8 times as much as at 512.
    embed_batch_tokens: int = Field(
        512, ge=128, le=1_000_000, description="Padded tokens the embedder computes at once, 128 to 1000000."
    )
    embed_batch_turns: int = Field(
        256, ge=1, le=4096, description="Turns an embedding worker takes at once, 1 to 4096."
    )
    embed_slots: int = Field(
        2, ge=1, le=64, description="Batches one process embeds at once, 1 to 64: one is read while one is embedded."
    )
    worker_name: str | None = Field(
        None,
        pattern=r"^[\w.-]+$",
        description="Name of a worker process, stable across its restarts; the host's if unset.",
    )

    # Gating
    gate_evidence: Literal["learned", "gp1", "gp2"] | None = Field(
        None,
        description="What the gate reads a turn by: learned from labelled turns, or pattern set gp1 or gp2; "
        "unset takes the profile's.",
    )
    gate_threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Gating score that makes a turn durable memory, 0 to 1; unset takes the profile's.",
    )
    durable_admission: Literal["gate", "always"] = Field(
        "gate", description="What becomes durable memory: what passes the gate, or always every user turn."
    )
    gate_merge: float | None = Field(
        None,
        gt=0,
        le=1,
        description="Similarity from which a promoted turn joins a memory, up to 1; unset takes the profile's.",
    )

    # Compaction
    compact_tokens: int = Field(
        2_000, ge=0, le=10_000_000, description="Uncompacted tokens of a session that start a compaction; 0 never does."
    )
    compact_idle_minutes: int = Field(
        0, ge=0, le=525_600, description="Minutes after which an idle session is compacted; 0 never does."
    )
    guidance: Literal["on", "off"] = Field(
        "on",
        description="Whether standing instructions of users are kept word for word, and shown, as guidance: on or off.",
    )
    compact_cluster_turns: int | None = Field(
        None, ge=2, le=1_000, description="Turns one summary covers at most, 2 to 1000; unset takes the profile's."
    )
    summariser_dir: Path | None = Field(
        None, description="Folder of a T5-style ONNX export that writes summaries; unset means extractive ones only."
    )
    retention_days: int = Field(
        0, ge=0, le=36_500, description="Days until compacted raw turns are purged, archive included; 0 keeps them."
    )

    # Authored documents
    authored_dir: Path | None = Field(None, description="Folder of Markdown documents to load and watch.")
    authored_core: tuple[str, ...] = Field(
        ("AGENTS.md",), description="Names of the documents whose rules bind every prompt, as a JSON list."
    )
    startup_budget: int | None = Field(
        None, ge=1, le=10_000_000, description="Smallest token budget hosts will ask with; hard rules must fit into it."
    )

    # Docs memory
    docs_roots: dict[str, Path] = Field(
        {}, description="Folders of documents to keep in docs memory, as JSON: a name for each, and where it is."
    )
    docs_include: tuple[str, ...] = Field(
        (), description="Patterns of files that are documents, as a JSON list; empty takes decisions and specs only."
    )
    docs_refresh_minutes: int = Field(
        0, ge=0, le=525_600, description="Minutes between refreshes of docs_roots with their benchmark; 0 never does."
    )
    docs_questions: Path | None = Field(None, description="YAML file of questions by which docs memory is measured.")
    docs_questions_repo: str | None = Field(
        None, pattern=r"^[\w.-]+$", description="The name in docs_roots that the questions are about; all if unset."
    )
    docs_webhook: str | None = Field(
        None, pattern=r"^https?://", description="Address that is told when docs memory has become worse."
    )

    # Retrieval
    retrieval_profile: str = Field(
        "recall",
        pattern=rf"^(recall|seed|.+\{PROFILE_SUFFIX})$",
        description="Retrieval profile: recall, seed, or the path of a .toml file (docs/profiles.md).",
    )
    trace_hours: int = Field(
        24, ge=1, le=8760, description="Hours the receipt of a search or assemble is kept, 1 to 8760."
    )
    trace_limit: int = Field(
        2_000, ge=1, le=10**6, description="Receipts of answers kept for one tenant, 1 to 1000000; older ones go."
    )
    trace_limit_mb: int = Field(
        16, ge=1, le=2**20, description="MiB that the receipts of one tenant may take; older ones go."
    )
    trace_redis_url: str | None = Field(
        None,
        pattern=r"^(rediss?|unix)://",
        description="Redis for receipts of answers, which need no append-only file; unset is redis_url's, "
        "and in a node with its embedded Redis the folder traces of data_dir.",
    )

    search_tiers: Literal["full", "cascade"] | None = Field(
        None,
        description="Search whole vectors at once (full) or calibrated prefixes first (cascade); "
        "unset takes the profile's.",
    )
    assemble_deadline_ms: int = Field(
        2_000,
        ge=10,
        le=120_000,
        description="Time after which a search or assemble goes on without a slow part, in ms.",
    )
    token_counter: Path | None = Field(
        None, description="tokenizer.json that counts tokens exactly; unset uses the estimator."
    )
    check_invariants: bool = Field(
        False, description="Whether every assemble is checked against its promises; for tests and debugging."
    )

    # Access
    rate_limit: int = Field(
        0, ge=0, le=1_000_000, description="Requests per second one API key may make, 0 to 1000000; 0 sets no limit."
    )

    # Operations
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="Least severe log line written."
    )
    log_format: Literal["text", "json"] = Field("text", description="Log lines for people (text) or machines (json).")
    metrics_port: int = Field(
        0,
        ge=0,
        le=65535,
        description="Port on `host` for /metrics, /livez and /readyz without a key, for every process; 0 opens none.",
    )
    crash_at: str | None = Field(None, description="Test aid: exit hard at this named crash point.")

    @field_validator(
        "data_dir", "models_dir", "archive_dir", "summariser_dir", "authored_dir", "docs_questions", "token_counter"
    )
    @classmethod
    def _absolute(cls, value: Path | None) -> Path | None:
        return None if value is None else value.expanduser().absolute()

    @field_validator("embedding_profile")
    @classmethod
    def _resolve_alias(cls, value: str) -> str:
        return resolve_embedding_name(value)

    @field_validator("retrieval_profile")
    @classmethod
    def _absolute_profile(cls, value: str) -> str:
        return str(Path(value).expanduser().absolute()) if value.endswith(PROFILE_SUFFIX) else value

    @property
    def threads(self) -> int:
        """Returns how many threads one call of a model may use: the configured number, or one per core."""
        return self.embedding_threads or os.cpu_count() or 1

    @property
    def archive_folder(self) -> Path:
        return self.archive_dir or self.data_dir / "archive"
