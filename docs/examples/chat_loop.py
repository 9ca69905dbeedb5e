"""A chat loop with memory: assemble before the model is called, ingest what was said afterwards."""

import os

from lithify.client import Memory

URL = os.environ.get("LITHIFY_URL", "http://127.0.0.1:8420")
KEY = os.environ.get("LITHIFY_API_KEY")


def call_model(system: str, question: str) -> str:
    """Stands for the model of your choice; this one only says how much memory it was given."""
    return f"(a model would answer {question!r} with {len(system)} characters of memory before it)"


def answer(memory: Memory, user: str, session: str, question: str) -> str:
    """Answers one question and remembers both sides of the exchange."""
    context = memory.assemble(user=user, session=session, query=question, token_budget=1000)
    reply = call_model(context.text, question)
    memory.ingest(user=user, session=session, role="user", text=question)
    # `wait` returns when the turn can be recalled, so that the next question may already ask for it.
    memory.ingest(user=user, session=session, role="assistant", text=reply, wait=True)
    return reply


def main() -> None:
    # An outage of the memory must not end the conversation: with `fails_soft` the context is empty instead.
    with Memory(URL, api_key=KEY, fails_soft=True) as memory:
        print(answer(memory, "ada", "monday", "I moved to Lisbon in May. Which tram goes to Belem?"))
        print(answer(memory, "ada", "tuesday", "In which city do I live now?"))
        context = memory.assemble(user="ada", session="wednesday", query="Where does Ada live?", token_budget=500)
        print(context.text)


if __name__ == "__main__":
    main()
