import pytest
from django.test import Client
from django.urls import reverse

from jobs.models import ModelEntry, Run
from jobs.sizing.units import MIB
from tests.browser import demo


def page_of(client: Client, pk: int, **asked: object) -> str:
    answer = client.get(reverse("run-what-if", args=[pk]), asked)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_finished_run_answers_at_once_for_its_own_conditions(signed_in: Client, answered: int) -> None:
    page = page_of(signed_in, answered)
    assert "Only what is marked as measured was measured." in page
    assert "Longest context, predicted" in page
    assert "normal cache" in page
    assert "quantized 4 bits (hqq)" in page


def test_a_strategy_that_could_not_run_is_not_predicted(signed_in: Client, answered: int) -> None:
    assert "offloaded to CPU" not in page_of(signed_in, answered)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"capacity": "64GiB"}, "should fit"),
        ({"capacity": "257MiB"}, "should not fit"),
        ({"sequences": "4"}, "4 at once"),
        ({"headroom_percent": "50", "capacity": "2GiB"}, "1 GiB of 2 GiB"),
        ({"prompt_tokens": "512"}, "tokens of context (prompt + answer)"),
    ],
)
def test_each_condition_can_be_another(signed_in: Client, answered: int, asked: dict[str, str], said: str) -> None:
    assert said in page_of(signed_in, answered, **asked)


def test_a_smaller_capacity_than_the_runs_own_reaches_less(signed_in: Client, answered: int) -> None:
    own = Run.objects.get(pk=answered).stages["budgets"]["capacity_bytes"]
    longest = {}
    for capacity_bytes in (own, own - 20 * MIB):
        answer = signed_in.get(reverse("run-what-if", args=[answered]), {"capacity": f"{capacity_bytes}B"})
        longest[capacity_bytes] = answer.context["answer"].rows[0].longest
    assert longest[own] != longest[own - 20 * MIB]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"capacity": "24GB"}, "GiB"),
        ({"capacity": "lots"}, "24GiB"),
        ({"prompt_tokens": "0"}, "outside of that"),
        ({"sequences": "many"}, "whole number"),
        ({"headroom_percent": "95"}, "Use 0 to 90"),
    ],
)
def test_what_cannot_be_read_is_said_beside_its_field(
    signed_in: Client, answered: int, asked: dict[str, str], said: str
) -> None:
    page = page_of(signed_in, answered, **asked)
    assert said in page
    assert 'aria-invalid="true"' in page
    assert "Nothing is predicted: 1 field needs another value." in page
    assert "Longest context, predicted" not in page


def test_its_conditions_can_be_measured_with_one_click(signed_in: Client, answered: int) -> None:
    asked = signed_in.get(reverse("run-what-if", args=[answered]), {"capacity": "400MiB", "sequences": "2"})
    form = signed_in.get(f"{reverse('profile-new')}?{asked.context['measure_query']}")
    assert (form.context["form"]["capacity"].value(), form.context["form"]["sequences"].value()) == ("400MiB", "2")
    assert [field.name for field in form.context["proposed"]] == ["sequences", "capacity"]
    assert 'but for <a href="#id_sequences">Sequences at once</a>' in form.content.decode()


def test_a_strategy_above_the_bound_on_quality_says_so_whatever_fits(signed_in: Client, answered: int) -> None:
    assert "above the quality bound" not in page_of(signed_in, answered, capacity="64GiB")
    run = Run.objects.get(pk=answered)
    run.question["max_kl"] = 0.2
    scored = next(change for change in run.stages["changes"] if change["strategy"] == "quantized:hqq:4")
    scored["quality"] = {"strategy": "quantized:hqq:4", "context": 1_056, "outcome": "ok", "mean_kl": 0.7}
    run.save()
    assert "above the quality bound of 0.2" in page_of(signed_in, answered, capacity="64GiB")


def test_a_run_that_is_going_cannot_answer_yet(signed_in: Client) -> None:
    page = page_of(signed_in, demo.begin())
    assert "Only a run that is done can answer this" in page


def test_a_model_that_is_read_again_is_waited_for(signed_in: Client, answered: int) -> None:
    ModelEntry.objects.update(record=None, inspected_at=None)
    assert "being read again" in page_of(signed_in, answered)


def test_a_run_page_leads_there_only_when_it_is_done(signed_in: Client, answered: int) -> None:
    link = reverse("run-what-if", args=[answered])
    assert link in signed_in.get(reverse("run", args=[answered])).content.decode()
    going = demo.begin()
    assert "what-if" not in signed_in.get(reverse("run", args=[going])).content.decode()


def test_a_stranger_sees_nothing_and_an_unknown_run_is_not_found(client: Client, answered: int) -> None:
    assert client.get(reverse("run-what-if", args=[answered])).status_code == 302


def test_an_unknown_run_is_not_found(signed_in: Client) -> None:
    assert signed_in.get(reverse("run-what-if", args=[987_654])).status_code == 404
    assert signed_in.post(reverse("run-what-if", args=[987_654])).status_code == 405
