"""Prompts of random tokens: the same for every strategy, for warm-up and for measurement."""

import hashlib
from typing import Any

import torch


def ordinary_ids(config: Any) -> torch.Tensor:
    """Token ids that mean nothing special to the model: [n], int64.

    An image's placeholder in a random prompt would ask a multimodal model for the image.
    """
    text = config.get_text_config(decoder=True)
    special = set(_special_ids(config.to_dict()))
    return torch.tensor([token for token in range(text.vocab_size) if token not in special], dtype=torch.long)


def _special_ids(config: Any) -> list[int]:
    found: list[int] = []
    for name, value in config.items():
        if isinstance(value, dict):
            found += _special_ids(value)
        elif str(name).endswith(("_token_id", "_token_index")):
            found += [token for token in (value if isinstance(value, list) else [value]) if isinstance(token, int)]
    return found


def prompt(ids: torch.Tensor, *, sequences: int, tokens: int, seed: int) -> torch.Tensor:
    """[sequences, tokens] drawn from `ids` by the seed alone."""
    generator = torch.Generator().manual_seed(seed)
    return ids[torch.randint(len(ids), (sequences, tokens), generator=generator)]


def fingerprint(prompt_ids: torch.Tensor) -> str:
    """SHA-256 of the ids, so that two measurements can be shown to have had the same prompts."""
    return hashlib.sha256(prompt_ids.cpu().numpy().tobytes()).hexdigest()[:16]
