import csv
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from jobs.models import Profile, Run
from jobs.selectors.run import measurements_of
from jobs.services.answer import answer_settle
from jobs.sizing.units import MIB
from tests.answered import answered_run
from tests.factories import make_entry, make_run


@pytest.fixture
def pair(db: None) -> tuple[int, int]:
    """Two answers to nearly the same question: the second has less memory."""
    return answered_run("Roomy"), answered_run("Tight", capacity_bytes=300 * MIB)


def compared(client: Client, **asked: Any) -> Any:
    answer = client.get(reverse("compare"), asked)
    assert answer.status_code == 200
    return answer


def test_only_what_differs_is_on_top_and_all_else_is_a_click_away(signed_in: Client, pair: tuple[int, int]) -> None:
    answer = compared(signed_in, run=pair)
    page = answer.context["page"]
    assert [row.name for row in page.differing] == ["Capacity"]
    assert [row.values for row in page.differing] == [("340 MiB", "300 MiB")]
    assert {"Model", "Precision", "Longest prompt", "Device", "versions · torch"} <= {row.name for row in page.settings}
    assert page.warnings == ()
    assert 'id="differs"' not in answer.content.decode()


def test_the_same_settings_differ_in_nothing(signed_in: Client, pair: tuple[int, int]) -> None:
    Run.objects.update(question=Run.objects.get(pk=pair[0]).question)
    assert "None: the same question, device and versions." in compared(signed_in, run=pair).content.decode()


def test_other_devices_and_versions_are_named_in_a_warning(signed_in: Client, pair: tuple[int, int]) -> None:
    run = Run.objects.get(pk=pair[1])
    run.device["name"] = "NVIDIA L4"
    run.environment["versions"]["transformers"] = "5.23.0"
    run.save()
    warnings = compared(signed_in, run=pair).context["page"].warnings
    assert "AMD EPYC 9454P (A), NVIDIA L4 (B)" in warnings[0]
    assert "transformers: 5.24.0 (A), 5.23.0 (B)" in warnings[1]
    assert all("not the strategies’ doing" in sentence for sentence in warnings)
    assert len(warnings) == 2


def test_limits_are_aligned_by_strategy_with_what_limits_them(signed_in: Client, pair: tuple[int, int]) -> None:
    rows = {row.label: row.cells for row in compared(signed_in, run=pair).context["page"].limits}
    limits = [Run.objects.get(pk=pk).stages["limit"] for pk in pair]
    for place, limit in enumerate(limits):
        found = limit["by_strategy"]["default"]
        shown = rows["normal cache"][place]
        assert shown.text == (f"{found['context']:,}" if found["context"] else "none")
        assert shown.sub == "device memory"
        assert [label for label, cells in rows.items() if cells[place].is_best] == [limit["label"]]


def test_measurements_are_aligned_and_what_is_missing_is_a_dash(signed_in: Client, pair: tuple[int, int]) -> None:
    rows = compared(signed_in, run=pair).context["page"].measurements
    made = [{(row["strategy"], row["context"]) for row in measurements_of(Run.objects.get(pk=pk))} for pk in pair]
    assert {row.label for row in rows} == {"normal cache", "quantized 4 bits (hqq)"}
    for row in rows:
        strategy = "default" if row.label == "normal cache" else "quantized:hqq:4"
        there = [(strategy, row.context) in one for one in made]
        assert [cell.text != "–" for cell in row.cells] == there
        assert all(cell.sub == "" for cell, measured in zip(row.cells, there, strict=True) if not measured)
    assert any(cell.text == "–" for row in rows for cell in row.cells)


def test_the_address_chooses_the_strategies_of_plots_and_table_alike(signed_in: Client, pair: tuple[int, int]) -> None:
    asked = {"run": pair, "strategy": ["chunked:512", "no such", "default+"]}
    page = compared(signed_in, **asked).context["page"]
    assert {row.label for row in page.measurements} == {"chunked prefill (512)"}
    assert [choice.name for choice in page.choices if choice.is_chosen] == ["chunked:512"]
    drawn = signed_in.get(reverse("compare-figures"), asked).json()
    names = {trace["meta"]["strategy"] for trace in drawn["speed"]["data"]}
    assert names == {"chunked:512"}


