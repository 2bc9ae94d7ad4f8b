"""The text that quality is scored on: ordinary English that every Python brings, or the team's own prompts."""

import hashlib
import platform
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import torch


class NoText(Exception):
    """There is none that this model can be scored on; the message says why."""


@dataclass(frozen=True, kw_only=True)
class QualityText:
    """ids: 64-bit, and no tensor, for it is kept between requests. name: what it is, for a person."""

    ids: "array[int]"
    name: str

    def first(self, tokens: int) -> torch.Tensor:
        """[1, tokens], int64"""
        return torch.tensor(self.ids[:tokens], dtype=torch.long)[None]

    def sha256(self, tokens: int) -> str:
        """Of the ids of the first tokens, 8 bytes each."""
        return hashlib.sha256(self.ids[:tokens].tobytes()).hexdigest()


def quality_text(tokenizer: Any, tokens: int, *, seed: int, texts: Sequence[str] = ()) -> QualityText:
    """At least `tokens` of the team's own texts where they have as many, else of Python's own documentation.

    Raises NoText where this Python came without its documentation's topics.
    """
    own = _ids(tokenizer, iter(texts), tokens)
    if len(own) >= tokens:
        return QualityText(ids=own, name="the team's own prompts")
    name = f"the topics of Python {platform.python_version()}'s own help (pydoc_data.topics)"
    return QualityText(ids=_ids(tokenizer, _topics(seed), tokens), name=name)


def _topics(seed: int) -> Iterator[str]:
    """Without end: after the last one, all of them in another order, for a model copies what it has read before."""
    try:
        from pydoc_data.topics import topics
    except ImportError as error:
        raise NoText("this Python came without its documentation's topics (pydoc_data)") from error
    while True:
        names = sorted(topics)
        Random(seed).shuffle(names)  # noqa: S311 (an order, no secret)
        yield from (topics[name] for name in names)
        seed += 1


def _ids(tokenizer: Any, texts: Iterator[str], tokens: int) -> "array[int]":
    """Until there are enough; begun as the tokenizer begins a text."""
    ids = array("q")
    for text in texts:
        added = tokenizer(text.strip() + "\n\n", add_special_tokens=False)["input_ids"]
        ids.extend(added if ids else [*_opening(tokenizer), *added])
        if len(ids) >= tokens:
            break
    return ids


def _opening(tokenizer: Any) -> list[int]:
    """A begin-of-sequence token, where the tokenizer sets one before what it is given."""
    first = tokenizer.bos_token_id
    return [first] if first is not None and tokenizer("a")["input_ids"][:1] == [first] else []
