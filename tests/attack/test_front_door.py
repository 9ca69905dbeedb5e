"""What a stranger and a foreign web page get from a node: no memory, no job, no stall."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.attack.conftest import FOREIGN_URL
from tests.integration.node_process import NodeProcess

pytestmark = pytest.mark.attack

PAGES = {
    "rebound name": {"Host": "evil.example:8420", "Origin": "http://evil.example:8420"},
    "name alone": {"Host": "evil.example"},
    "foreign page": {"Origin": "https://evil.example"},
    "other port": {"Origin": "http://127.0.0.1:1"},
    "hidden page": {"Origin": "null"},
    "no origin": {"Sec-Fetch-Site": "cross-site"},
}
PROBES = ("/livez", "/readyz")
BODILESS = ("/v1/maintenance/backfill", "/v1/jobs/x:retry", "/v1/memories/x:expand", "/v1/docs/search/x:replay")
MANY = 300
PATIENCE_S = 20


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory, models_dir: Path) -> Iterator[NodeProcess]:
    """With times short enough to wait for."""
    if FOREIGN_URL:
        pytest.skip("asks for a node without keys")
    times = {"LITHIFY_HEADER_TIMEOUT_S": "1", "LITHIFY_BODY_TIMEOUT_S": "1"}
    node = NodeProcess(tmp_path_factory.mktemp("door") / "data", models_dir, **times)
    node.start()
    yield node
    node.close()


@pytest.mark.parametrize("headers", PAGES.values(), ids=PAGES.keys())
def test_a_foreign_page_reaches_no_route(node: NodeProcess, headers: dict[str, str]) -> None:
    paths = node.http.get("/openapi.json").json()["paths"]
    routes = [(method.upper(), path) for path, methods in paths.items() for method in methods]
    routes += [("GET", path) for path in ("/dashboard", "/dashboard/login", "/docs", "/openapi.json", "/", "/nowhere")]
    routes += [("POST", path) for path in BODILESS] + [("OPTIONS", "/v1/export")]
    for method, path in routes:
        if path not in PROBES:
            assert node.http.request(method, path, headers=headers).status_code == 403, (method, path)
    assert node.http.get("/v1/keys").json() == {"keys": []}
    assert node.http.get("/v1/authored").json()["documents"] == []


def test_a_foreign_page_is_told_nothing_it_could_read(node: NodeProcess) -> None:
    answer = node.http.get("/v1/export", headers=PAGES["foreign page"])
    assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_the_own_pages_and_programs_are_served(node: NodeProcess) -> None:
    port = urlsplit(node.url).port
    for host in (f"localhost:{port}", f"LOCALHOST.:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
        headers = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert node.http.get("/v1/status", headers=headers).status_code == 200, host


def test_probes_answer_to_any_name(node: NodeProcess) -> None:
    for path in PROBES:
        assert node.http.get(path, headers={"Host": "10.0.0.7:8420"}).status_code == 200


@contextmanager
def connection(node: NodeProcess) -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", node.port), PATIENCE_S) as line:
        yield line


def read_all(line: socket.socket) -> bytes:
    """Reads until the other side closes."""
    read = b""
    while part := line.recv(65_536):
        read += part
    return read


def flood(line: socket.socket) -> None:
    for _ in range(100_000):
        line.sendall(b"x" * 100_000)


def test_headers_without_an_end_are_refused(node: NodeProcess) -> None:
    with connection(node) as line:
        line.sendall(b"GET / HTTP/1.1\r\nx: ")
        with pytest.raises(ConnectionError):
            flood(line)
    with connection(node) as line:
        line.sendall(b"GET / HTTP/1.1\r\nx: " + b"x" * 400_000)
        assert read_all(line).startswith(b"HTTP/1.1 431 ")


def test_half_sent_requests_are_not_held(node: NodeProcess) -> None:
    heads = (
        b"GET / HTTP/1.1\r\nhost: local",
        b"POST /v1/turns HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{",
    )
    lines = [socket.create_connection(("127.0.0.1", node.port), PATIENCE_S) for _ in range(MANY)]
    try:
        for number, line in enumerate(lines):
            line.sendall(heads[number % 2])
        assert node.http.get("/v1/status").status_code == 200
        assert {read_all(line)[:13] for line in lines} == {b"HTTP/1.1 408 "}
    finally:
        for line in lines:
            line.close()


def test_json_of_millions_of_parts_is_refused_unparsed(node: NodeProcess) -> None:
    for content in (b"[" + b"[]," * 2_700_000 + b"[]]", b'{"a":' * 1_000 + b"1" + b"}" * 1_000):
        answer = node.http.post("/v1/turns", content=content, headers={"content-type": "application/json"})
        assert answer.status_code in (400, 422), answer.text
        assert len(answer.content) < 16_384
    unknown = b"{" + b",".join(b'"f%d":1' % number for number in range(90_000)) + b"}"
    answer = node.http.post("/v1/turns", content=unknown, headers={"content-type": "application/json"})
    assert (answer.status_code, len(answer.content) < 16_384) == (422, True)


def test_with_keys_a_stranger_is_told_so_before_the_body_and_any_name_is_served(node: NodeProcess) -> None:
    """Last of this module: from here on the node asks for a key."""
    made = node.http.post("/v1/keys", json={"scopes": ["admin"]}).json()["key"]
    for path in ("/v1/turns", "/v1/search", "/v1/import", "/v1/keys"):
        with connection(node) as line:
            head = (
                f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n"
            )
            line.sendall(head.encode())
            assert line.recv(1_000).startswith(b"HTTP/1.1 401 "), path
    headers = {"Host": "lithify.example", "Authorization": f"Bearer {made}"}
    assert httpx.get(f"{node.url}/v1/status", headers=headers).status_code == 200
    assert httpx.get(f"{node.url}/docs", headers={"Host": "lithify.example"}).status_code == 200