def test_each_run_has_one_colour_and_a_letter_and_each_strategy_one_dash(
    signed_in: Client, pair: tuple[int, int]
) -> None:
    drawn = signed_in.get(reverse("compare-figures"), {"run": pair, "strategy": ["default", "quantized:hqq:4"]}).json()
    lines = [trace for trace in drawn["memory"]["data"] if trace["meta"]["role"] == "measured"]
    assert len(lines) == 4
    looks = {(line["name"][0], line["meta"]["strategy"]): line for line in lines}
    for letter, token in (("A", "--run-1"), ("B", "--run-2")):
        mine = [line for (one, _), line in looks.items() if one == letter]
        assert {line["meta"]["token"] for line in mine} == {token}
        assert {line["text"][-1].strip() for line in mine} == {letter}
    for strategy in ("default", "quantized:hqq:4"):
        assert len({line["line"]["dash"] for (_, one), line in looks.items() if one == strategy}) == 1
    assert len({line["line"]["dash"] for line in lines}) == 2


def test_no_figure_is_drawn_that_was_not_measured(signed_in: Client, pair: tuple[int, int]) -> None:
    drawn = signed_in.get(reverse("compare-figures"), {"run": pair}).json()["memory"]["data"]
    made = {
        (letter, row["strategy"], row["context"])
        for letter, pk in zip("AB", pair, strict=True)
        for row in measurements_of(Run.objects.get(pk=pk))
        if row["peak_bytes"] is not None
    }
    points = {
        (line["name"][0], line["meta"]["strategy"], x)
        for line in drawn
        if line["meta"]["role"] == "measured"
        for x in line["x"]
    }
    assert points
    assert points <= made


def test_a_profile_stands_for_its_latest_answer(signed_in: Client, pair: tuple[int, int]) -> None:
    for pk in pair:
        answer_settle(run_id=pk)
    profile = Run.objects.get(pk=pair[1]).profile
    asked = {"run": pair[0], "profile": profile.pk}
    assert [column.run.pk for column in compared(signed_in, **asked).context["page"].columns] == list(pair)
    later = make_run(profile=profile, question=profile.question, stages=Run.objects.get(pk=pair[1]).stages)
    Profile.objects.filter(pk=profile.pk).update(answer_run=later)
    assert compared(signed_in, **asked).context["page"].columns[1].run.pk == later.pk


def test_what_is_not_there_is_named_and_the_others_are_shown(signed_in: Client, pair: tuple[int, int]) -> None:
    empty = make_run().profile
    answer = compared(signed_in, run=[*pair, 987_654, "ten", "9" * 30], profile=[empty.pk, 987_655])
    page = answer.content.decode()
    assert [column.run.pk for column in answer.context["page"].columns] == list(pair)
    for sentence in (
        "There is no run 987654.",
        "“ten” is no run’s number.",
        "There is no profile 987655.",
        f"“{empty.name}” (profile {empty.pk}) has no answer yet.",
    ):
        assert sentence in page


def test_a_run_beside_itself_is_chosen_anew_and_it_says_why(signed_in: Client, pair: tuple[int, int]) -> None:
    told = f"Two of what was chosen are the same run, run {pair[0]}: it is shown once."
    profile = Run.objects.get(pk=pair[0]).profile_id
    for asked in ({"run": [pair[0], pair[0]]}, {"run": pair[0], "profile": profile}):
        page = compared(signed_in, **asked).content.decode()
        assert page.count(told) == 1
        assert f'name="run" value="{pair[0]}" checked' in page
    assert compared(signed_in, run=[9**9, 9**9]).content.decode().count(f"There is no run {9**9}.") == 1
    assert "same run" not in compared(signed_in, run=pair).content.decode()


def test_a_config_hash_is_short_and_only_told_of_one_model(signed_in: Client, pair: tuple[int, int]) -> None:
    run = Run.objects.get(pk=pair[1])
    Run.objects.filter(pk=pair[0]).update(environment=run.environment | {"config_hash": "a" * 64})
    Run.objects.filter(pk=pair[1]).update(environment=run.environment | {"config_hash": "b" * 64})
    differing = {row.name: row.values for row in compared(signed_in, run=pair).context["page"].differing}
    assert differing["config hash"] == ("a" * 12, "b" * 12)
    Run.objects.filter(pk=run.pk).update(model_entry=make_entry("other/model"))
    page = compared(signed_in, run=pair).context["page"]
    assert "Model" in {row.name for row in page.differing}
    assert "config hash" not in {row.name for row in page.settings}


