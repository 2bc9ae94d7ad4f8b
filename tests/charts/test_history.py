from datetime import UTC, datetime

import pytest

from jobs.charts import limit_history_figure, speed_history_figure
from jobs.charts.history import Adopted, HistoryPoint


def point(run: int, context: int | None = 1000, **fields: object) -> HistoryPoint:
    given: dict[str, object] = {
        "run": run,
        "at": datetime(2026, 3, run, tzinfo=UTC),
        "context": context,
        "strategy": "default" if context else "",
        "tokens_per_s": 5.0 if context else None,
        "changed": (),
    }
    return HistoryPoint(**(given | fields))  # type: ignore[arg-type]


POINTS = [
    point(1),
    point(2, 1200, changed=("transformers 5.23.0 → 5.24.0", "torch 2.12.0 → 2.13.0")),
    point(3, None),
    point(4, 900, strategy="quantized:hqq:4", tokens_per_s=2.0),
]


def of(figure: dict, role: str) -> list[dict]:  # type: ignore[type-arg]
    return [trace for trace in figure["data"] if trace["meta"]["role"] == role]


def test_every_answer_is_drawn_in_order_by_its_strategy() -> None:
    figure = limit_history_figure(POINTS)
    assert {trace["name"]: (trace["x"], trace["y"]) for trace in of(figure, "measured")} == {
        "normal cache": ([1, 2], [1000, 1200]),
        "nothing fits": ([3], [0]),
        "quantized 4 bits (hqq)": ([4], [900]),
    }
    assert (of(figure, "course")[0]["x"], of(figure, "course")[0]["y"]) == ([1, 2, 3, 4], [1000, 1200, 0, 900])


def test_what_changed_is_named_where_it_did() -> None:
    for figure in (limit_history_figure(POINTS), speed_history_figure(POINTS)):
        (line,) = of(figure, "change")
        assert line["x"] == [1.5, 1.5]
        assert "transformers 5.23.0 → 5.24.0<br>torch 2.12.0 → 2.13.0" in line["hovertemplate"]
        (name,) = figure["layout"]["annotations"]
        assert name["text"] == "transformers 5.23.0 → 5.24.0 and 1 more"
        assert name["x"] == 1.5


def test_an_answer_without_a_limit_has_no_speed() -> None:
    figure = speed_history_figure(POINTS)
    assert [trace["x"] for trace in of(figure, "measured")] == [[1, 2], [4]]


def test_the_adopted_limit_is_a_line_across() -> None:
    (line,) = of(limit_history_figure(POINTS, Adopted(context=1500, strategy="default")), "adopted")
    assert (line["y"], line["name"]) == ([1500, 1500], "adopted 1,500")
    assert limit_history_figure(POINTS, Adopted(context=1500, strategy="default"))["layout"]["yaxis"]["range"][1] > 1500


@pytest.mark.parametrize("count", [2, 5, 25])
def test_the_latest_is_dated_and_few_dates_are_written(count: int) -> None:
    axis = limit_history_figure([point(number + 1) for number in range(count)])["layout"]["xaxis"]
    assert axis["tickvals"][-1] == count
    assert len(axis["tickvals"]) <= 5
    assert axis["ticktext"][-1].endswith(f"run {count}")
