import json
from collections.abc import Iterator
from typing import Any

import pytest

from jobs.charts import memory_figure, speed_figure, ttft_figure
from jobs.charts.points import PointRow, point_rows
from jobs.sizing.units import GIB, MIB
from tests.charts.runs import run_data


@pytest.fixture(scope="module")
def data() -> dict[str, Any]:
    """280 MiB: the normal cache runs out of memory."""
    return run_data(min_decode_tokens_per_s=5.0, max_ttft_s=9.0)


def figures(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield memory_figure(**data)
    yield speed_figure(question=data["question"], measurements=data["measurements"])
    yield ttft_figure(question=data["question"], measurements=data["measurements"])


def traces(figure: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [trace for trace in figure["data"] if trace["meta"]["role"] == role]


def drawn(figure: dict[str, Any], role: str) -> set[tuple[str, int, float]]:
    return {
        (trace["meta"]["strategy"], x, y)
        for trace in traces(figure, role)
        for x, y in zip(trace["x"], trace["y"], strict=True)
    }


def test_every_axis_has_a_title_with_its_unit(data: dict[str, Any]) -> None:
    memory, speed, ttft = figures(data)
    for figure in (memory, speed, ttft):
        assert figure["layout"]["xaxis"]["title"]["text"] == "context (prompt + answer), tokens"
    assert memory["layout"]["yaxis"]["title"]["text"] == "peak memory, MiB"
    assert speed["layout"]["yaxis"]["title"]["text"] == "answer speed, tokens/s"
    assert ttft["layout"]["yaxis"]["title"]["text"] == "time to first token, s"


def test_figures_are_plain_data_without_template_title_or_background(data: dict[str, Any]) -> None:
    for figure in figures(data):
        json.dumps(figure)
        assert not {"template", "title"} & set(figure["layout"])
        assert figure["layout"]["paper_bgcolor"] == figure["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"


def test_the_memory_plot_shows_exactly_the_rows_of_the_table(data: dict[str, Any]) -> None:
    rows = [row for row in point_rows(data["measurements"]) if row.ran]
    expected = {(row.strategy, row.context, (row.peak_bytes or 0) / MIB) for row in rows}
    assert drawn(memory_figure(**data), "measured") == expected


@pytest.mark.parametrize(("make", "name"), [(speed_figure, "decode_tokens_per_s"), (ttft_figure, "ttft_s")])
def test_the_speed_plots_show_exactly_the_rows_of_the_table(make: Any, name: str, data: dict[str, Any]) -> None:
    figure = make(question=data["question"], measurements=data["measurements"])
    rows = [row for row in point_rows(data["measurements"]) if row.ran]
    assert drawn(figure, "measured") == {(row.strategy, row.context, getattr(row, name)) for row in rows}


def test_out_of_memory_never_has_a_height_in_bytes(data: dict[str, Any]) -> None:
    figure = memory_figure(**data)
    refused = traces(figure, "out_of_memory")
    missing = {
        (row.strategy, row.context) for row in point_rows(data["measurements"]) if row.outcome == "out_of_memory"
    }
    assert missing
    assert {(strategy, x) for strategy, x, _ in drawn(figure, "out_of_memory")} == missing
    assert all(trace["yaxis"] == "y2" for trace in refused)
    assert all("out of memory" in trace["hovertemplate"] for trace in refused)
    assert figure["layout"]["yaxis"]["domain"][1] < figure["layout"]["yaxis2"]["domain"][0]


def test_a_peak_measured_beyond_the_capacity_is_still_out_of_memory(data: dict[str, Any]) -> None:
    measurements = [
        row | {"peak_bytes": 290 * MIB} if row["outcome"] == "out_of_memory" else row for row in data["measurements"]
    ]
    assert drawn(memory_figure(**data | {"measurements": measurements}), "measured") == drawn(
        memory_figure(**data), "measured"
    )


def test_without_a_refused_point_there_is_no_strip() -> None:
    figure = memory_figure(**run_data(capacity_bytes=GIB))
    assert "yaxis2" not in figure["layout"]


def test_estimates_are_dashed_and_in_their_strategys_colour(data: dict[str, Any]) -> None:
    figure = memory_figure(**data)
    measured = {trace["meta"]["strategy"]: trace for trace in traces(figure, "measured")}
    estimated = traces(figure, "estimated")
    assert {trace["meta"]["strategy"] for trace in estimated} == set(measured)
    for trace in estimated:
        assert trace["line"]["dash"] not in (None, "solid")
        assert trace["line"]["color"] == measured[trace["meta"]["strategy"]]["line"]["color"]
        assert "estimated" in trace["hovertemplate"]


def test_strategies_are_told_apart_without_colour(data: dict[str, Any]) -> None:
    figure = memory_figure(**data)
    symbols = [trace["marker"]["symbol"] for trace in traces(figure, "measured")]
    dashes = [trace["line"]["dash"] for trace in traces(figure, "estimated")]
    assert len(set(symbols)) == len(symbols) > 1
    assert len(set(dashes)) == len(dashes) > 1


def test_a_strategy_looks_the_same_in_every_plot(data: dict[str, Any]) -> None:
    slots = [
        {trace["meta"]["strategy"]: trace["meta"]["slot"] for trace in traces(figure, "measured")}
        for figure in figures(data)
    ]
    assert slots[0] == slots[1] == slots[2]


def test_weights_capacity_and_headroom_are_lines_with_their_names() -> None:
    figure = memory_figure(**run_data(capacity_bytes=320 * MIB, headroom_percent=10))
    heights = {role: traces(figure, role)[0]["y"] for role in ("weights", "capacity", "budget")}
    assert heights == {"weights": [256, 256], "capacity": [320, 320], "budget": [288, 288]}
    assert "capacity less headroom" in traces(figure, "budget")[0]["text"]


def test_a_capacity_far_above_does_not_flatten_the_plot_but_is_said() -> None:
    figure = memory_figure(**run_data(capacity_bytes=24 * GIB))
    assert traces(figure, "capacity") == []
    assert figure["layout"]["yaxis"]["range"][1] < 400
    assert "24 GiB" in figure["layout"]["annotations"][0]["text"]


def test_from_one_gib_on_the_axis_is_in_gib() -> None:
    assert memory_figure(**run_data(capacity_bytes=GIB))["layout"]["yaxis"]["title"]["text"] == "peak memory, GiB"


def test_the_limit_is_marked_where_it_ran(data: dict[str, Any]) -> None:
    limit = data["stages"]["limit"]
    mark = traces(memory_figure(**data), "limit")[0]
    assert (mark["x"], mark["y"]) == ([limit["context"]], [limit["ran_at"]["peak_bytes"] / MIB])


def test_bounds_on_speed_are_lines(data: dict[str, Any]) -> None:
    _, speed, ttft = figures(data)
    assert traces(speed, "bound")[0]["y"] == [5, 5]
    assert traces(ttft, "bound")[0]["y"] == [9, 9]


def test_a_run_that_has_only_begun_has_figures_too() -> None:
    empty = {"question": run_data()["question"], "stages": {}, "measurements": []}
    for figure in figures(empty):
        assert figure["layout"]["xaxis"]["title"]["text"]


def test_a_failed_point_is_shown_as_failed(data: dict[str, Any]) -> None:
    failed = data["measurements"][0] | {
        "strategy": "quantized:quanto:4",
        "outcome": "failed",
        "peak_bytes": None,
        "error": {"code": "strategy_failed", "message": "shift must be specified"},
    }
    figure = memory_figure(**data | {"measurements": [*data["measurements"], failed]})
    assert traces(figure, "failed")[0]["customdata"] == ["shift must be specified"]


def test_rows_stand_in_order_of_strategy_and_context(data: dict[str, Any]) -> None:
    rows: list[PointRow] = point_rows(reversed(data["measurements"]))
    assert rows[0].strategy == "default"
    contexts = [row.context for row in rows if row.strategy == "default"]
    assert contexts == sorted(contexts)
