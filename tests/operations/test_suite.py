"""The closing line counts every pytest run."""

from collections import Counter

import pytest

from tests.suite import closing_line, counted


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("12 passed in 3.41s", {"passed": 12}),
        ("1 failed, 12 passed, 2 skipped in 61.20s (0:01:01)", {"failed": 1, "passed": 12, "skipped": 2}),
        (
            "3 passed, 4 deselected, 1 warning, 2 errors in 3.41s",
            {"passed": 3, "deselected": 4, "warning": 1, "error": 2},
        ),
        ("== 12 passed in 3.41s ==", {"passed": 12}),
        ("12 bottles", {}),
    ],
)
def test_a_closing_line_is_read_by_outcome(line: str, counts: dict[str, int]) -> None:
    assert counted(line) == counts


def test_the_closing_line_counts_an_error_as_a_failure() -> None:
    counts = Counter({"passed": 12, "error": 2, "failed": 1, "skipped": 3})
    assert closing_line(counts, 61.2) == "12 passed, 3 failed, 3 skipped in 61.20s"
