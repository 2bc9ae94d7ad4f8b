"""What the run's page and the command say of a quantized cache's quality."""

from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string

from jobs.management.profile_text import answer_text
from jobs.procedure.quality_text import WHAT_KL_IS
from jobs.web.presenters.changes import ChangeRow, change_rows
from jobs.web.presenters.limits import answer
from jobs.web.presenters.questions import question_words
from tests.procedure.test_quality import world
from tests.procedure.worlds import Answered, answered

FIGURES = "0.060 (0.050 to 0.070) over 256 tokens; same top token 90 %"


@pytest.fixture(scope="module")
def scored() -> Answered:
    return answered(world())


@pytest.fixture(scope="module")
def unscored() -> Answered:
    return answered(world(random_weights=True))


def row(run: Answered, name: str) -> ChangeRow:
    return next(row for row in change_rows(run.stages, max_kl=0.2) if row.name == name)


def test_a_row_has_the_figures_with_interval_and_tokens(scored: Answered) -> None:
    found = row(scored, "quantized:hqq:4")
    assert found.quality == "0.060 (0.050 to 0.070)"
    assert found.quality_notes == ("within the bound of 0.2", "same top token 90 %", "at 1,056 tokens")
    assert found.scored_on == "the last 256 tokens"
    assert row(scored, "static").quality == row(scored, "static").scored_on == ""


def test_a_row_limited_by_quality_says_so(scored: Answered) -> None:
    refused = row(scored, "quantized:quanto:2")
    assert (refused.context, refused.limited_by) == (None, "the bound on quality")
    assert refused.quality == "2.50 (2.49 to 2.51)"
    assert refused.quality_notes[0] == "above the bound of 0.2"
    assert refused.above_bound


def test_the_answer_tells_what_its_quantized_cache_costs(scored: Answered, unscored: Answered) -> None:
    asked = world().asked.as_json()
    measured, provisional = answer(scored.stages, asked), answer(unscored.stages, asked)
    assert measured
    assert measured.quality.startswith("mean KL 0.")
    assert measured.quality.endswith(", within the bound of 0.2")
    assert provisional
    assert provisional.quality == ""


def test_random_weights_are_said_in_the_row_and_at_the_answer(unscored: Answered) -> None:
    assert row(unscored, "quantized:hqq:4").quality == "not measured: random weights"
    found = answer(unscored.stages, world().asked.as_json())
    assert found
    assert found.provisional == (
        "Provisional: what the quantized cache costs in quality was not measured (random weights)."
    )


def test_a_measured_quality_within_the_bound_takes_the_note_away(scored: Answered) -> None:
    found = answer(scored.stages, world().asked.as_json())
    assert found
    assert found.provisional == ""


@pytest.mark.parametrize("explained", ["", WHAT_KL_IS])
def test_the_table_explains_kl_where_it_shows_a_figure(scored: Answered, explained: str) -> None:
    page = SimpleNamespace(
        changes=change_rows(scored.stages), what_kl_is=explained, no_change_needed=False, answer=SimpleNamespace(fits=1)
    )
    html = render_to_string("run/changes.html", {"page": page})
    assert "0.060 (0.050 to 0.070)" in html
    assert ("0 is no difference at all" in html) is bool(explained)


def test_the_question_shows_its_bound() -> None:
    assert question_words(world().asked.as_json()).bounds == "quantized caches within a mean KL of 0.2"


def test_the_command_prints_every_quality_and_what_kl_is(scored: Answered, unscored: Answered) -> None:
    text = answer_text(scored.stages)
    assert f"{FIGURES}, at 1,056 tokens" in text
    assert WHAT_KL_IS in text
    assert "not measured: random weights" in answer_text(unscored.stages)
    assert WHAT_KL_IS not in answer_text(unscored.stages)