def test_a_run_named_twice_is_shown_once_and_a_seventh_is_left_out(signed_in: Client, pair: tuple[int, int]) -> None:
    others = [make_run().pk for _ in range(5)]
    answer = compared(signed_in, run=[pair[0], pair[0], pair[1], *others])
    assert [column.run.pk for column in answer.context["page"].columns] == [*pair, *others[:4]]
    assert f"Run {others[4]} is left out: at most 6 are compared." in answer.content.decode()


def test_runs_that_have_no_answer_are_compared_in_what_they_have(signed_in: Client, pair: tuple[int, int]) -> None:
    waiting = make_run()
    page = compared(signed_in, run=[pair[0], waiting.pk]).context["page"]
    assert page.columns[1].context == "–"
    assert {cell.text for row in page.limits for cell in row.cells[1:]} == {"–"}
    assert signed_in.get(reverse("compare-figures"), {"run": [pair[0], waiting.pk]}).status_code == 200


def test_fewer_than_two_are_chosen_from_a_list_that_is_searched(signed_in: Client, pair: tuple[int, int]) -> None:
    page = compared(signed_in, run=pair[0]).content.decode()
    assert f'name="run" value="{pair[0]}" checked' in page
    assert f'name="run" value="{pair[1]}">' in page
    searched = compared(signed_in, q="tight")
    assert [row.pk for row in searched.context["rows"]] == [pair[1]]
    assert "Nothing matches" in compared(signed_in, q="\0nowhere").content.decode()
    again = compared(signed_in, run=pair, choose="1")
    assert [row.pk for row in again.context["chosen"]] == list(pair)


def test_the_csv_has_the_tables_rows(signed_in: Client, pair: tuple[int, int]) -> None:
    rows = compared(signed_in, run=pair).context["page"].measurements
    answer = signed_in.get(reverse("compare-csv"), {"run": pair})
    assert f'filename="compared-run-{pair[0]}-run-{pair[1]}.csv"' in answer.headers["Content-Disposition"]
    read = list(csv.DictReader(StringIO(answer.content.decode(), newline="")))
    assert [int(row["context"]) for row in read] == [row.context for row in rows]
    for told, row in zip(read, rows, strict=True):
        for pk, cell in zip(pair, row.cells, strict=True):
            assert (told[f"run {pk} outcome"] == "") == (cell.text == "–")


def test_comparing_six_takes_as_many_queries_as_comparing_two(signed_in: Client, pair: tuple[int, int]) -> None:
    def queries(**asked: Any) -> int:
        with CaptureQueriesContext(
            connection,
        ) as seen:
            compared(signed_in, **asked)
        return len(seen)

    others = [make_run().pk for _ in range(4)]
    assert queries(run=pair) == queries(run=[*pair, *others])
    few = queries()
    Run.objects.filter(pk__in=others).update(answered=True)
    assert queries() == few


@pytest.mark.parametrize("name", ["compare", "compare-figures", "compare-csv"])
def test_nothing_is_posted_there_and_an_empty_address_is_no_fault(signed_in: Client, name: str) -> None:
    assert signed_in.get(reverse(name)).status_code == 200
    assert signed_in.post(reverse(name)).status_code == 405


def test_a_profiles_runs_are_chosen_where_they_are_listed(signed_in: Client, pair: tuple[int, int]) -> None:
    profile = Run.objects.get(pk=pair[0]).profile
    link = reverse("profile", args=[profile.pk])
    assert 'id="compare-runs"' not in signed_in.get(link).content.decode()
    first = Run.objects.get(pk=pair[0])
    again = make_run(
        profile=profile,
        question=profile.question,
        state=first.state,
        stages=first.stages,
        answered=True,
        finished_at=first.finished_at,
    )
    page = signed_in.get(link).content.decode()
    assert f'action="{reverse("compare")}"' in page
    for pk in (pair[0], again.pk):
        assert f'name="run" value="{pk}" form="compare-runs" aria-label="Compare run {pk}"' in page
