"""The vectors that all clients share, by kind; they lie beside the JavaScript client, which ships them."""

import json
from pathlib import Path

CLIENT = Path(__file__).parents[2] / "clients" / "js"


def vectors(kind):
    listed = json.loads((CLIENT / "vectors.json").read_text(encoding="utf-8"))["vectors"]
    return [vector for vector in listed if vector["kind"] == kind]
