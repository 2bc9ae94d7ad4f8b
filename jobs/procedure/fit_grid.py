"""What fits over numbers of sequences × contexts, for one strategy: everything in it is predicted."""

from collections.abc import Sequence
from dataclasses import dataclass

from jobs.procedure.contexts import MULTIPLE_TOKENS, down
from jobs.procedure.question_check import MOST_SEQUENCES, MOST_TOKENS
from jobs.procedure.what_if import Finished, Fit, fit_of
from jobs.sizing.strategy import Strategy

COLUMNS, ROWS = 24, 8
BEYOND_LONGEST = 4  # times the longest context asked for or measured
SPAN = 64  # from the shortest context to the longest
BEYOND_NATIVE = 1.25  # as far as it is of use to see that there is an end
ROWS_BELOW = 3  # of the run's own number of sequences, where there are so many


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """context in tokens, of each of the sequences; peak_bytes ± band_bytes."""

    context: int
    sequences: int
    peak_bytes: int
    band_bytes: int
    fit: Fit


@dataclass(frozen=True, kw_only=True)
class FitGrid:
    """rows: by number of sequences, each in rising order of context."""

    strategy: Strategy
    contexts: tuple[int, ...]
    sequences: tuple[int, ...]
    rows: tuple[tuple[GridCell, ...], ...]


def fit_grid(finished: Finished, strategy: Strategy, budget_bytes: int) -> FitGrid:
    """budget_bytes: the capacity without its headroom. The same cells whatever the budget."""
    contexts, sequences = grid_contexts(finished), grid_sequences(finished.question.sequences)
    rows = tuple(_row(finished, strategy, contexts, count, budget_bytes) for count in sequences)
    return FitGrid(strategy=strategy, contexts=contexts, sequences=sequences, rows=rows)


def grid_contexts(finished: Finished) -> tuple[int, ...]:
    """In equal ratios, with prompts as they are measured: from a few tokens to well beyond what was asked for and
    measured, or to just beyond what the model reads.
    """
    question, native = finished.question, finished.record.native_context
    longest = max([question.context_tokens, *(m.context for m in finished.measurements)])
    most = min(BEYOND_LONGEST * longest, MOST_TOKENS + question.answer_tokens)
    if native is not None:
        most = max(min(most, int(BEYOND_NATIVE * native)), question.answer_tokens + 2 * MULTIPLE_TOKENS)
    least = max(question.answer_tokens + MULTIPLE_TOKENS, most // SPAN)
    exact = (least * (most / least) ** (place / (COLUMNS - 1)) for place in range(COLUMNS))
    prompts = (max(MULTIPLE_TOKENS, down(int(context) - question.answer_tokens)) for context in exact)
    return tuple(dict.fromkeys(prompt + question.answer_tokens for prompt in prompts))


def grid_sequences(own: int) -> tuple[int, ...]:
    """Powers of two about the run's own number, and that one itself."""
    powers = {2**power for power in range(MOST_SEQUENCES.bit_length()) if 2**power <= MOST_SEQUENCES}
    every = sorted(powers | {own})
    first = max(0, min(every.index(own) - ROWS_BELOW, len(every) - ROWS))
    return tuple(every[first : first + ROWS])


def _row(
    finished: Finished, strategy: Strategy, contexts: Sequence[int], sequences: int, budget_bytes: int
) -> tuple[GridCell, ...]:
    learned, answer = finished.learned(strategy), finished.question.answer_tokens
    cells = []
    for context in contexts:
        peak, band = needed = learned.needs(context - answer, sequences)
        fit = fit_of(finished, context, needed=needed, budget_bytes=budget_bytes)
        cells.append(GridCell(context=context, sequences=sequences, peak_bytes=peak, band_bytes=band, fit=fit))
    return tuple(cells)
