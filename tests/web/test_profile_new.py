from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.asking import waiting
from jobs.models import EntryState, ModelEntry, Profile, Run, Workload
from jobs.sizing.record import StoredWeights
from tests.browser import demo
from tests.factories import make_entry, make_worker

NEW = reverse("profile-new")
LEAST = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256"}


@pytest.fixture
def asking(signed_in: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A worker lives and the model is inspected; what is not inspected is not waited for."""
    demo.worker()
    demo.entry()
    monkeypatch.setattr(waiting, "PATIENCE_S", 0.0)
    return signed_in


def errors(client: Client, **fields: Any) -> dict[str, list[str]]:
    answer = client.post(NEW, LEAST | fields)
    assert answer.status_code == 200, "the question was accepted"
    assert not Profile.objects.exists()
    found: dict[str, list[str]] = answer.context["form"].errors
    return found


def test_three_fields_are_enough(asking: Client) -> None:
    answer = asking.post(NEW, LEAST)
    run = Run.objects.get()
    assert answer.headers["Location"] == reverse("run", args=[run.pk])
    assert run.profile.name == "SmolLM2-135M · 4,096 + 256"
    assert run.question["typical_prompt_tokens"] == 1024
    assert run.question["headroom_percent"] == 10
    assert run.question["dtype"] == "bfloat16"


def test_every_field_reaches_the_question(asking: Client) -> None:
    asking.post(
        NEW,
        {
            "model": " smollm2-135m ",
            "prompt_tokens": "4,096",
            "answer_tokens": "1 00",
            "typical_prompt_tokens": "500",
            "sequences": "2",
            "dtype": "float32",
            "worker": demo.worker(),
            "capacity": "1.5GiB",
            "headroom_percent": "0",
            "min_speed": "2.5",
            "max_ttft": "30",
            "max_kl": "0.35",
            "strategies": ["static", "quantized:hqq:4"],
            "more_strategies": "quantized:hqq:4+chunked:256, static",
            "compare_anyway": "on",
            "depth": "full",
            "name": "All of it",
        },
    )
    profile = Profile.objects.get()
    assert profile.name == "All of it"
    asked = profile.question
    assert asked["model"] == "SmolLM2-135M"
    assert (asked["prompt_tokens"], asked["answer_tokens"], asked["typical_prompt_tokens"]) == (4096, 100, 500)
    assert (asked["sequences"], asked["dtype"], asked["device"]) == (2, "float32", "cpu")
    assert (asked["capacity_bytes"], asked["headroom_percent"]) == (3 * 2**29, 0)
    assert (asked["min_decode_tokens_per_s"], asked["max_ttft_s"], asked["max_kl"]) == (2.5, 30, 0.35)
    assert asked["strategies"] == ["static", "quantized:hqq:4", "quantized:hqq:4+chunked:256"]
    assert asked["compare_anyway"] is True
    assert asked["depth"] == "full"


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("model", "", "Name a model."),
        ("model", "nothing like it", "nothing like it"),
        ("model", "/etc", "/etc"),
        ("model", "../../etc", "../../etc"),
        ("model", "x" * 301, "300 characters"),
        ("prompt_tokens", "", "Say how many tokens the longest prompt has."),
        ("prompt_tokens", "0", "Use 1 to 10,000,000 tokens"),
        ("prompt_tokens", "-5", "Write a whole number of tokens"),
        ("prompt_tokens", "1000000000000", "1,000,000,000,000 is outside of that"),
        ("prompt_tokens", "many", "Write a whole number of tokens"),
        ("prompt_tokens", "12.5", "Write a whole number of tokens"),
        ("prompt_tokens", "٣٤", "Write a whole number of tokens"),
        ("prompt_tokens", "8192", "SmolLM2-135M reads at most 8,192 tokens"),
        ("answer_tokens", "", "Say how many tokens the answer has."),
        ("answer_tokens", "0", "Use 1 to 10,000,000 tokens"),
        ("answer_tokens", "1e3", "Write a whole number of tokens"),
        ("typical_prompt_tokens", "4097", "cannot exceed the longest, 4,096"),
        ("typical_prompt_tokens", "0", "Use 1 to 10,000,000 tokens"),
        ("sequences", "0", "Use 1 to 4,096 sequences"),
        ("sequences", "10000000", "Use 1 to 4,096 sequences"),
        ("revision", "main", "Only a Hub model has revisions"),
        ("dtype", "int3", "Choose one of bfloat16"),
        ("worker", "999", "worker is gone"),
        ("capacity", "24 GB", "24 GB as vendors count is 22.35 GiB"),
        ("capacity", "much", "Write it like 300MiB or 24GiB"),
        ("capacity", "0GiB", "not a size of memory"),
        ("capacity", "-1GiB", "not a size of memory"),
        ("capacity", "65GiB", "has 64 GiB: ask for that or less"),
        ("capacity", "200MiB", "The weights alone take 256 MiB"),
        ("headroom_percent", "91", "Use 0 to 90 percent."),
        ("headroom_percent", "-1", "Write a number of percent"),
        ("headroom_percent", "nan", "Write a number of percent"),
        ("min_speed", "0", "Use more than 0 to 100,000 tokens/s."),
        ("min_speed", "inf", "Write a number of tokens/s"),
        ("min_speed", "2,5", "with a decimal point"),
        ("max_ttft", "0", "Use more than 0 to 86,400 seconds."),
        ("max_kl", "0", "Write more than 0 and at most 1,000, such as 0.2, or none."),
        ("max_kl", "low", "Write more than 0 and at most 1,000, such as 0.2, or none."),
        ("strategies", ["magic"], "“magic” is not a cache strategy."),
        ("more_strategies", "quantized:hqq:3", "is not a cache strategy"),
        ("more_strategies", "chunked:0", "is not a cache strategy"),
        ("more_strategies", ", ".join(f"chunked:{4 * n}" for n in range(1, 14)), "Try at most 12 strategies"),
        ("depth", "endless", "Choose quick or full."),
        ("workload", "999", "That workload is gone"),
        ("name", "n" * 121, "120 characters"),
        ("workload_name", "n" * 81, "80 characters"),
    ],
)
def test_nonsense_is_refused_with_a_sentence_beside_its_field(
    asking: Client, field: str, value: Any, sentence: str
) -> None:
    found = errors(asking, **{field: value})
    assert list(found) == [field]
    assert sentence in " ".join(found[field])


def test_packed_weights_count_as_they_are_loaded(asking: Client) -> None:
    """256 MiB in bfloat16, and half of that as the files have them."""
    sizes = {"bfloat16": 128 * 2**20}
    packed = StoredWeights(
        method="fp8", bits=8, source="safetensors", file_bytes=None, device_bytes=sizes, dequantized=False
    )
    for random_weights, refused in ((True, True), (False, False)):
        record = replace(demo.demo_record(), stored=packed, random_weights=random_weights)
        ModelEntry.objects.filter(name="SmolLM2-135M").update(record=record.as_json(), inspected_at=timezone.now())
        answer = asking.post(NEW, LEAST | {"capacity": "200MiB"})
        assert (answer.status_code == 200) is refused


def test_a_model_that_needs_its_own_code_is_refused(asking: Client, settings: Any, tmp_path: Any) -> None:
    settings.MODELS_DIR = tmp_path
    folder = tmp_path / "own-code"
    folder.mkdir()
    (folder / "config.json").write_text('{"auto_map": {"AutoModelForCausalLM": "modeling.Own"}}')
    assert "code" in " ".join(errors(asking, model="own-code")["model"])


def test_a_link_out_of_the_models_folder_is_refused(asking: Client, settings: Any, tmp_path: Any) -> None:
    settings.MODELS_DIR = tmp_path / "models"
    outside = tmp_path / "outside"
    outside.mkdir()
    settings.MODELS_DIR.mkdir()
    (outside / "config.json").write_text('{"model_type": "llama"}')
    (settings.MODELS_DIR / "link").symlink_to(outside)
    assert errors(asking, model="link")["model"]


def test_a_hub_models_revision_must_be_one(asking: Client) -> None:
    assert "a b" in " ".join(errors(asking, model="org/name", revision="a b")["revision"])


def test_several_faults_are_told_at_once(asking: Client) -> None:
    assert set(errors(asking, model="/etc", prompt_tokens="0", capacity="lots")) == {
        "model",
        "prompt_tokens",
        "capacity",
    }


def test_an_estimate_alone_is_shown_and_runs_nothing(asking: Client) -> None:
    answer = asking.post(NEW, LEAST | {"estimate": "yes", "capacity": "80GiB"})
    assert answer.context["outlook"].state == "ready"
    assert list(answer.context["form"].errors) == ["capacity"]
    unread = asking.post(NEW, LEAST | {"estimate": "yes", "model": "gpt2", "prompt_tokens": "512"})
    assert unread.context["outlook"].state == "reading"
    assert ModelEntry.objects.get(name="gpt2").state == EntryState.WAITING
    asking.post(NEW, LEAST | {"estimate": "yes", "model": "/etc"})
    assert not Run.objects.exists()
    assert not Profile.objects.exists()


def test_each_field_at_fault_is_named_and_linked(asking: Client) -> None:
    page = asking.post(
        NEW, LEAST | {"prompt_tokens": "0", "capacity": "lots", "strategies": ["magic"]}
    ).content.decode()
    assert "Not sent yet: 3 fields need another value: " in page
    for name in ("prompt_tokens", "capacity", "strategies"):
        assert f'<a href="#id_{name}">' in page
        assert f'id="id_{name}"' in page


def test_what_was_typed_is_kept(asking: Client) -> None:
    page = asking.post(NEW, LEAST | {"prompt_tokens": "0", "name": "Keep me"}).content.decode()
    assert 'value="Keep me"' in page
    assert 'aria-invalid="true"' in page


def test_without_a_worker_nothing_is_queued(signed_in: Client) -> None:
    demo.entry()
    assert "No worker has connected yet" in " ".join(errors(signed_in)["worker"])


def test_a_silent_worker_is_no_choice(asking: Client) -> None:
    silent = make_worker("cuda:0", seen_at=timezone.now() - timedelta(hours=1))
    assert "is silent" in " ".join(errors(asking, worker=silent.pk)["worker"])


def test_a_model_still_being_read_keeps_the_question_and_says_so(asking: Client) -> None:
    answer = asking.post(NEW, LEAST | {"model": "gpt2", "prompt_tokens": "512"})
    assert "still being read. Send this again in a moment. What you typed is kept." in answer.content.decode()
    assert 'value="512"' in answer.content.decode()
    assert ModelEntry.objects.get(name="gpt2").state == EntryState.WAITING
    assert not Run.objects.exists()


def test_a_model_refused_by_its_inspection_says_why(asking: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    error = {"code": "gated", "message": "The model is gated.", "hint": "Accept its licence."}
    refused = make_entry("org/gated", inspected=False, state=EntryState.REFUSED, error=error)
    asked = ModelEntry.objects.filter(pk=refused.pk)
    monkeypatch.setattr(waiting, "PATIENCE_S", 5.0)
    monkeypatch.setattr(waiting.time, "sleep", lambda _: asked.update(state=EntryState.REFUSED, error=error))
    assert errors(asking, model="org/gated")["model"] == ["The model is gated. Accept its licence."]


def test_lengths_can_be_saved_and_used_again(asking: Client, member: User) -> None:
    asking.post(NEW, LEAST | {"workload_name": "Summaries", "sequences": "2"})
    saved = Workload.objects.get()
    assert (saved.name, saved.prompt_tokens, saved.sequences, saved.owner) == ("Summaries", 4096, 2, member)
    asking.post(NEW, {"model": "SmolLM2-135M", "workload": saved.pk, "name": "Again"})
    again = Profile.objects.get(name="Again")
    assert again.workload == saved
    assert (again.question["prompt_tokens"], again.question["sequences"]) == (4096, 2)


def test_another_members_workload_is_not_overwritten(asking: Client) -> None:
    lengths = {"prompt_tokens": 1, "typical_prompt_tokens": 1, "answer_tokens": 1}
    Workload.objects.create(name="Theirs", **lengths)
    assert "not yours" in " ".join(errors(asking, workload_name="Theirs")["workload_name"])
    assert Workload.objects.get().prompt_tokens == 1


def test_a_similar_question_starts_from_the_profile_and_says_so(asking: Client, answered: int) -> None:
    profile = Run.objects.get(pk=answered).profile
    page = asking.get(NEW, {"from": profile.pk})
    text = page.content.decode()
    assert f'<a href="{reverse("profile", args=[profile.pk])}"><bdi>Nightly summaries</bdi></a>' in text
    initial = page.context["form"].initial
    assert initial["model"] == "SmolLM2-135M"
    assert 'value="340 MiB"' in text
    assert 'value="5"' in text


def test_a_clone_sent_unchanged_asks_the_same_question(asking: Client, answered: int) -> None:
    profile = Run.objects.get(pk=answered).profile
    form = asking.get(NEW, {"from": profile.pk}).context["form"]
    sent = {name: form[name].value() for name in form.fields}
    asking.post(NEW, {name: value for name, value in sent.items() if value not in (None, False)})
    assert Profile.objects.exclude(pk=profile.pk).get().question == profile.question


@pytest.mark.parametrize(("given", "shown", "asked"), [("", None, 256), ("1024", None, 256), ("700", 700, 700)])
def test_a_clone_leaves_a_typical_prompt_blank_that_follows_from_the_longest(
    asking: Client, given: str, shown: int | None, asked: int
) -> None:
    asking.post(NEW, LEAST | {"typical_prompt_tokens": given})
    source = Profile.objects.get()
    form = asking.get(NEW, {"from": source.pk}).context["form"]
    assert form["typical_prompt_tokens"].value() == shown
    asking.post(NEW, LEAST | {"prompt_tokens": "1024", "typical_prompt_tokens": shown or ""})
    assert Profile.objects.exclude(pk=source.pk).get().question["typical_prompt_tokens"] == asked


def test_what_if_with_a_shorter_prompt_than_the_typical_one_can_be_measured(asking: Client) -> None:
    asking.post(NEW, LEAST)
    form = asking.get(NEW, {"from": Profile.objects.get().pk, "prompt_tokens": "512"}).context["form"].as_sent()
    assert form.is_valid(), form.errors
    assert (form.cleaned_data["prompt_tokens"], form.cleaned_data["typical_prompt_tokens"]) == (512, 128)


@pytest.mark.parametrize("source", ["999", "x", "-1", "9" * 30])
def test_there_is_no_similar_question_to_a_missing_profile(asking: Client, source: str) -> None:
    assert asking.get(NEW, {"from": source}).status_code == 404


def test_at_least_twelve_built_in_architectures_are_offered(signed_in: Client) -> None:
    offered = [offer.name for offer in signed_in.get(NEW).context["models"]]
    assert len(offered) >= 12
    assert {"SmolLM2-135M", "Qwen2.5-0.5B", "Llama-3.2-1B", "Llama-3.1-8B", "gpt2"} <= set(offered)


def test_folders_below_the_models_folder_are_offered_by_name(signed_in: Client, settings: Any, tmp_path: Any) -> None:
    settings.MODELS_DIR = tmp_path
    for name in ("mine", "team/theirs"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "config.json").write_text("{}")
    offered = [offer.name for offer in signed_in.get(NEW).context["models"]]
    assert offered[-2:] == ["mine", "team/theirs"]


@pytest.mark.django_db
def test_a_stranger_is_sent_to_sign_in(client: Client) -> None:
    assert client.get(NEW).status_code == 302
    assert client.post(NEW, LEAST).status_code == 302


def test_nothing_is_put_here(signed_in: Client) -> None:
    assert signed_in.put(NEW).status_code == 405


@pytest.mark.parametrize(("typed", "bound"), [("", 0.2), ("none", None), (" None ", None), ("0.05", 0.05)])
def test_a_blank_bound_on_quality_is_the_usual_one(asking: Client, typed: str, bound: float | None) -> None:
    asking.post(NEW, LEAST | {"max_kl": typed})
    profile = Profile.objects.get()
    assert profile.question["max_kl"] == bound
    again = asking.get(f"{NEW}?from={profile.pk}").context["form"]
    assert again["max_kl"].value() == ("none" if bound is None else f"{bound:g}")
