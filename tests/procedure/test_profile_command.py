"""The command line: what it asks, what it refuses, what it prints. The measuring itself is faked."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

from jobs.management.commands import profile
from jobs.management.commands.profile import Command
from jobs.management.profile_arguments import refuse_device
from jobs.models import Run as KeptRun
from jobs.procedure.measurement import Cancelled
from jobs.procedure.question import Depth, Question
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, MIB
from tests.procedure.worlds import World, record

LEAST = ["SmolLM2-135M", "--prompt", "1024", "--answer", "32"]
SMALL = [*LEAST, "--capacity", "280MiB", "--headroom", "0", "--strategies", "static,quantized:hqq:4"]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def asked() -> list[Question]:
    """The questions that reached the bench."""
    return []


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: list[Question]) -> Run:
    """Run the command on a bench without a model; (exit code, stdout, stderr)."""

    @contextmanager
    def bench(*, question: Question, **_: Any) -> Iterator[World]:
        asked.append(question)
        yield World(asked=question, record=record())

    monkeypatch.setattr(profile, "ProcessBench", bench)
    monkeypatch.setattr(profile, "_reading", lambda *_: nullcontext(SimpleNamespace(hello={"devices": []})))
    monkeypatch.setattr(profile, "_inspected", _inspected)
    monkeypatch.setattr(profile, "resolve_model", lambda text, **_: ModelSpec(kind=ModelKind.ARCHITECTURE, name=text))
    monkeypatch.setattr(profile.signal, "signal", lambda *_: None)

    def command(*arguments: str) -> tuple[int, str, str]:
        try:
            Command().run_from_argv(["manage.py", "profile", *arguments])
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return command


def _inspected(spec: ModelSpec, question: Question, *_: Any) -> InspectionRecord:
    found = record(native_context=8_192)
    profile.refuse_impossible(question, found)
    return found


def test_json_alone_is_on_standard_output(run: Run) -> None:
    code, out, err = run(*SMALL, "--json")
    answer = json.loads(out)
    assert code == 0
    assert (answer["run"], answer["state"], answer["error"]) == (None, "done", None)
    assert set(answer["stages"]) == {"budgets", "baseline", "changes", "limit"}
    assert answer["device"]["capacity_bytes"] == 24 * GIB
    assert answer["environment"] == {"transformers": "5.24.0"}
    assert "out of memory" in err


def test_without_json_a_person_reads_the_answer(run: Run) -> None:
    code, out, _ = run(*SMALL)
    assert code == 0
    assert "The workload's 1,056 tokens fit with quantized 4 bits (hqq)" in out
    assert "Max context: 1,056 tokens" in out
    assert "Provisional: what the quantized cache costs in quality was not measured (random weights)." in out
    assert "model.generate(" in out


def test_where_nothing_fits_it_says_what_would_have_to_change(run: Run) -> None:
    code, out, _ = run(*LEAST, "--capacity", "270MiB", "--strategies", "static")
    assert code == 0
    assert "What would have to change:" in out
    assert "A device with about" in out


def test_every_flag_reaches_the_question(run: Run, asked: list[Question]) -> None:
    run(
        *LEAST,
        *("--typical-prompt", "300", "--sequences", "2", "--dtype", "float32", "--attention", "eager"),
        *("--device", "cpu", "--capacity", "1GiB", "--headroom", "2.5", "--min-speed", "0.5", "--max-ttft", "60"),
        *("--host-capacity", "8GiB", "--strategies", "default,static,chunked:512", "--compare-anyway"),
        *("--depth", "full", "--time-cap", "5", "--max-kl", "0.5"),
    )
    (question,) = asked
    assert [str(strategy) for strategy in question.strategies] == ["static", "chunked:512"]
    assert replace(question, strategies=()) == Question(
        model="SmolLM2-135M",
        prompt_tokens=1024,
        typical_prompt_tokens=300,
        answer_tokens=32,
        sequences=2,
        dtype="float32",
        attention="eager",
        device="cpu",
        capacity_bytes=GIB,
        headroom_percent=2.5,
        min_decode_tokens_per_s=0.5,
        max_ttft_s=60,
        max_kl=0.5,
        host_capacity_bytes=8 * GIB,
        compare_anyway=True,
        depth=Depth.FULL,
        time_cap_s=300,
    )


def test_the_rest_has_defaults(run: Run, asked: list[Question]) -> None:
    run(*LEAST)
    (question,) = asked
    assert (question.typical_prompt_tokens, question.headroom_percent, question.capacity_bytes) == (256, 10, None)
    assert "quantized:hqq:4" in [str(strategy) for strategy in question.strategies]
    assert not any(strategy.is_offloaded for strategy in question.strategies)


def test_on_a_gpu_offloading_is_among_the_defaults(run: Run, asked: list[Question]) -> None:
    run(*LEAST, "--device", "cuda:0")
    assert any(strategy.is_offloaded for strategy in asked[0].strategies)


@pytest.mark.parametrize(("flags", "max_kl"), [([], 0.2), (["--max-kl", "none"], None)])
def test_the_bound_on_quality_is_on_unless_it_is_taken_off(
    run: Run, asked: list[Question], flags: list[str], max_kl: float | None
) -> None:
    run(*LEAST, *flags)
    assert asked[0].max_kl == max_kl


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--prompt", "many"], "bad_prompt"),
        (["--prompt", "0"], "bad_prompt"),
        (["--prompt=-5"], "bad_prompt"),
        (["--prompt", "1" + "0" * 12], "bad_prompt"),
        (["--prompt", "9000"], "beyond_native_context"),
        (["--answer", "1.5"], "bad_answer"),
        (["--sequences", "0"], "bad_sequences"),
        (["--typical-prompt", "2000"], "bad_typical_prompt"),
        (["--dtype", "int3"], "bad_dtype"),
        (["--attention", "magic"], "bad_attention"),
        (["--capacity", "lots"], "bad_size"),
        (["--headroom", "nan"], "bad_headroom"),
        (["--headroom", "99"], "bad_headroom"),
        (["--min-speed", "0"], "bad_min_speed"),
        (["--max-ttft", "inf"], "bad_max_ttft"),
        (["--depth", "deep"], "bad_depth"),
        (["--time-cap", "0"], "bad_time_cap"),
        (["--strategies", "quantized:hqq:3"], "unknown_strategy"),
        (["--weights", "bnb3"], "bad_weights"),
        (["--device", "cuda:0+cuda:1"], "bad_device"),
        (["--device", "cuda:0,cpu"], "bad_device"),
        (["--max-kl", "0"], "bad_max_kl"),
        (["--max-kl", "low"], "bad_max_kl"),
        (["--max-kl", "٣"], "bad_max_kl"),
        (["--headroom", "1_0"], "bad_headroom"),
        (["--min-speed", "1e999"], "bad_min_speed"),
        (["--no-such-flag"], "bad_arguments"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_code_sentence_and_hint(run: Run, flags: list[str], code: str) -> None:
    status, out, err = run(*LEAST, *flags, "--json")
    error = json.loads(out)["error"]
    assert (status, error["code"]) == (2, code)
    assert error["message"]
    assert error["hint"]
    assert "Traceback" not in err


@pytest.mark.parametrize(("flag", "hint"), [("--max-kl", "Write none for no bound."), ("--max-ttft", "Leave it out")])
def test_a_bound_of_zero_says_how_to_have_none(run: Run, flag: str, hint: str) -> None:
    _, out, _ = run(*LEAST, flag, "0", "--json")
    assert json.loads(out)["error"]["hint"].startswith(hint)


@pytest.mark.parametrize(("text", "headroom"), [("12.5", 12.5), (".5", 0.5), ("1e1", 10.0), ("+7.", 7.0)])
def test_a_number_is_read_as_programs_write_it(run: Run, asked: list[Question], text: str, headroom: float) -> None:
    run(*LEAST, "--headroom", text)
    assert asked[0].headroom_percent == headroom


def test_without_json_a_refusal_is_a_sentence_on_standard_error(run: Run) -> None:
    status, out, err = run(*LEAST, "--capacity", "lots")
    assert (status, out) == (2, "")
    assert "“lots” is not a size of memory" in err


def test_a_missing_prompt_is_refused_too(run: Run) -> None:
    status, out, _ = run("SmolLM2-135M", "--answer", "3", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "bad_arguments")


def test_a_baseline_that_fails_is_a_failed_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def failing(*, question: Question, **_: Any) -> Iterator[World]:
        yield World(asked=question, record=record(), fails=lambda strategy, prompt: "a device-side assert")

    monkeypatch.setattr(profile, "ProcessBench", failing)
    status, out, _ = run(*SMALL, "--json")
    answer = json.loads(out)
    assert (status, answer["state"], answer["error"]["code"]) == (1, "failed", "baseline_failed")


def test_a_model_that_cannot_be_loaded_is_a_refusal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Unloadable(World):
        def load(self) -> Any:
            raise Refusal("load_failed", "There are no weights.", "Fetch them.")

    @contextmanager
    def bench(*, question: Question, **_: Any) -> Iterator[World]:
        yield Unloadable(asked=question, record=record())

    monkeypatch.setattr(profile, "ProcessBench", bench)
    status, out, _ = run(*SMALL, "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "load_failed")


def test_an_interrupt_ends_with_130_and_nothing_on_standard_output(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopping(World):
        def measure(self, ask: Any) -> Any:
            raise Cancelled

    @contextmanager
    def bench(*, question: Question, **_: Any) -> Iterator[World]:
        yield Stopping(asked=question, record=record())

    monkeypatch.setattr(profile, "ProcessBench", bench)
    status, out, err = run(*SMALL, "--json")
    assert (status, out) == (130, "")
    assert "Stopped" in err


@pytest.mark.django_db
def test_save_keeps_the_run_in_the_portal_and_says_where(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    out = StringIO()
    call_command("profile", *SMALL, "--save", "a small one", "--json", stdout=out)
    kept = KeptRun.objects.get()
    assert f"Kept as “a small one” in the portal in {settings.DATA_DIR}: /runs/{kept.pk}/" in capsys.readouterr().err
    assert json.loads(out.getvalue())["run"] == kept.pk
    assert kept.profile.name == "a small one"
    assert kept.stages["limit"]["context"] == 1_056
    assert sorted({m.strategy for m in kept.measurements.all()}) == ["default", "quantized:hqq:4", "static"]


def test_where_nothing_can_be_kept_nothing_is_measured(
    run: Run, asked: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise Refusal("old_database", "It is older.", "Start it.")

    monkeypatch.setattr(profile, "prepare_database", refuse)
    code, out, _ = run(*SMALL, "--save", "a small one", "--json")
    assert (code, json.loads(out)["error"]["code"], asked) == (2, "old_database", [])


def test_progress_on_a_terminal_shows_what_goes_on_and_clears_it() -> None:
    class Terminal:
        def __init__(self) -> None:
            self.text = ""

        def write(self, text: str) -> None:
            self.text += text

        def flush(self) -> None: ...

        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    progress = profile.Progress(stream=terminal)
    progress.tell("reading the model's layers")
    assert terminal.text.endswith("… reading the model's layers")
    progress.done()
    assert terminal.text.endswith("\r\x1b[K")


def test_a_capacity_is_read_in_binary_units(run: Run, asked: list[Question]) -> None:
    run(*LEAST, "--capacity", "280MiB")
    assert asked[0].capacity_bytes == 280 * MIB


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        (["--sequences", "999999999999"], "bad_sequences"),
        (["--prompt", "0"], "bad_prompt"),
        (["--headroom", "100"], "bad_headroom"),
        (["--min-speed", "1e308"], "bad_min_speed"),
        (["--device", "tpu"], "bad_device"),
        (["--device", "cuda:-1"], "bad_device"),
        (["--strategies", ",".join(f"chunked:{4 * n}" for n in range(1, 14))], "too_many_strategies"),
        (["--save", "  "], "bad_save"),
        (["--save", "x" * 121], "bad_save"),
    ],
)
def test_nonsense_is_refused_before_the_model_is_looked_at(
    run: Run, monkeypatch: pytest.MonkeyPatch, flags: list[str], code: str
) -> None:
    monkeypatch.delattr(profile, "resolve_model")
    stopped, out, _ = run(*LEAST, *flags, "--json")
    assert (stopped, json.loads(out)["error"]["code"]) == (2, code)


@pytest.mark.parametrize(
    ("device", "capacity_bytes", "code"), [("cuda:9", None, "bad_device"), ("cpu", 2 * GIB, "bad_capacity")]
)
def test_a_device_that_is_not_there_or_too_small_is_refused(device: str, capacity_bytes: int | None, code: str) -> None:
    question = Question(
        model="m",
        prompt_tokens=8,
        typical_prompt_tokens=4,
        answer_tokens=4,
        device=device,
        capacity_bytes=capacity_bytes,
    )
    with pytest.raises(Refusal) as refused:
        refuse_device(question, [{"device": "cpu", "name": "a CPU", "capacity_bytes": GIB}])
    assert refused.value.code == code
