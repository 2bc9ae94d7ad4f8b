"""The prompts that are measured: multiples of 4 tokens, the same for every strategy."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.procedure.question import Question

MULTIPLE_TOKENS = 4  # hqq on axis 1 fails at other prompts for some head counts
STEP_TOKENS = 64
STEP_PART = 100  # a step is 1 % where that is more than STEP_TOKENS
SHORT_PART = 8
SHORT_LEAST_TOKENS = 128
SHORT_MOST_TOKENS = 2048


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Prompts in rising order, at most one step apart; the last is the workload's longest."""

    prompts: tuple[int, ...]

    @property
    def longest(self) -> int:
        return self.prompts[-1]

    def above(self, prompt: int) -> int | None:
        """The next step up, None past the end."""
        place = bisect_right(self.prompts, prompt)
        return self.prompts[place] if place < len(self.prompts) else None

    def between(self, low: int | None, high: int | None) -> tuple[int, ...]:
        """The prompts strictly between two bounds; None leaves that side open."""
        first = 0 if low is None else bisect_right(self.prompts, low)
        end = len(self.prompts) if high is None else bisect_left(self.prompts, high)
        return self.prompts[first:end]


def grid_to(longest: int) -> Grid:
    """`longest` (a multiple of 4) ends the grid, wherever it stands between two steps."""
    return Grid(prompts=(*_prompts_below(longest), longest))


def step_after(prompt: int) -> int:
    """One step of max(64 tokens, 1 %), in multiples of 4."""
    return max(STEP_TOKENS, down(prompt // STEP_PART))


def longest_prompt(question: Question, native_context: int | None) -> int:
    """The workload's longest prompt, up to the next multiple of 4, or down where the model's own maximum asks it."""
    rounded = up(question.prompt_tokens)
    if native_context is not None and rounded + question.answer_tokens > native_context:
        return max(MULTIPLE_TOKENS, down(native_context - question.answer_tokens))
    return rounded


def typical_prompt(question: Question, longest: int) -> int:
    return min(longest, up(question.typical_prompt_tokens))


def short_prompt(longest: int) -> int:
    """An eighth of the longest, within 128 to 2,048 tokens: enough for every cache to hold something of its own."""
    part = down(longest // SHORT_PART)
    return min(longest, max(SHORT_LEAST_TOKENS, min(part, SHORT_MOST_TOKENS)))


def shorter_prompt(grid: Grid, edge: int | None) -> int:
    """The short prompt where the usual one is beyond the estimated edge of memory: about half of what fits."""
    least = min(SHORT_LEAST_TOKENS, grid.longest)
    half = max((prompt for prompt in grid.prompts if edge is not None and 2 * prompt <= edge), default=least)
    return max(half, least)


def down(tokens: int) -> int:
    return tokens - tokens % MULTIPLE_TOKENS


def up(tokens: int) -> int:
    """As it is measured: in multiples of MULTIPLE_TOKENS."""
    return down(tokens + MULTIPLE_TOKENS - 1)


def _prompts_below(longest: int) -> Iterator[int]:
    prompt = MULTIPLE_TOKENS
    while prompt < longest:
        yield prompt
        prompt = STEP_TOKENS if prompt < STEP_TOKENS else prompt + step_after(prompt)
