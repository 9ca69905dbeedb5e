"""One memory, one session, one user: removed everywhere, raw and derived, and verified."""

import os

from lithify.client import Memory, Missing

URL = os.environ.get("LITHIFY_URL", "http://127.0.0.1:8420")
KEY = os.environ.get("LITHIFY_API_KEY")


def main() -> None:
    with Memory(URL, api_key=KEY) as memory:
        note = memory.remember("The door code is 4711.", user="edsger")
        memory.ingest(user="edsger", session="s1", role="user", text="My old address was 12 Oak Street.", wait=True)
        memory.ingest(user="edsger", session="s2", role="user", text="I collect fountain pens.", wait=True)

        # With `wait` the call returns when it is done; the receipt says where it looked and that nothing is left.
        print("memory:", memory.forget(note.id, wait=True)["receipt"]["verified"])
        print("session:", memory.forget_session("s1", user="edsger", wait=True)["receipt"]["verified"])
        print("user:", memory.forget_user("edsger", wait=True)["receipt"]["verified"])

        try:
            memory.read(note.id)
        except Missing:
            print("the note cannot be read any more")
        print("hits left:", len(memory.search("address, pens, door code", user="edsger").hits))


if __name__ == "__main__":
    main()
