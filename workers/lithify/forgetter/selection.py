"""Which stored records a target means by itself, before anything is known about what was made from them."""

from lithify.forgetting import Kind, Target
from lithify.store import Where

# Documents are the operator's and are removed by their name; their records call it `source_ref`, too.
AUTHORED = "authored"
SUMMARY = "summary"


def meant_by(target: Target) -> Where:
    """To be used in the target's scope. Durable memories and guidance keep session and source of their turn."""
    match target.kind:
        case Kind.USER:
            return Where().differs("kind", AUTHORED)
        case Kind.SESSION:
            return Where().equals("session", target.name)
        case Kind.SOURCE:
            return Where().equals("source_ref", target.name).differs("kind", AUTHORED)
        case Kind.MEMORY if target.events:
            return Where().any_of("event_id", target.events)
        case Kind.MEMORY:
            return Where().ids([target.name])
