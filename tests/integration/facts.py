"""Things people say to an assistant, and what they ask later: a small recall test of our own."""

import numpy as np
import numpy.typing as npt

from lithify.embedding import Embedder, Vectors
from lithify.memory.vectors.tiers import tier_vector

FACTS = (
    ("Where does my sister live?", "My sister moved to Lisbon in May and takes the tram to work."),
    (
        "What has to go back to the library?",
        "Please remind me on Thursday that the blue folder must be returned to the library.",
    ),
    ("Am I allergic to anything?", "Careful with the recipe, hazelnuts make my throat swell up."),
    (
        "When is the dentist's appointment?",
        "The dentist called, they can see me on the ninth at half past three.",
    ),
    (
        "Which database does the billing service use?",
        "We migrated billing from MySQL to Postgres 16 over the weekend.",
    ),
    ("What is our dog called?", "Biscuit chewed through another lead this morning, that terrier is impossible."),
    (
        "How do I restart the staging server?",
        "If staging hangs, run the restart playbook with the flag --force and wait two minutes.",
    ),
    (
        "What instrument am I learning?",
        "Third cello lesson today, my fingertips hurt but the C major scale sounds almost clean.",
    ),
    (
        "Who is coming for dinner on Saturday?",
        "Saturday evening we host the Okonkwos, five people including their twins.",
    ),
    (
        "Why was the release postponed?",
        "The release slipped a week because the load test showed a memory leak in the image resizer.",
    ),
    ("What colour did we choose for the hallway?", "We finally agreed on sage green paint for the corridor."),
    ("How much did the car repair cost?", "The garage charged 640 euros for the new clutch."),
    (
        "What book did I finish recently?",
        "Finished the Shackleton biography last night, the boat journey chapter kept me awake.",
    ),
    (
        "What is the wifi password at the cabin?",
        "At the cabin the router's key is written under the cuckoo clock: larch-otter-19.",
    ),
    ("Which sport injured my knee?", "I twisted my knee playing squash, so no running until June."),
    ("What degree is my nephew studying?", "Tobias got into the marine biology programme in Bergen."),
)

QUESTIONS = [question for question, _ in FACTS]
STATEMENTS = [statement for _, statement in FACTS]


def embedded(embedder: Embedder) -> tuple[Vectors, Vectors]:
    return embedder.embed_documents(STATEMENTS), np.stack([embedder.embed_query(text) for text in QUESTIONS])


def recall_at(k: int, documents: npt.NDArray[np.floating], queries: npt.NDArray[np.floating], dims: int) -> float:
    """Share of questions whose fact is among the first k, by the vectors' first `dims` components."""
    scores = tier_vector(queries, dims) @ tier_vector(documents, dims).T
    best = np.argsort(-scores, axis=1)[:, :k]
    return float(np.mean([number in row for number, row in enumerate(best)]))
