"""The settings about to be deployed against what was measured: each verdict for its own reason."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.procedure.deploy import check_deploy
from jobs.procedure.deploy_verdict import EXIT_CODES, Adopted, Checked, Measured, Verdict
from jobs.procedure.deployed import read_deployed
from jobs.procedure.snippet import generate_settings
from jobs.sizing.refusal import Refusal
from jobs.sizing.strategy import Strategy

COMMIT = "1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d"
QUESTION = {"model": "org/small", "dtype": "bfloat16", "attention": "sdpa", "sequences": 4, "device": "cuda:0"}
MEASURED = Measured(
    model=("org/small",),
    revision="",
    question=QUESTION,
    environment={
        "transformers": "5.24.0",
        "torch": "2.13.0",
        "hqq": "0.2.8",
        "driver": "570.1",
        "model_revision": COMMIT,
    },
    device_name="NVIDIA L4",
    limits={"default": 4096, "quantized:hqq:4": 8192, "static": None, "chunked:512": 6000},
    provisional=frozenset({"quantized:hqq:4"}),
)
SETTINGS: dict[str, Any] = {
    "model": "org/small",
    "revision": COMMIT,
    "dtype": "bfloat16",
    "max_context": 4096,
    "sequences": 4,
    "strategy": "default",
    "attention": "sdpa",
    "weights": "as-stored",
    "device": "NVIDIA L4",
    "versions": {"transformers": "5.24.0", "torch": "2.13.0", "hqq": "0.2.8", "driver": "570.1"},
}


def check(measured: Measured | None = MEASURED, **changes: Any) -> Checked:
    return check_deploy(read_deployed(SETTINGS | changes), measured)


def quantized(**options: Any) -> dict[str, Any]:
    settings = generate_settings(Strategy.parse("quantized:hqq:4"), 1)
    cache = {"cache_implementation": "quantized", "cache_config": settings["cache_config"] | options}
    return {"strategy": None, "cache": cache}


def test_what_was_measured_is_ok() -> None:
    checked = check()
    assert (checked.verdict, checked.reasons, checked.in_doubt, checked.not_told) == (Verdict.OK, (), (), ())
    assert (
        checked.message == "Ok: 4,096 tokens with the normal cache are within the 4,096 tokens measured on NVIDIA L4."
    )
    assert EXIT_CODES == {Verdict.OK: 0, Verdict.STALE: 3, Verdict.NOT_COVERED: 4}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"model": "org/other"}, "model"),
        ({"max_context": 4097}, "max_context"),
        ({"sequences": 5}, "sequences"),
        ({"dtype": "float16"}, "dtype"),
        ({"attention": "eager"}, "attention"),
        ({"weights": "bnb4"}, "weights"),
        ({"device": "NVIDIA T4"}, "device"),
        ({"strategy": "offloaded"}, "strategy"),
        ({"strategy": "static", "max_context": 1}, "max_context"),
        ({"strategy": None, "cache_implementation": "hybrid"}, "strategy"),
        (quantized(axis_key=0), "cache_config.axis_key"),
        (quantized(residual_length=64), "cache_config.residual_length"),
        (quantized(nbits=3), "strategy"),
        (
            {"strategy": None, "cache_implementation": "quantized", "cache_config": {"backend": "hqq"}},
            "cache_config.axis_key",
        ),
        ({"strategy": None, "prefill_chunk_size": 256}, "strategy"),
    ],
)
def test_beyond_what_was_measured_or_never_measured_is_not_covered(changes: dict[str, Any], what: str) -> None:
    checked = check(**changes)
    assert checked.verdict is Verdict.NOT_COVERED
    assert checked.reasons[0].what == what
    assert checked.message == " ".join(["Not covered.", *(reason.sentence for reason in checked.reasons)])


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"revision": "f" * 40}, "revision"),
        ({"revision": "v2"}, "revision"),
        ({"versions": {"transformers": "5.25.0"}}, "transformers"),
        ({"versions": {"transformers": "6.0.0"}}, "transformers"),
        (quantized() | {"versions": {"hqq": "0.3.0"}}, "hqq"),
    ],
)
def test_measured_and_otherwise_since_is_stale(changes: dict[str, Any], what: str) -> None:
    checked = check(**changes)
    assert (checked.verdict, [reason.what for reason in checked.reasons]) == (Verdict.STALE, [what])
    assert what in checked.message


@pytest.mark.parametrize(
    "changes",
    [
        {"max_context": 12, "sequences": 1},
        {"device": "nvidia  l4"},
        {"device": "cuda:0"},
        {"dtype": "torch.bfloat16"},
        {"revision": COMMIT[:7].upper()},
        {"revision": "main"},
        {"revision": None, "model": f"org/small@{COMMIT}"},
        {"versions": {"hqq": "9.9"}},
        {"strategy": None, "cache_implementation": "dynamic", "cache_config": None},
        {"strategy": None, "prefill_chunk_size": 512},
        quantized() | {"max_context": 8192},
        {"strategy": "quantized:hqq:4", "max_context": 8192},
    ],
)
def test_fewer_tokens_and_the_same_in_other_words_are_ok(changes: dict[str, Any]) -> None:
    assert check(**changes).verdict is Verdict.OK


def test_a_patch_release_and_a_driver_leave_it_in_doubt_and_ok() -> None:
    checked = check(versions={"transformers": "5.24.1", "driver": "575.0"})
    assert (checked.verdict, checked.reasons) == (Verdict.OK, ())
    assert {reason.what for reason in checked.in_doubt} == {"transformers", "driver"}


def test_not_covered_wins_over_stale() -> None:
    checked = check(max_context=5000, versions={"transformers": "5.25.0"})
    assert checked.verdict is Verdict.NOT_COVERED
    assert [reason.what for reason in checked.reasons] == ["max_context", "transformers"]
    assert "transformers" not in checked.message


def test_without_an_answer_nothing_is_covered() -> None:
    assert (check(None).verdict, check(None).limit_context) == (Verdict.NOT_COVERED, None)


QUANTO = "quantized:quanto:4"
TEAM = replace(
    MEASURED, limits={"default": 800, QUANTO: 1056, "static": None}, adopted=Adopted(strategy=QUANTO, context=1000)
)
TEAM_NOTE = "The team adopted quantized 4 bits (quanto) up to 1,000 tokens."


def test_another_strategy_than_the_adopted_is_covered_up_to_what_was_measured_with_it() -> None:
    checked = check(TEAM, max_context=700)
    assert (checked.verdict, checked.reasons, checked.limit_context) == (Verdict.OK, (), 800)
    assert checked.note == TEAM_NOTE
    within = "Ok: 700 tokens with the normal cache are within the 800 tokens measured on NVIDIA L4."
    assert checked.message == f"{within} {TEAM_NOTE}"
    assert check(TEAM, max_context=800).verdict is Verdict.OK
    over = check(TEAM, max_context=801)
    assert (over.verdict, over.limit_context) == (Verdict.NOT_COVERED, 800)
    more = "801 tokens with the normal cache are more than the 800 that were measured."
    assert over.message == f"Not covered. {more} {TEAM_NOTE}"
    assert check(TEAM, max_context=700, sequences=5).reasons[0].what == "sequences"


def test_the_adopted_strategy_is_covered_up_to_what_the_team_adopted() -> None:
    checked = check(TEAM, strategy=QUANTO, max_context=1000)
    assert (checked.verdict, checked.note, checked.limit_context) == (Verdict.OK, "", 1000)
    assert "within the 1,000 tokens adopted on NVIDIA L4." in checked.message
    over = check(TEAM, strategy=QUANTO, max_context=1056)
    assert over.verdict is Verdict.NOT_COVERED
    assert over.message == (
        "Not covered. The team adopted at most 1,000 tokens with quantized 4 bits (quanto); 1,056 was measured."
    )
    assert over.reasons[0].as_json() == {
        "what": "max_context",
        "deployed": "1,056 tokens",
        "measured": "at most 1,056 tokens",
        "verdict": "not_covered",
        "sentence": "The team adopted at most 1,000 tokens with quantized 4 bits (quanto); 1,056 was measured.",
    }
    assert check(TEAM, strategy=QUANTO, max_context=1057).reasons[0].sentence == (
        "1,057 tokens with quantized 4 bits (quanto) are more than the 1,056 that were measured. "
        "The team adopted at most 1,000."
    )


def test_a_strategy_that_never_was_measured_is_said_to_be_so_by_its_name_on_pages() -> None:
    (reason,) = check(TEAM, strategy="offloaded", max_context=8).reasons
    assert (reason.deployed, reason.measured) == ("offloaded", f"default, {QUANTO}, static")
    assert reason.sentence == (
        "Nothing was measured with offloaded to CPU. "
        "Strategies that were: the normal cache; quantized 4 bits (quanto); static."
    )
    assert check(TEAM, strategy="static", max_context=8).reasons[0].sentence == (
        "No context that was measured fits with static."
    )


def test_json_has_each_strategys_limit_and_what_was_adopted() -> None:
    answer = check(TEAM, max_context=700).as_json()
    assert answer["limit"] == {"strategy": "default", "context": 800}
    assert answer["by_strategy"] == {"default": 800, QUANTO: 1056, "static": None}
    assert (answer["adopted"], answer["note"]) == ({"strategy": QUANTO, "context": 1000}, TEAM_NOTE)
    assert (check(max_context=700).as_json()["adopted"], check(max_context=700).note) == (None, "")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"model": "org/other"}, "The model org/other was not measured in this profile; org/small was."),
        ({"dtype": "float16"}, "The precision is to be float16; bfloat16 was measured."),
        ({"weights": "bnb4"}, "The weights are to be 4 bits (bitsandbytes); they were measured as stored."),
        ({"sequences": 5}, "5 sequences are to run at once; at most 4 were measured."),
        ({"versions": {"transformers": "5.25.0"}}, "transformers is to be 5.25.0; 5.24.0 was measured."),
    ],
)
def test_a_reason_is_a_whole_sentence(changes: dict[str, Any], sentence: str) -> None:
    assert [reason.sentence for reason in check(**changes).reasons] == [sentence]


def test_what_is_in_doubt_has_a_weight_and_no_verdict() -> None:
    (doubt,) = check(versions={"driver": "575.0"}).as_json()["in_doubt"]
    assert doubt == {
        "what": "driver",
        "deployed": "575.0",
        "measured": "570.1",
        "weight": "doubt",
        "sentence": "driver is to be 575.0; 570.1 was measured.",
    }


@pytest.mark.parametrize(
    ("measured", "deployed", "doubted"),
    [
        ("2.13.0+cpu", "2.13.0", False),
        ("2.13.0", "2.13.0+cu126", False),
        ("2.13.0+cpu", "2.13.0+cu126", True),
        ("2.13.0+cpu", "2.13.1", True),
    ],
)
def test_a_builds_local_label_counts_where_both_have_one(measured: str, deployed: str, doubted: bool) -> None:
    was = replace(MEASURED, environment={**MEASURED.environment, "torch": measured})
    assert bool(check(was, versions={"torch": deployed}).in_doubt) is doubted


def test_what_is_left_open_is_said() -> None:
    checked = check_deploy(read_deployed({"model": "org/small", "max_context": 8}), MEASURED)
    assert checked.verdict is Verdict.OK
    named = ("revision", "dtype", "sequences", "attention", "weights", "device", "cache")
    assert checked.not_told == (*named, *(f"versions.{name}" for name in ("transformers", "torch", "driver")))
    quantized_too = {"model": "org/small", "max_context": 8, "strategy": "quantized:hqq:4"}
    assert "versions.hqq" in check_deploy(read_deployed(quantized_too), MEASURED).not_told
    local = replace(MEASURED, environment={})
    assert "revision" not in check_deploy(read_deployed({"model": "org/small", "max_context": 8}), local).not_told


def test_quality_that_was_not_measured_is_said() -> None:
    assert "quality was not measured" in check(strategy="quantized:hqq:4").message


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ([], "object"),
        ({}, "model"),
        ({"model": "a"}, "max_context"),
        (SETTINGS | {"max_contxt": 1}, "max_contxt"),
        (SETTINGS | {"max_context": "4096"}, "max_context"),
        (SETTINGS | {"max_context": True}, "max_context"),
        (SETTINGS | {"max_context": 10**30}, "max_context"),
        (SETTINGS | {"sequences": 0}, "sequences"),
        (SETTINGS | {"dtype": "int8"}, "dtype"),
        (SETTINGS | {"weights": "gptq"}, "weights"),
        (SETTINGS | {"strategy": "quantised"}, "quantised"),
        (SETTINGS | {"cache": {"cache_implementation": "static"}}, "twice"),
        (SETTINGS | {"strategy": None, "cache": {"backend": "hqq"}}, "cache.backend"),
        (SETTINGS | {"strategy": None, "cache": 3}, "cache"),
        (SETTINGS | {"strategy": None, "cache_config": {"bits": 4}}, "cache_config.bits"),
        (SETTINGS | {"strategy": None, "prefill_chunk_size": -1}, "prefill_chunk_size"),
        (SETTINGS | {"versions": ["transformers"]}, "versions"),
        (SETTINGS | {"versions": {"transformers": 5}}, "versions.transformers"),
        (SETTINGS | {"model": "org/small@v1", "revision": "v2"}, "revision"),
        (SETTINGS | {"device": "x" * 400}, "device"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(settings: Any, named: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_deployed(settings)
    assert refused.value.code in {"bad_settings", "unknown_strategy"}
    assert named in refused.value.message


@given(
    context=st.integers(1, 2 * 10**6), sequences=st.integers(1, 4096), strategy=st.sampled_from(list(MEASURED.limits))
)
def test_nothing_beyond_the_limit_is_ever_ok(context: int, sequences: int, strategy: str) -> None:
    checked = check(max_context=context, sequences=sequences, strategy=strategy)
    limit = MEASURED.limits[strategy]
    assert (checked.verdict is Verdict.OK) == (limit is not None and context <= limit and sequences <= 4)
