"""The team's own prompts as the model's own tokenizer reads them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from transformers import AutoTokenizer

from jobs.measuring.hub_refusals import hub_refusal
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.load_refusals import REMOTE_CODE_SIGNS, causes_of, first_line
from jobs.measuring.pretrained import place_of, source_of
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

FILES = (
    "tokenizer.json",
    "tokenizer.model",
    "tekken.json",
    "vocab.json",
    "vocab.txt",
    "*.spm",
    "*.model",
    "*.tiktoken",
)
TELL_AFTER_S = 5.0
HINT = "Measure with random tokens, or choose a folder or Hub model that comes with its tokenizer."


def tokenizer_of(spec: ModelSpec) -> Any:
    """The model's tokenizer, from its folder, its GGUF file or the Hub; never its own code.

    Raises Refusal: no_tokenizer, or what keeps the Hub from answering (docs/refusals.md).
    """
    if spec.kind is ModelKind.ARCHITECTURE or not _has_files(spec):
        raise _none(spec, "comes without a tokenizer")
    try:
        tokenizer = AutoTokenizer.from_pretrained(place_of(spec), **source_of(spec), trust_remote_code=False)
    except LIBRARY_ERRORS as error:
        raise hub_refusal(causes_of(error), spec) or _unread(spec, error) from error
    if not len(tokenizer):
        raise _none(spec, "comes with an empty tokenizer")
    return tokenizer


@dataclass(frozen=True, kw_only=True)
class Tokenized:
    """ids: of each text, with nothing before or behind it. lengths: as tokenizer(text) gives them to a user, with what
    it adds of its own accord. tokenizer: its class."""

    ids: list[list[int]]
    lengths: PromptLengths
    tokenizer: str

    @property
    def told(self) -> dict[str, Any]:
        return self.lengths.as_json() | {"tokenizer": self.tokenizer}


def tokenized(spec: ModelSpec, texts: Sequence[str], *, tell: Callable[[str], None]) -> Tokenized:
    """At least one text; raises Refusal as `tokenizer_of` does."""
    tokenizer = tokenizer_of(spec)
    added = len(_ids(tokenizer, texts[0], whole=True)) - len(_ids(tokenizer, texts[0]))
    ids: list[list[int]] = []
    told_at = monotonic()
    for text in texts:
        ids.append(_ids(tokenizer, text))
        if monotonic() - told_at > TELL_AFTER_S:
            told_at = monotonic()
            tell(f"Tokenized {len(ids):,} of {len(texts):,} prompts.")
    lengths = PromptLengths.of([added + len(one) for one in ids])
    return Tokenized(ids=ids, lengths=lengths, tokenizer=type(tokenizer).__name__)


def _ids(tokenizer: Any, text: str, *, whole: bool = False) -> list[int]:
    try:
        return list(tokenizer(text, add_special_tokens=whole)["input_ids"])
    except LIBRARY_ERRORS as error:  # told by its kind: its words might quote the prompt
        raise Refusal(
            "no_tokenizer", f"The model's tokenizer fails on one of the prompts ({type(error).__name__}).", HINT
        ) from None


def _has_files(spec: ModelSpec) -> bool:
    """Of a folder alone: without any of them some classes make an empty tokenizer instead of failing."""
    if spec.kind is not ModelKind.FOLDER or spec.gguf_file:
        return True
    return any(next(Path(spec.path or "").glob(name), None) for name in FILES)


def _none(spec: ModelSpec, what: str) -> Refusal:
    return Refusal("no_tokenizer", f"“{spec.name}” {what}, so nobody can tell how long prompts are for it.", HINT)


def _unread(spec: ModelSpec, error: Exception) -> Refusal:
    text = str(error)
    if any(sign in text for sign in REMOTE_CODE_SIGNS):
        return _none(spec, "has a tokenizer that runs on code of its own, which is not run here")
    return Refusal(
        "no_tokenizer",
        f"The tokenizer of “{spec.name}” cannot be read: {first_line(text) or type(error).__name__}",
        HINT,
    )
