"""The code that makes a record, as one word: a record made by other code is made again."""

import hashlib
from functools import cache
from pathlib import Path

JOBS = Path(__file__).parents[1]
MAKERS = "measuring/*.py"
MEANINGS = tuple(f"sizing/{name}.py" for name in ("record", "kv", "layer_bytes", "offloaded", "quantized", "stored"))
"""A pass's working memory is what is left of its peak beside the cache as these reckon it."""


@cache
def inspection_code() -> str:
    """The first 12 hexadecimal digits of a SHA-256 over the files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(found for pattern in (MAKERS, *MEANINGS) for found in JOBS.glob(pattern)):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
