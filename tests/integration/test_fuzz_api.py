"""Whatever is sent to the HTTP surface, the answer is a success or a problem that names the caller's mistake."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import httpx
import orjson
import pytest
from hypothesis import Phase, example, given, settings

from lithify.access import KeyScope
from tests.integration.openapi_samples import Sample, anything, operations, plain_samples, samples
from tests.integration.whole_app import PARAMETER, ServedApp, whole_app

EXAMPLES = 600
CENTRAL = {("POST", "/v1/turns"), ("POST", "/v1/search"), ("POST", "/v1/assemble")}
# Without shrinking: samples are small, and a smaller one is not worth ten minutes of requests.
QUICK = settings(deadline=None, database=None, phases=(Phase.explicit, Phase.generate))
# What is too large to travel as JSON of ours still travels as a body.
JSON = {"content-type": "application/json"}


TURN = {"event_id": "e1", "user": "ada", "session": "s1", "role": "user", "text": "The zebra moved to Lisbon in May."}


class Fuzzed:
    """The application and its loop, kept between the requests that hypothesis makes one by one."""

    def __init__(self, runner: asyncio.Runner, app: ServedApp) -> None:
        self._runner = runner
        # With a key that may do everything: one that the requests make would lock out those that follow.
        self._http = app.client(runner.run(app.key("acme", KeyScope.ADMIN)))
        self.document = app.app.openapi()

    def send(self, sample: Sample) -> httpx.Response:
        path = PARAMETER.sub(lambda match: encoded(sample.parameters.get(match[1], "")), sample.path)
        query = "&".join(f"{name}={encoded(value)}" for name, value in sample.query.items())
        # A path of dots would be another path.
        url = httpx.URL("http://test", raw_path=f"{path}?{query}".encode())
        content = None if sample.body is None else written(sample.body)
        return self._runner.run(self._http.request(sample.method, url, content=content, headers=JSON))


def encoded(value: str) -> str:
    return quote(value, safe="", errors="surrogatepass")


def written(body: object) -> bytes:
    """Numbers beyond 64 bits and lone surrogates included."""
    return json.dumps(body).encode()


@pytest.fixture
def fuzzed(redis_url: str, tmp_path: Path) -> Iterator[Fuzzed]:
    with asyncio.Runner() as runner:
        context = whole_app(redis_url, tmp_path, wait_limit_ms=20)
        yield Fuzzed(runner, runner.run(context.__aenter__()))
        runner.run(context.__aexit__(None, None, None))


def assert_sane(sample: Sample, answer: httpx.Response) -> None:
    told = f"{sample} -> {answer.status_code} {answer.text[:500]}"
    # A model of hashes is never ready, which /readyz says.
    assert answer.status_code < 500 or sample.path == "/readyz", told
    if answer.is_error and sample.path != "/readyz":
        assert answer.headers["content-type"] == "application/problem+json", told
        problem = orjson.loads(answer.content)
        assert problem["status"] == answer.status_code, told
        assert problem["detail"], told


def test_no_request_makes_the_service_fail(fuzzed: Fuzzed) -> None:
    reached: set[tuple[str, str]] = set()

    def check(sample: Sample) -> None:
        answer = fuzzed.send(sample)
        assert_sane(sample, answer)
        if answer.is_success:
            reached.add((sample.method, sample.path))

    @settings(QUICK, max_examples=EXAMPLES)
    @given(samples(fuzzed.document))
    @example(Sample("POST", "/v1/turns", {}, {}, TURN))
    def probe_all(sample: Sample) -> None:
        check(sample)

    # Among all operations these three come too seldom to be sure that one of their samples is accepted.
    @settings(QUICK, max_examples=EXAMPLES // 3)
    @given(plain_samples(fuzzed.document, CENTRAL))
    def probe_central(sample: Sample) -> None:
        check(sample)

    probe_all()
    probe_central()
    # Else the generator would only prove that validation works.
    assert reached >= CENTRAL


def test_no_body_makes_the_service_fail(fuzzed: Fuzzed) -> None:
    taking = [(method, path) for method, path, operation in operations(fuzzed.document) if "requestBody" in operation]

    @settings(QUICK, max_examples=EXAMPLES // 4)
    @given(anything)
    def probe(body: object) -> None:
        for method, path in taking:
            sample = Sample(method, path, {}, {}, body)
            assert_sane(sample, fuzzed.send(sample))

    probe()
