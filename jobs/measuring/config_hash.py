"""A model's configuration as one word: it changes when the architecture does."""

import hashlib
import json
from typing import Any

# Where it was read, by what and how it is to be run: none of it is the model.
NOT_THE_MODEL = ("transformers_version", "_name_or_path", "dtype", "torch_dtype", "_attn_implementation")


def config_hash(config: Any) -> str:
    """SHA-256 of the config's canonical JSON."""
    fields = {name: value for name, value in config.to_dict().items() if name not in NOT_THE_MODEL}
    return hashlib.sha256(json.dumps(fields, sort_keys=True, default=str).encode()).hexdigest()
