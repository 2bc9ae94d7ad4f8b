from typing import Any

import pytest

from jobs.models import Adoption, Deed, Profile, Run, RunState
from jobs.services.adoption import adoption_adopt, adoption_withdraw, limits_of
from jobs.services.profile import profile_archive
from jobs.sizing.refusal import Refusal
from tests.factories import make_run, make_user

pytestmark = pytest.mark.django_db
HQQ = "quantized:hqq:4"
LIMITS = {
    "default": {"context": 2048},
    HQQ: {"context": 3968},
    "offloaded": {"context": None},
}


@pytest.fixture
def run() -> Run:
    stages = {"limit": {"context": 3968, "strategy": HQQ, "by_strategy": LIMITS}}
    return make_run(state=RunState.DONE, stages=stages, answered=True, limit_context=3968, limit_strategy=HQQ)


def test_the_recommended_limit_needs_no_reason(run: Run) -> None:
    user = make_user("ada")
    adoption = adoption_adopt(run=run, user=user, context=3968)
    assert (adoption.context, adoption.strategy, adoption.reason, adoption.adopted_by) == (3968, HQQ, "", user)
    assert Profile.objects.get().adoption == adoption
    deed = Deed.objects.get(what="adopted")
    assert (deed.who, deed.about, deed.run) == ("ada", "3,968 tokens, quantized 4 bits (hqq)", run)


@pytest.mark.parametrize("other", [{"context": 3000}, {"context": 2048, "strategy": "default"}])
def test_a_lower_limit_or_another_strategy_needs_one(run: Run, other: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match="needs a reason"):
        adoption_adopt(run=run, user=None, **other, reason="  ")
    assert not Adoption.objects.exists()
    adoption = adoption_adopt(run=run, user=None, **other, reason=" room for\n peaks ")
    assert adoption.reason == "room for peaks"
    assert Deed.objects.get(what="adopted").about.endswith(": room for peaks")


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"context": 3969}, "above_limit"),
        ({"context": 2049, "strategy": "default", "reason": "x"}, "above_limit"),
        ({"context": 0, "reason": "x"}, "bad_context"),
        ({"context": -5, "reason": "x"}, "bad_context"),
        ({"context": 100, "strategy": "offloaded", "reason": "x"}, "not_measured"),
        ({"context": 100, "strategy": "magic", "reason": "x"}, "not_measured"),
        ({"context": 3968, "reason": "x" * 501}, "bad_reason"),
    ],
)
def test_nothing_is_adopted_beyond_what_ran(run: Run, given: dict[str, Any], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        adoption_adopt(run=run, user=None, **given)
    assert refused.value.code == code
    assert not Adoption.objects.exists()
    assert not Deed.objects.exists()


@pytest.mark.parametrize("state", [RunState.RUNNING, RunState.DONE])
def test_a_run_without_an_answer_or_that_goes_on_is_not_adopted(run: Run, state: RunState) -> None:
    Run.objects.update(state=state, answered=state == RunState.RUNNING)
    run.refresh_from_db()
    with pytest.raises(Refusal) as refused:
        adoption_adopt(run=run, user=None, context=3968)
    assert refused.value.code == "no_answer"


def test_an_archived_profiles_limit_is_not_adopted(run: Run) -> None:
    profile_archive(profile=run.profile, user=None)
    with pytest.raises(Refusal, match="is archived"):
        adoption_adopt(run=run, user=None, context=3968)


def test_a_later_adoption_takes_the_earlier_ones_place_and_both_are_kept(run: Run) -> None:
    first = adoption_adopt(run=run, user=None, context=3968)
    second = adoption_adopt(run=run, user=None, context=2000, reason="safer")
    first.refresh_from_db()
    assert first.withdrawn_at is not None
    assert second.withdrawn_at is None
    assert Profile.objects.get().adoption == second


def test_what_is_withdrawn_is_not_put_back_by_what_was_before(run: Run) -> None:
    adoption_adopt(run=run, user=None, context=3968)
    second = adoption_adopt(run=run, user=None, context=2000, reason="safer")
    assert adoption_withdraw(adoption=second, user=make_user("bob"))
    assert Profile.objects.get().adoption is None
    assert Deed.objects.get(what="withdrew").about == "2,000 tokens, quantized 4 bits (hqq)"
    assert not adoption_withdraw(adoption=second, user=None)
    assert Deed.objects.filter(what="withdrew").count() == 1


def test_the_strategies_to_adopt_are_those_that_ran() -> None:
    assert limits_of({"limit": {"by_strategy": LIMITS}}) == {"default": 2048, HQQ: 3968}
    assert limits_of({}) == {}
