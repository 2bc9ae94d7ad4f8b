"""The prompts that are measured: the same for every strategy, for warm-up and for measurement."""

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Protocol

import torch

from jobs.sizing.refusal import Refusal


class Prompts(Protocol):
    """source: what they are made of. file_sha256: of the team's file, None without one."""

    @property
    def source(self) -> str: ...

    @property
    def file_sha256(self) -> str | None: ...

    def ids(self, *, sequences: int, tokens: int, seed: int) -> torch.Tensor:
        """[sequences, tokens], int64, by the seed alone."""
        ...


class RandomPrompts:
    source = "random tokens"
    file_sha256: str | None = None

    def __init__(self, config: Any) -> None:
        self._ids = ordinary_ids(config)

    def ids(self, *, sequences: int, tokens: int, seed: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(seed)
        return self._ids[torch.randint(len(self._ids), (sequences, tokens), generator=generator)]


class TeamPrompts:
    """The team's own: sequence i begins with prompt i of a seeded order, cut at the end, or followed by the next ones,
    round and round, until it has exactly as many tokens as are asked for.
    """

    source = "own prompts"

    def __init__(self, config: Any, tokenized: Sequence[Sequence[int]], *, file_sha256: str) -> None:
        """tokenized: ids of each prompt; those that the model reads as something special are left out.

        Raises Refusal: no_tokenizer, where none is left.
        """
        self.file_sha256 = file_sha256
        ordinary = ordinary_ids(config)
        prompts = [ids[torch.isin(ids, ordinary)] for ids in map(_tensor, tokenized)]
        self._prompts = [ids for ids in prompts if len(ids)]
        if not self._prompts:
            raise Refusal(
                "no_tokenizer",
                "The tokenizer makes none of this model's ordinary tokens of these prompts.",
                "Check that the tokenizer is the model's own, and that the prompts are more than special tokens.",
            )

    def ids(self, *, sequences: int, tokens: int, seed: int) -> torch.Tensor:
        order = torch.randperm(len(self._prompts), generator=torch.Generator().manual_seed(seed)).tolist()
        ordered = [self._prompts[place] for place in order]
        ring = torch.cat(ordered)
        starts = [0, *accumulate(map(len, ordered))]
        places = torch.arange(tokens)
        rows = torch.empty((sequences, tokens), dtype=torch.long)
        for row in range(sequences):
            rows[row] = ring[(starts[row % len(ordered)] + places) % len(ring)]
        return rows


def _tensor(ids: Sequence[int]) -> torch.Tensor:
    return torch.tensor(ids, dtype=torch.long)


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


def fingerprint(prompt_ids: torch.Tensor) -> str:
    """SHA-256 of the ids, so that two measurements can be shown to have had the same prompts."""
    return hashlib.sha256(prompt_ids.cpu().numpy().tobytes()).hexdigest()[:16]
