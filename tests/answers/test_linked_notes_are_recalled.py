"""A note that a good match links to ranks by that match, although the search found it by itself as well."""

import pytest

from tests.integration.node_process import NodeProcess

GUIDE = "---\nhop_targets: [harbour.md#000000]\n---\n\nThe blue kiln in the pottery studio is fired to 1220 degrees.\n"
LINKED = "Herons nest behind the old lighthouse in spring.\n"


def test_a_linked_note_keeps_the_larger_score(node: NodeProcess) -> None:
    assert node.http.put("/v1/authored/harbour.md", json={"text": LINKED}).is_success
    assert node.http.put("/v1/authored/kiln.md", json={"text": GUIDE}).is_success
    asked = {
        "user": "ada",
        "session": "s1",
        "query": "How hot is the blue kiln in the pottery studio fired?",
        "token_budget": 2000,
    }
    answer = node.post("/v1/assemble", asked).json()
    rows = {row["id"]: row for row in node.http.get(f"/v1/traces/{answer['trace_id']}").json()["considered"]}
    [linked] = [row for row in rows.values() if row.get("parents")]
    parent = linked["parents"][0]
    assert linked["sigma"] == pytest.approx(0.5 * rows[parent]["score"], abs=1e-6)
    assert linked["injected"]
    assert "Herons nest behind the old lighthouse" in answer["text"]
