"""The file that --prompts names: read, counted in the model's tokens, and told to a person."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jobs.procedure.own_prompts import MOST_BYTES, OwnPrompts, read_prompts
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.procedure.question_check import MOST_TOKENS
from jobs.sizing.refusal import Refusal

TOLD_BAD_LINES = 20
UNCOUNTED = PromptLengths(count=1, p50=1, p95=1, longest=MOST_TOKENS)
"""Stands in until the model's tokenizer has counted, so that every other flag is looked at before the model is."""


@dataclass(frozen=True, kw_only=True)
class CountedPrompts:
    own: OwnPrompts
    lengths: PromptLengths = UNCOUNTED

    def as_json(self) -> dict[str, Any]:
        bad_lines = [line.as_json() for line in self.own.bad_lines]
        return self.lengths.as_json() | {"sha256": self.own.sha256, "bad_lines": bad_lines}

    def lines(self) -> Iterator[str]:
        for line in self.own.bad_lines[:TOLD_BAD_LINES]:
            yield f"Line {line.number} of the prompts is not used: {line.reason}."
        more = len(self.own.bad_lines) - TOLD_BAD_LINES
        if more > 0:
            yield f"{more:,} more lines are not used; --json names them all."
        found = self.lengths
        yield (
            f"Own prompts: {found.count:,}, p50 {found.p50:,}, p95 {found.p95:,}, longest {found.longest:,} tokens; "
            f"suggested: --typical-prompt {found.suggested_typical} --prompt {found.suggested_longest}."
        )


def read_prompts_file(name: str) -> OwnPrompts:
    """Raises Refusal: bad_prompts. A pipe is read to its end; one without a writer is empty, and not waited for."""
    try:
        with open(Path(name).expanduser(), "rb", opener=_at_once) as file:
            os.set_blocking(file.fileno(), True)
            return read_prompts(file.read(MOST_BYTES + 1))
    except (OSError, RuntimeError, ValueError) as error:  # no such file; ~ of nobody; a NUL in its name
        why = (error.strerror if isinstance(error, OSError) else None) or "no such file"
        raise Refusal(
            "bad_prompts", f"The file of prompts cannot be read: {why.lower()}.", "Change --prompts."
        ) from error


def _at_once(name: str, flags: int) -> int:
    """Opening a named pipe would else wait for somebody to write to it."""
    return os.open(name, flags | os.O_NONBLOCK)
