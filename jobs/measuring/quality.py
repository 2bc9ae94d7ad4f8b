"""Scores a quantized cache on a text; the normal cache's distributions are kept on the host for the next strategy."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from statistics import fmean
from time import perf_counter

import torch

from jobs.measuring.cpu_memory import CpuMemory
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.divergence import Divergence, mean_interval
from jobs.measuring.library_errors import LIBRARY_ERRORS
from jobs.measuring.loading import LoadedModel
from jobs.measuring.outcomes import failure_of
from jobs.measuring.own_heap import in_own_heap, tensors_in_the_heap
from jobs.measuring.quality_text import NoText, QualityText, quality_text
from jobs.measuring.teacher_forcing import forced, prompt_tokens
from jobs.measuring.tokenizing import tokenizer_of
from jobs.procedure.measurement import Outcome
from jobs.procedure.quality import Quality, QualityAsk, QualityOutcome
from jobs.sizing.model_spec import ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import BASELINE


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A quality, and whether the process must end after it."""

    quality: Quality
    restart: bool = False


class Scorer:
    """Scores strategies of one loaded model, one after another.

    texts: the team's own prompts. first_use: within it, what stays resident for good (the tokenizer's package, a
    kernel's first shapes) is no leak. The reference is float32 on the host: 4 bytes × scored tokens × vocabulary.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        memory: CpuMemory | CudaMemory,
        spec: ModelSpec,
        *,
        texts: Sequence[str] = (),
        first_use: Callable[[], AbstractContextManager[None]],
    ) -> None:
        self._loaded = loaded
        self._memory = memory
        self._spec = spec
        self._texts = texts
        self._first_use = first_use
        self._scoring = ExitStack()
        self._is_scoring = False
        self._text: tuple[int, QualityText] | None = None
        self._reference: tuple[QualityAsk, list[torch.Tensor]] | None = None

    def forget(self) -> None:
        """Drop the reference and close what the first score opened: a measurement follows."""
        self._reference = None
        if self._is_scoring:
            self._memory.settle()
            self._scoring.close()
            self._is_scoring = False

    def score(self, ask: QualityAsk, *, tell: Callable[[str], None]) -> Scored:
        """A failure of any kind is a quality that says so."""
        started = perf_counter()
        if not self._is_scoring:
            self._scoring.enter_context(self._first_use())
            self._is_scoring = True
        try:
            ids = self._ids(ask)
            with self._memory.kept_from_harm(), tensors_in_the_heap():
                found = in_own_heap(lambda: self._compare(ask, ids, tell))
            scored = Scored(quality=self._quality(ask, found, perf_counter() - started))
        except NoText as error:
            scored = Scored(quality=ask.without_figures(QualityOutcome.NOT_MEASURED, str(error)))
        except Refusal as refusal:
            scored = Scored(quality=ask.without_figures(QualityOutcome.NOT_MEASURED, refusal.message))
        except LIBRARY_ERRORS as error:
            self._reference = None
            scored = _not_scored(ask, error)
        self._memory.settle()
        return scored

    def _ids(self, ask: QualityAsk) -> torch.Tensor:
        """[1, context] on the device."""
        ids = self._text_for(ask).first(ask.context_tokens)
        if int(ids.max()) >= self._loaded.model.config.get_text_config(decoder=True).vocab_size:
            raise NoText("the tokenizer makes tokens that the model does not have: it is another model's")
        return ids.to(self._loaded.device)

    def _text_for(self, ask: QualityAsk) -> QualityText:
        """The tokenizer is read once for a seed and the longest context so far."""
        if self._text is None or self._text[0] != ask.seed or len(self._text[1].ids) < ask.context_tokens:
            self._text = ask.seed, in_own_heap(lambda: self._read(ask))
        return self._text[1]

    def _read(self, ask: QualityAsk) -> QualityText:
        return quality_text(tokenizer_of(self._spec), ask.context_tokens, seed=ask.seed, texts=self._texts)

    def _compare(self, ask: QualityAsk, ids: torch.Tensor, tell: Callable[[str], None]) -> Divergence:
        reference = self._reference_for(ask, ids, tell)
        tell(f"Scoring {ask.strategy.label} on the last {ask.scored_tokens} of {ask.context_tokens:,} tokens of text.")
        found, at = Divergence(), prompt_tokens(ids.shape[1], ask.scored_tokens) + 1
        pieces = forced(self._loaded.model, ask.strategy, ids, scored_tokens=ask.scored_tokens)
        for normal, piece in zip(reference, pieces, strict=True):
            targets = ids[0, at : at + len(piece)].to(piece.device)
            found.add(normal.to(piece.device), piece, targets)
            at += len(piece)
        return found

    def _reference_for(self, ask: QualityAsk, ids: torch.Tensor, tell: Callable[[str], None]) -> list[torch.Tensor]:
        """The normal cache's log-probabilities in the same pieces, on the host; kept until the ask differs."""
        wanted = QualityAsk(
            strategy=BASELINE, context_tokens=ask.context_tokens, scored_tokens=ask.scored_tokens, seed=ask.seed
        )
        if self._reference is None or self._reference[0] != wanted:
            self._reference = None
            tell(f"Reading the text with the normal cache, {ask.context_tokens:,} tokens.")
            pieces = forced(self._loaded.model, BASELINE, ids, scored_tokens=ask.scored_tokens)
            self._reference = wanted, [piece.cpu() for piece in pieces]
        return self._reference[1]

    def _quality(self, ask: QualityAsk, found: Divergence, elapsed_s: float) -> Quality:
        if not found.is_finite:
            return ask.without_figures(QualityOutcome.FAILED, "the probabilities are no numbers (infinite or NaN)")
        low, high = mean_interval(found.kl) or (None, None)
        text = self._text_for(ask)
        return Quality(
            strategy=str(ask.strategy),
            context=ask.context_tokens,
            outcome=QualityOutcome.OK,
            scored_tokens=len(found.kl),
            mean_kl=fmean(found.kl),
            kl_low=None if low is None else max(0.0, low),
            kl_high=high,
            same_top=fmean(found.same_top),
            loss_difference=fmean(found.loss_difference),
            elapsed_s=elapsed_s,
            text=text.name,
            text_sha256=text.sha256(ask.context_tokens),
        )


def _not_scored(ask: QualityAsk, error: Exception) -> Scored:
    """As plain data: an exception kept would keep the tensors of its frames."""
    failure = failure_of(error, strategy=ask.strategy, capacity_bytes=0, limited=False)
    if failure.outcome is Outcome.OUT_OF_MEMORY:
        message = f"comparing it with the normal cache at {ask.context_tokens:,} tokens needs more memory than there is"
        return Scored(quality=ask.without_figures(QualityOutcome.OUT_OF_MEMORY, message), restart=failure.restart)
    return Scored(quality=ask.without_figures(QualityOutcome.FAILED, failure.message), restart=failure.restart)
