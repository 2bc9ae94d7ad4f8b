"""The most that fits, of what never takes less as there is more of it."""

from hypothesis import given
from hypothesis import strategies as st

from jobs.sizing.rising import Rising


@given(
    rises=st.lists(st.integers(0, 10**9), min_size=1, max_size=60),
    limits=st.lists(st.integers(-1, 10**10), min_size=1, max_size=8),
    step=st.integers(1, 5),
)
def test_the_most_within_each_limit_is_what_counting_finds(rises: list[int], limits: list[int], step: int) -> None:
    sizes = [sum(rises[: place + 1]) for place in range(len(rises))]
    search = Rising(lambda count: sizes[count // step - 1], most=len(sizes) * step + step - 1, step=step)
    for limit in limits:
        within = [place + 1 for place, size in enumerate(sizes) if size <= limit]
        assert search.most_within(limit) == (within[-1] * step if within else None)


@given(constant=st.integers(0, 10**10), linear=st.integers(1, 10**6), square=st.integers(0, 100))
def test_a_parabola_of_ten_million_is_searched_in_a_handful_of_steps(constant: int, linear: int, square: int) -> None:
    asked: list[int] = []

    def size(count: int) -> int:
        asked.append(count)
        return constant + linear * count + square * count * count

    found = Rising(size, most=10**7, step=4).most_within(24 * 2**30)
    assert len(asked) <= 16, "halving alone takes 24"
    assert len(asked) == len(set(asked))
    if found is not None and found < 10**7:
        assert size(found) <= 24 * 2**30 < size(found + 4)


def test_a_second_limit_reuses_what_the_first_worked_out() -> None:
    asked: list[int] = []

    def size(count: int) -> int:
        asked.append(count)
        return 7 * count

    search = Rising(size, most=4096)
    assert search.most_within(7000) == 1000
    first = len(asked)
    assert search.most_within(7001) == 1000
    assert search.most_within(7007) == 1001
    assert len(asked) <= first + 2


def test_nothing_fits_where_there_is_nothing_to_count() -> None:
    assert Rising(lambda count: 0, most=3, step=4).most_within(10) is None
