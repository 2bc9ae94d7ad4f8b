from jobs.charts.points import budget_rows
from tests.charts.runs import run_data


def test_the_three_budgets_add_up_to_their_peak() -> None:
    budgets = run_data()["stages"]["budgets"]
    short, measured, longest = budget_rows({"budgets": budgets})
    assert short.peak_bytes == budgets["peak"]["estimated_bytes"]
    assert measured.peak_bytes == budgets["peak"]["measured_bytes"]
    assert longest.peak_bytes == budgets["workload"]["peak_bytes"]


def test_a_row_says_whether_it_was_estimated_or_measured_and_where() -> None:
    rows = budget_rows(run_data()["stages"])
    assert [(row.source, row.context) for row in rows] == [("estimated", 160), ("measured", 160), ("estimated", 1_056)]


def test_what_was_not_measured_is_not_a_row() -> None:
    stages = run_data()["stages"]
    stages["budgets"]["peak"]["measured_bytes"] = None
    assert [row.source for row in budget_rows(stages)] == ["estimated", "estimated"]


def test_before_the_first_stage_there_are_no_rows() -> None:
    assert budget_rows({}) == []
