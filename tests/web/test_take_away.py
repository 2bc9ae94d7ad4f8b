import csv
import json
from io import StringIO

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from jobs.exports.run_json import run_json
from jobs.models import Profile, Run
from jobs.selectors.run import measurements_of
from jobs.web.presenters.measurements import measurement_rows
from tests.answered import answered_run
from tests.browser import demo
from tests.factories import make_run

FILES = ("run-measurements-csv", "run-measurements-json", "run-json")


@pytest.fixture
def answered(db: None) -> int:
    return answered_run()


def fetched(client: Client, name: str, pk: int) -> HttpResponse:
    answer = client.get(reverse(name, args=[pk]))
    assert answer.status_code == 200
    return answer  # type: ignore[return-value]


def test_the_csv_and_the_json_have_the_rows_of_the_pages_table(signed_in: Client, answered: int) -> None:
    run = Run.objects.get(pk=answered)
    shown = [
        (row.point.strategy, row.point.context, row.point.outcome, row.point.peak_bytes)
        for row in measurement_rows(measurements_of(run), run.stages)
    ]
    text = fetched(signed_in, "run-measurements-csv", answered).content.decode()
    rows = list(csv.DictReader(StringIO(text, newline="")))
    peaks = [int(row["peak_bytes"]) if row["peak_bytes"] else None for row in rows]
    assert [
        (row["strategy"], int(row["context"]), row["outcome"], peak) for row, peak in zip(rows, peaks, strict=True)
    ] == shown
    told = json.loads(fetched(signed_in, "run-measurements-json", answered).content)
    assert [(row["strategy"], row["context"], row["outcome"], row["peak_bytes"]) for row in told] == shown


def test_the_whole_run_is_the_contracts_json(signed_in: Client, answered: int) -> None:
    run = Run.objects.get(pk=answered)
    assert json.loads(fetched(signed_in, "run-json", answered).content) == run_json(run, measurements_of(run))


def test_the_settings_are_a_file_that_transformers_finds_in_a_folder(signed_in: Client, answered: int) -> None:
    answer = fetched(signed_in, "run-generation-config", answered)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="generation_config.json"'
    limit = Run.objects.get(pk=answered).stages["limit"]
    assert json.loads(answer.content) == limit["settings"] | {"transformers_version": "5.24.0"}
    page = signed_in.get(reverse("run", args=[answered])).content.decode()
    assert f"longest_prompt = {limit['prompt']}" in page
    assert "The file cannot hold the longest prompt" in page


@pytest.mark.parametrize(
    ("name", "file_name"),
    [
        ("Nightly summaries", "nightly-summaries-run-{}-measurements.csv"),
        ('a/b"; x=\r\n../c', "ab-x-c-run-{}-measurements.csv"),
        ("長い", "run-{}-measurements.csv"),
    ],
)
def test_a_file_has_a_name_that_any_system_takes(signed_in: Client, answered: int, name: str, file_name: str) -> None:
    Profile.objects.update(name=name)
    answer = fetched(signed_in, "run-measurements-csv", answered)
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{file_name.format(answered)}"'
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"


def test_a_run_without_an_answer_gives_what_it_has_and_no_settings(signed_in: Client) -> None:
    going = demo.begin()
    demo.tell(going, until="measurement")
    assert len(json.loads(fetched(signed_in, "run-measurements-json", going).content)) == 1
    assert signed_in.get(reverse("run-generation-config", args=[going])).status_code == 404
    page = signed_in.get(reverse("run", args=[going])).content.decode()
    assert reverse("run-measurements-csv", args=[going]) in page
    assert "generation_config.json" not in page


def test_where_nothing_fits_there_are_no_settings_to_give(signed_in: Client, answered: int) -> None:
    run = Run.objects.get(pk=answered)
    run.stages["limit"] |= {"context": None, "prompt": None}
    run.save()
    assert signed_in.get(reverse("run-generation-config", args=[answered])).status_code == 404
    assert signed_in.get(reverse("run", args=[answered])).status_code == 200


@pytest.mark.parametrize("name", [*FILES, "run-generation-config"])
def test_a_file_is_read_alone_and_of_a_run_that_there_is(signed_in: Client, name: str) -> None:
    assert signed_in.get(reverse(name, args=[987_654])).status_code == 404
    assert signed_in.post(reverse(name, args=[make_run().pk])).status_code == 405
