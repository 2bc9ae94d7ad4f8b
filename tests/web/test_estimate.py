"""The panel of estimates: what the fields amount to before anything is sent."""

import re
import statistics
import time
from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.asking.choices import STRATEGIES
from jobs.models import EntryState, ModelEntry
from jobs.procedure.reach import Ends, Reach
from jobs.running.model_source import resolve_model
from jobs.services import model_reading
from jobs.sizing.record import InspectionRecord, StoredWeights
from jobs.sizing.units import GIB, MIB
from jobs.web.presenters import headline
from jobs.web.presenters.outlook import Panel
from tests.browser import demo
from tests.factories import make_entry, make_worker
from tests.procedure.worlds import WEIGHTS_BYTES

ESTIMATE = reverse("estimate")
TICKED = ["quantized:hqq:8", "quantized:hqq:4", "chunked:512"]
LEAST = {"model": "SmolLM2-135M", "prompt_tokens": "4096", "answer_tokens": "256", "capacity": "1GiB"}
TARGET_MS = 50.0
PACKED = StoredWeights(
    method="fp8",
    bits=8,
    source="quantization_config",
    file_bytes=None,
    device_bytes={"bfloat16": WEIGHTS_BYTES // 2},
    dequantized=False,
)


@pytest.fixture(autouse=True)
def rung_for(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The entries whose reading was asked to go on."""
    sent: list[int] = []
    monkeypatch.setattr(model_reading, "model_inspect_send", lambda entry_id: sent.append(entry_id))
    return sent


@pytest.fixture
def asking(signed_in: Client) -> Client:
    demo.worker()
    demo.entry()
    return signed_in


def keep(**changes: Any) -> InspectionRecord:
    """Another record of the model, as its inspection would keep it."""
    record = replace(demo.demo_record(), **changes)
    ModelEntry.objects.filter(name="SmolLM2-135M").update(record=record.as_json(), inspected_at=timezone.now())
    return record


def panel(client: Client, **fields: Any) -> Panel:
    found: Panel = client.get(ESTIMATE, LEAST | fields).context["outlook"]
    assert found.state == "ready"
    return found


def text(client: Client, **fields: Any) -> str:
    page = client.get(ESTIMATE, LEAST | fields).content.decode()
    return re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", page))


def row(found: Panel, label: str) -> Any:
    return next(row for row in found.reaches if row.label == label)


def test_the_budgets_are_told_for_both_phases_and_drawn(asking: Client) -> None:
    found = panel(asking)
    sizes = {line.label: line.sizes for line in found.lines}
    assert sizes["weights"] == (WEIGHTS_BYTES, WEIGHTS_BYTES)
    assert sizes["KV cache of the prompt"] == (4096 * 23_040, 4096 * 23_040)
    assert sizes["KV cache of the answer"] == (0, 255 * 23_040)
    assert found.totals == tuple(sum(column) for column in zip(*sizes.values(), strict=True))
    for bar, total in zip(found.bars, found.totals, strict=True):
        assert sum(segment.width for segment in bar.segments) == pytest.approx(100 * total / GIB, abs=0.03)
        assert (bar.headroom.x, bar.headroom.width) == (90, 10)
    assert f"{WEIGHTS_BYTES / MIB:.1f} MiB" in text(asking)


@pytest.mark.parametrize(
    ("capacity", "tone", "sentence"),
    [
        ("1GiB", "good", "should fit with the normal cache."),
        ("400MiB", "warn", "should not fit with the normal cache; it should with quantized 8 or 4 bits or chunked "),
        ("370MiB", "warn", "should not fit with the normal cache; it should with quantized 4 bits."),
        ("300MiB", "bad", "should not fit with the normal cache; other strategies are still being read."),
    ],
)
def test_whether_the_workload_fits_is_a_sentence_and_its_bytes_another(
    asking: Client, capacity: str, tone: str, sentence: str
) -> None:
    found = panel(asking, capacity=capacity, strategies=TICKED)
    assert f"This workload (4,352 tokens) {sentence}" in found.headline.workload
    assert found.headline.tone == tone
    assert found.headline.needs.startswith("Needs 391.0 MiB with the normal cache; ")
    assert found.bars[0].over is (capacity in ("370MiB", "300MiB"))


def test_the_longest_context_is_the_headline_and_the_strategy_that_reaches_further_stands_beside_it(
    asking: Client,
) -> None:
    found = panel(asking, capacity="350MiB", strategies=TICKED)
    normal = found.reaches[0].context_tokens
    assert normal == 2044
    assert found.headline.answer == "Longest context: about 2,040 tokens"
    best = max((row for row in found.reaches if row.ticked), key=lambda row: row.context_tokens or 0)
    assert found.headline.detail == f"with the normal cache; {best.context} with {best.label}"


def test_a_strategy_that_fits_and_is_not_ticked_is_named(asking: Client) -> None:
    found = panel(asking, capacity="370MiB").headline
    assert found.workload.endswith("normal cache; of what is not ticked, it should with quantized 4 bits.")


def test_memory_that_only_the_headroom_lacks_is_drawn_into_it(asking: Client) -> None:
    reading, answering = panel(asking, capacity="430MiB", headroom_percent="10").bars
    assert (reading.into_headroom, reading.over) == (True, False)
    assert (reading.headroom.x, reading.headroom.width) == (90, 10)
    assert reading.excess.width == pytest.approx(100 * (391.0 - 387.0) / 430, abs=0.05)
    assert not answering.into_headroom
    assert answering.excess.width == 0


def test_beyond_the_capacity_its_end_is_written_on_the_bar(asking: Client) -> None:
    assert "capacity 350 MiB" in text(asking, capacity="350MiB")
    assert "capacity 1 GiB" not in text(asking)


def test_every_strategy_offered_and_typed_has_its_row(asking: Client) -> None:
    keep()
    gpu = make_worker("cuda:0", "rack", capacity_bytes=80 * GIB)
    found = panel(asking, worker=gpu.pk, more_strategies="quantized:hqq:4+chunked:512, static+chunked:512")
    labels = " | ".join(row.label for row in found.reaches)
    assert found.reaches[0].label == "normal cache"
    for _, label, _ in STRATEGIES:
        assert label in labels
    assert row(found, "quantized 4 bits (hqq) + chunked prefill (512)").context_tokens
    assert row(found, "static + chunked prefill (512)").extra == "put together from its two parts"


def test_smaller_caches_reach_further_and_offloading_tells_its_cpu_ram(asking: Client) -> None:
    keep(native_context=None)
    gpu = make_worker("cuda:0", "rack", capacity_bytes=80 * GIB)
    found = panel(asking, worker=gpu.pk, capacity="600MiB")
    reached = {row.label: row.context_tokens or 0 for row in found.reaches}
    assert reached["quantized 4 bits (hqq)"] > reached["quantized 8 bits (hqq)"] > reached["normal cache"] > 0
    offloaded = row(found, "offloaded to CPU")
    assert re.fullmatch(r"with \d\.\d\d GiB of CPU RAM", offloaded.extra)


def test_the_model_s_own_maximum_is_said_where_it_ends_the_context(asking: Client) -> None:
    normal = row(panel(asking, capacity="64GiB"), "normal cache")
    assert (normal.context_tokens, normal.bound) == (8192, "the model’s maximum")


def test_more_than_the_model_reads_is_no_matter_of_memory(asking: Client) -> None:
    found = panel(asking, prompt_tokens="9000")
    assert found.headline.workload == (
        "The model reads at most 8,192 tokens; 9,256 are asked. Ask for a prompt of at most 7,936."
    )
    assert (found.headline.answer, found.headline.tone) == ("Longest context: 8,192 tokens", "bad")
    assert not any(row.should_fit for row in found.reaches)
    assert not any(device.smallest for device in found.devices.rows)
    assert found.devices.summary == "none: the model reads at most 8,192 tokens"
    told = text(asking, prompt_tokens="9000")
    assert "✓" not in told
    assert "Sequences at once this workload" not in told


def test_what_the_model_cannot_take_says_why_once_and_has_no_figure(asking: Client) -> None:
    demo.know_windowed_model()
    found = panel(asking, model="Gemma-3-270m")
    quantized = row(found, "quantized (hqq, quanto, fp8)")
    assert quantized.why_not == "not possible for this model: windowed layers"
    assert (quantized.context_tokens, quantized.peak_bytes) == (None, None)
    keep(refusals={"static": "transformers has no such cache for this model."})
    assert row(panel(asking), "static").why_not == (
        "not possible for this model: transformers has no such cache for this model"
    )


def test_what_the_device_cannot_do_says_why(asking: Client) -> None:
    found = panel(asking)
    assert row(found, "offloaded to CPU (both kinds)").why_not == "needs a GPU; here the cache is in CPU RAM already"
    assert row(found, "quantized (fp8)").why_not == "not on this device: needs a GPU with 8-bit floats"


def test_what_was_not_read_yet_says_so_and_asks_again(asking: Client) -> None:
    found = panel(asking)
    unread = row(found, "quantized 2 bits (hqq)")
    assert (unread.why_not, unread.context_tokens, found.again) == ("not read yet", None, True)
    typed = panel(asking, more_strategies="chunked:64")
    assert row(typed, "chunked prefill (64)").why_not == "not read yet: a run reads it"


def test_nothing_is_asked_again_once_all_is_read(asking: Client, rung_for: list[int]) -> None:
    record = demo.demo_record()
    named = {rung.strategy for rung in record.rungs}
    extra = [
        replace(rung, strategy=name)
        for name, _, _ in STRATEGIES
        if name not in named
        for rung in record.rungs
        if rung.strategy == "default"
    ]
    keep(rungs=(*record.rungs, *extra))
    assert not panel(asking).again
    assert rung_for == []


def test_a_precision_without_passes_is_said_to_be_unread_and_is_read(asking: Client, rung_for: list[int]) -> None:
    answer = asking.get(ESTIMATE, LEAST | {"dtype": "float32"})
    assert answer.context["outlook"].state == "reading"
    assert "SmolLM2-135M is not read in float32 yet" in answer.content.decode()
    assert ModelEntry.objects.get(name="SmolLM2-135M").dtypes == ["float32"]
    assert rung_for == [demo.entry().pk]


def test_twice_the_context_says_what_doubles_and_what_does_not(asking: Client) -> None:
    assert "Twice the context (8,704 tokens, more than the model reads): KV cache ×2.0," in panel(asking).doubled
    assert "working memory ×2.1, total ×1.4." in panel(asking).doubled
    demo.know_windowed_model()
    windowed = panel(asking, model="Gemma-3-270m").doubled
    assert "KV cache ×1.6" in windowed
    assert windowed.endswith("Windowed layers stop growing at their window.")
    assert "windowed layers are cut to their window" in text(asking, model="Gemma-3-270m")
    assert "windowed layers are cut to their window" not in text(asking)


def test_estimates_say_that_they_are_and_what_they_were_read_with(asking: Client) -> None:
    told = text(asking)
    assert "Estimated, not measured" in told
    assert "transformers 5.24.0" in told
    assert "a CPU’s kernels" in told


def test_packed_weights_leave_the_cache_in_its_precision(asking: Client) -> None:
    keep(stored=PACKED)
    assert panel(asking).lines[0].sizes[0] == WEIGHTS_BYTES // 2
    assert "packed as fp8 (8 bits). The KV cache stays in bfloat16 whatever the weights are packed in." in text(asking)
    keep(stored=replace(PACKED, dequantized=True))
    assert "on the device nothing is saved" in text(asking)
    keep(stored=replace(PACKED, bits=None))
    assert "packed as fp8; what they take on the device is not known to the byte" in text(asking)


def test_weights_that_the_device_unpacks_are_sized_unpacked_there_and_packed_on_the_others(asking: Client) -> None:
    keep(stored=replace(PACKED, unpacked_on=("cpu",)))
    found = panel(asking)
    assert found.lines[0].sizes[0] == WEIGHTS_BYTES
    assert "On this device the weights are unpacked, in bfloat16; packed as fp8 (8 bits)" in text(asking)
    keep(stored=PACKED)
    packed = panel(asking)
    assert found.lines[0].sub == "unpacked; 0.12 GiB as stored"
    assert "(weights packed as fp8)" in found.devices.summary
    assert [row.sequences for row in found.devices.rows] == [row.sequences for row in packed.devices.rows]


def test_random_weights_are_unpacked_in_a_run_and_as_stored_on_the_devices_one_might_buy(asking: Client) -> None:
    keep(stored=PACKED)
    packed = panel(asking).devices
    keep(stored=PACKED, random_weights=True)
    found = panel(asking)
    assert found.lines[0].sizes[0] == WEIGHTS_BYTES
    assert "(weights packed as fp8)" in found.devices.summary
    assert [row.contexts for row in found.devices.rows] == [row.contexts for row in packed.rows]
    assert (
        "A run draws random weights, in bfloat16; packed as fp8 (8 bits), as stored, they would be 0.12 GiB."
        in text(asking)
    )


@pytest.mark.parametrize("fits", [True, False, None])
def test_a_combination_that_should_do_is_named_where_no_strategy_alone_does(
    asking: Client, monkeypatch: pytest.MonkeyPatch, fits: bool | None
) -> None:
    demo.know_every_strategy()
    found = Reach(strategy=headline.COMBINATION, ends=Ends.MEMORY, fits=fits)
    monkeypatch.setattr(headline, "reach", lambda question, record, strategy, budget_bytes: found)
    told = panel(asking, capacity="300MiB", strategies=TICKED).headline.workload
    assert "nor with any other on its own." in told
    named = "Together two should: write quantized:hqq:4+chunked:512 under “More strategies”."
    assert told.endswith(named) is bool(fits)


def test_each_device_has_both_figures_its_sources_and_the_smallest_that_fits_is_marked(asking: Client) -> None:
    found = panel(asking, sequences="200").devices
    assert [row.smallest for row in found.rows].count(True) == 1
    smallest = next(row for row in found.rows if row.smallest)
    assert int(smallest.sequences.replace(",", "")) >= 200
    below = found.rows[: found.rows.index(smallest)]
    assert below
    assert all(int(row.sequences.replace(",", "")) < 200 for row in below)
    page = asking.get(ESTIMATE, LEAST).content.decode()
    for row_ in found.rows:
        assert row_.device.reported_source in page
        assert f"{row_.device.vendor_gb} GB" in page


def test_the_smallest_device_is_told_with_the_normal_cache_and_with_the_smallest_strategy_tried(
    asking: Client,
) -> None:
    """170 sequences of 4,352 tokens: the normal cache outgrows 32 GB, 4 bits do not."""
    found = panel(asking, sequences="170", strategies=TICKED).devices
    assert [str(strategy) for strategy in found.strategies] == ["default", "quantized:hqq:4"]
    names = [
        next(row.device.name for row in found.rows if row.contexts[place].smallest)
        for place in range(len(found.strategies))
    ]
    assert found.summary == f"with the normal cache: {names[0]}; with quantized 4 bits (hqq): {names[1]}"
    sizes = {row.device.name: row.device.usable_bytes for row in found.rows}
    assert sizes[names[1]] < sizes[names[0]]
    assert len(found.first) <= 6
    assert {row.device.name for row in found.first} >= set(names)


def test_a_device_too_small_for_the_weights_says_so_and_one_that_lacks_the_headroom_says_that(asking: Client) -> None:
    keep(weights_bytes={"bfloat16": 30 * GIB})
    found = {row.device.name: row.why_not for row in panel(asking, capacity="64GiB").devices.rows}
    assert found["GeForce RTX 3060"] == "the weights alone do not fit"
    assert found["GeForce RTX 5090"] == "the weights leave less than the 10 % to keep free"
    assert found["B200"] == ""


def test_weights_larger_than_the_capacity_leave_no_run_and_no_rows_to_read(asking: Client) -> None:
    keep(weights_bytes={"bfloat16": 2 * GIB})
    found = panel(asking).headline
    assert found.answer == "No context: the weights alone do not fit"
    assert (
        found.workload == "A run is not possible here: the weights alone take 2,048.0 MiB; the capacity is 1,024.0 MiB."
    )
    assert "How far each strategy" not in text(asking)
    lacking = panel(asking, capacity="2.1GiB").headline
    assert lacking.answer == "No context: the weights leave less than the 10 % to keep free"


def test_a_capacity_beyond_the_device_is_estimated_and_said_to_be_beyond_it(asking: Client) -> None:
    found = panel(asking, capacity="80GiB")
    assert found.headline.tone == "good"
    assert found.limited == "A run here is limited to 64 GiB, all that the device has."
    assert panel(asking).limited == ""


def test_several_sequences_have_a_context_each(asking: Client) -> None:
    assert panel(asking, sequences="8").headline.detail.startswith("with the normal cache, of each of 8")
    assert "tokens, of each of 8" in text(asking, sequences="8")
    assert "of each of" not in text(asking)


def test_what_the_figures_are_of_stands_above_them(asking: Client) -> None:
    assert panel(asking).basis == "SmolLM2-135M · bfloat16 · 4,352 tokens · 1 GiB"


def test_nothing_that_is_there_is_shown_as_nothing(asking: Client) -> None:
    keep(weights_bytes={"bfloat16": 30 * GIB})
    told = text(asking, capacity="64GiB", answer_tokens="2")
    assert "KV cache of the answer – &lt; 0.01 GiB" in told


def test_without_any_worker_a_typed_capacity_is_enough(signed_in: Client) -> None:
    demo.entry()
    assert "should fit" in panel(signed_in).headline.workload
    blank = panel(signed_in, capacity="")
    assert blank.headline.answer == "Needs 391.0 MiB"
    assert blank.headline.workload.startswith("Give a capacity")
    assert not blank.reaches
    assert blank.devices.rows


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("prompt_tokens", "", "Longest prompt: Say how many tokens"),
        ("prompt_tokens", "-1", "Longest prompt: Write a whole number"),
        ("prompt_tokens", "9" * 25, "Longest prompt: Write a whole number"),
        ("prompt_tokens", "9" * 20, "Longest prompt: Use 1 to 10,000,000 tokens"),
        ("answer_tokens", "4\x0096", "Answer: Null characters are not allowed."),
        ("sequences", "5000", "Sequences at once: Use 1 to 4,096"),
        ("capacity", "24 GB", "24 GB as vendors count is 22.35 GiB"),
        ("headroom_percent", "95", "Headroom: Use 0 to 90 percent."),
        ("dtype", "int4", "Precision: Choose one of"),
        ("strategies", "magic", "is not a cache strategy"),
        ("more_strategies", "quantized:hqq:3", "More strategies: “quantized:hqq:3” is not a cache strategy."),
        ("workload", "9" * 40, "Saved workload: That workload is gone"),
    ],
)
def test_a_field_at_fault_is_named_in_place_of_the_figures(
    asking: Client, field: str, value: str, sentence: str
) -> None:
    answer = asking.get(ESTIMATE, LEAST | {field: value})
    assert answer.status_code == 200
    assert answer.context["outlook"].state == "faults"
    assert [fault.field for fault in answer.context["outlook"].faults] == [field]
    assert f'data-field="{field}"' in answer.content.decode()
    assert sentence in text(asking, **{field: value})


@pytest.mark.parametrize(
    "model", ["nothing like it", "/etc", "../../etc", "a\x00b", "x" * 301, "\u202eevil", "<script>alert(1)</script>"]
)
def test_what_is_no_model_is_refused_in_words(asking: Client, model: str) -> None:
    answer = asking.get(ESTIMATE, LEAST | {"model": model})
    assert answer.context["outlook"].state == "refused"
    found = answer.context["outlook"]
    assert all([*found.sentences, *(fault.sentence for fault in found.faults)])
    assert "<script>" not in answer.content.decode()


@pytest.mark.parametrize(
    "ignored", [{"worker": "999"}, {"worker": "9" * 40}, {"min_speed": "-1"}, {"name": "n" * 200}, {"depth": "endless"}]
)
def test_what_an_estimate_does_not_need_is_no_fault_of_it(asking: Client, ignored: dict[str, str]) -> None:
    assert panel(asking, **ignored).headline.tone == "good"


def test_no_model_asks_for_one_and_an_unread_one_is_being_read(asking: Client) -> None:
    assert asking.get(ESTIMATE).context["outlook"].state == "empty"
    unknown = asking.get(ESTIMATE, LEAST | {"model": "gpt2"}).context["outlook"]
    assert unknown.state == "reading"
    assert unknown.sentences[0].startswith("gpt2 is being read; its figures appear here. Reading a model usually takes")
    assert not ModelEntry.objects.filter(name="gpt2").exists()


def test_a_model_that_waits_says_how_many_are_before_it(asking: Client) -> None:
    for name in ("gpt2", "Qwen2.5-0.5B"):
        spec = resolve_model(name)
        make_entry(name, inspected=False, kind=str(spec.kind), spec=spec.as_json(), state=EntryState.WAITING)
    told = asking.get(ESTIMATE, LEAST | {"model": "Qwen2.5-0.5B"}).context["outlook"].sentences[0]
    assert told.startswith("Qwen2.5-0.5B waits behind 1 other model; ")


def test_a_refused_model_says_why(asking: Client) -> None:
    error = {"code": "gated", "message": "The model is gated.", "hint": "Accept its licence."}
    spec = resolve_model("org/gated").as_json()
    make_entry("org/gated", inspected=False, spec=spec, state=EntryState.REFUSED, error=error)
    found = asking.get(ESTIMATE, LEAST | {"model": "org/gated"}).context["outlook"]
    assert (found.state, found.sentences) == ("refused", ("The model is gated. Accept its licence.",))


def test_the_page_itself_shows_the_estimate_without_a_script(asking: Client) -> None:
    empty = asking.get(reverse("profile-new"))
    assert "Name a model to see what it needs." in empty.content.decode()
    refused = asking.post(reverse("profile-new"), LEAST | {"name": "n" * 121})
    assert refused.context["outlook"].state == "ready"
    assert "should fit with the normal cache" in refused.content.decode()


def test_an_estimate_is_served_in_a_few_times_the_target_at_worst(asking: Client) -> None:
    """The target, a median of 50 ms, is for `make bench`; five times that leaves room for a busy machine."""
    taken_ms = []
    for prompt in range(1000, 1011):
        began_s = time.perf_counter()
        panel(asking, prompt_tokens=str(prompt), capacity=str(600 * MIB) + "B")
        taken_ms.append((time.perf_counter() - began_s) * 1000)
    assert statistics.median(taken_ms) < 5 * TARGET_MS
