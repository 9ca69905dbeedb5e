"""Why an answer looks as it does: every candidate with its score and its fate."""

import os

from lithify.client import Memory

URL = os.environ.get("LITHIFY_URL", "http://127.0.0.1:8420")
KEY = os.environ.get("LITHIFY_API_KEY")

SAID = (
    "The blue glaze ran at 1260 degrees last week and stuck to the shelf.",
    "At 1220 degrees the blue glaze stays where it is.",
    "Our studio is closed on Mondays.",
)


def main() -> None:
    with Memory(URL, api_key=KEY) as memory:
        for text in SAID:
            memory.ingest(user="iris", session="studio", role="user", text=text, wait=True)
        context = memory.assemble(user="iris", session="today", query="How hot do I fire blue glaze?", token_budget=200)
        print(context.text)
        receipt = memory.trace(context.trace_id or "")
        print(f"{context.tokens} tokens; budgets: {receipt['budgets']}")
        for candidate in receipt["considered"]:
            print(f"{candidate.get('score', 0.0):.2f} {candidate['verdict']:<14} {candidate['event_id']}")


if __name__ == "__main__":
    main()
