from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from jobs.procedure.contexts import grid_to, longest_prompt, short_prompt, step_after, typical_prompt
from tests.procedure.worlds import question

longest_prompts = st.integers(1, 300_000).map(lambda quarter: 4 * quarter)


@settings(deadline=None)
@given(longest_prompts)
def test_every_prompt_is_a_multiple_of_4_and_the_last_is_the_longest(longest: int) -> None:
    grid = grid_to(longest)
    assert all(prompt % 4 == 0 for prompt in grid.prompts)
    assert grid.prompts[-1] == longest
    assert list(grid.prompts) == sorted(set(grid.prompts))


@settings(deadline=None)
@given(longest_prompts)
def test_neighbours_are_no_more_than_one_step_apart(longest: int) -> None:
    prompts = grid_to(longest).prompts
    assert all(after - before <= max(64, before // 100) for before, after in pairwise(prompts))


@settings(deadline=None)
@given(longest_prompts)
def test_the_grid_is_the_same_whatever_the_longest(longest: int) -> None:
    shorter, longer = grid_to(longest).prompts, grid_to(longest + 5_000).prompts
    assert longer[: len(shorter) - 1] == shorter[:-1]


def test_a_step_is_64_tokens_until_one_percent_is_more() -> None:
    assert [step_after(prompt) for prompt in (64, 6_400, 10_000, 100_000)] == [64, 64, 100, 1_000]


def test_the_workloads_longest_is_rounded_up_to_a_multiple_of_4() -> None:
    assert longest_prompt(question(prompt_tokens=1_021), None) == 1_024


def test_it_is_rounded_down_where_the_models_own_maximum_asks_it() -> None:
    assert longest_prompt(question(prompt_tokens=1_001, answer_tokens=23), 1_024) == 1_000


def test_the_short_context_is_an_eighth_within_128_and_2048_tokens() -> None:
    assert [short_prompt(longest) for longest in (64, 200, 1_024, 4_000, 120_000)] == [64, 128, 128, 500, 2_048]


def test_a_typical_prompt_is_never_longer_than_the_longest() -> None:
    assert typical_prompt(question(typical_prompt_tokens=510), 1_024) == 512
    assert typical_prompt(question(typical_prompt_tokens=1_024), 1_000) == 1_000


def test_the_bounds_themselves_are_not_between_them() -> None:
    grid = grid_to(256)
    assert grid.between(64, 192) == (128,)
    assert grid.between(None, 128) == (4, 64)
    assert grid.between(192, None) == (256,)
    assert grid.between(256, None) == ()
