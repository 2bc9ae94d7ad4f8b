"""The profile command with the team's own prompts. The measuring is faked; a token is a word."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from io import StringIO
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command

from jobs.management.commands import profile
from jobs.management.commands.profile import Command
from jobs.models import PromptSet
from jobs.models import Run as KeptRun
from jobs.procedure.own_prompts import MOST_BYTES, OwnPrompts
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.procedure.question import Question
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests.procedure.worlds import World, record

PROMPTS = "\n".join([*(f"{'word ' * 101}" for _ in range(3)), "[1]", '{"prompt": "%s"}' % ("word " * 902), '""'])
FLAGS = ["SmolLM2-135M", "--answer", "32", "--capacity", "1GiB", "--strategies", "static"]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "prompts.jsonl"
    path.write_text(PROMPTS)
    return path


@pytest.fixture
def asked() -> list[tuple[Question, OwnPrompts]]:
    """What reached the bench."""
    return []


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: list[Any]) -> Run:
    @contextmanager
    def bench(*, question: Question, prompts: OwnPrompts, **_: Any) -> Iterator[World]:
        asked.append((question, prompts))
        yield World(asked=question, record=record())

    def count(spec: ModelSpec, texts: Sequence[str], **_: Any) -> PromptLengths:
        if spec.name == "no/tokenizer":
            raise Refusal("no_tokenizer", "There is none.", "Take another.")
        return PromptLengths.of([len(text.split()) for text in texts])

    monkeypatch.setattr(profile, "ProcessBench", bench)
    monkeypatch.setattr(profile, "_reading", lambda *_: nullcontext(SimpleNamespace(hello={"devices": []})))
    monkeypatch.setattr(profile, "_inspected", lambda *_: record())
    monkeypatch.setattr(profile, "count_prompts", count)
    monkeypatch.setattr(profile, "resolve_model", lambda text, **_: ModelSpec(kind=ModelKind.HUB, name=text))
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


def test_the_files_lengths_are_the_workload_where_none_was_given(run: Run, asked: list[Any], file: Path) -> None:
    code, out, err = run(*FLAGS, "--prompts", str(file), "--json")
    ((question, prompts),) = asked
    assert code == 0
    assert (question.prompt_tokens, question.typical_prompt_tokens) == (904, 104)
    assert question.prompts_sha256 == prompts.sha256 == hashlib.sha256(PROMPTS.encode()).hexdigest()
    assert len(prompts.texts) == 4
    assert json.loads(out)["prompts"] == {
        "count": 4,
        "p50": 101,
        "p95": 902,
        "longest": 902,
        "sha256": prompts.sha256,
        "bad_lines": [
            {
                "number": 4,
                "reason": 'it is a JSON array, not a string or an object with "prompt", "text" or "messages"',
            },
            {"number": 6, "reason": "its prompt is empty"},
        ],
    }
    assert "Own prompts: 4, p50 101, p95 902, longest 902 tokens" in err
    assert "Line 4 of the prompts is not used: it is a JSON array" in err
    assert "Line 6" in err and "word" not in err


def test_lengths_that_were_given_stand(run: Run, asked: list[Any], file: Path) -> None:
    run(*FLAGS, "--prompts", str(file), "--prompt", "2000", "--typical-prompt", "300")
    run(*FLAGS, "--prompts", str(file), "--prompt", "64")
    lengths = [(question.prompt_tokens, question.typical_prompt_tokens) for question, _ in asked]
    assert lengths == [(2000, 300), (64, 64)]


def test_without_a_file_the_prompts_are_random_tokens(run: Run, asked: list[Any]) -> None:
    _, out, _ = run(*FLAGS, "--prompt", "1024", "--json")
    ((question, prompts),) = asked
    assert prompts is None and question.prompts_sha256 is None
    assert "prompts" not in json.loads(out)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (None, "no such file"),
        (b"", "holds no prompt"),
        (b"\x80\x81", "line 1: it is not UTF-8"),
        (b"x" * (MOST_BYTES + 5), "may have 8,388,608"),
        (b"x\n" * 10_001, "more than 10,000 lines"),
    ],
    ids=["missing", "empty", "binary", "too large", "10,001 lines"],
)
def test_a_file_that_is_none_is_refused_before_the_model_is_looked_at(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, sentence: str
) -> None:
    monkeypatch.delattr(profile, "resolve_model")
    path = tmp_path / "prompts.txt"
    if content is not None:
        path.write_bytes(content)
    status, out, _ = run(*FLAGS, "--prompts", str(path), "--json")
    error = json.loads(out)["error"]
    assert (status, error["code"]) == (2, "bad_prompts")
    assert sentence in error["message"] and error["hint"]


def test_a_name_that_is_empty_is_no_file_rather_than_none_asked_for(run: Run) -> None:
    status, out, _ = run(*FLAGS, "--prompt", "64", "--prompts", "", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "bad_prompts")


def test_a_pipe_that_nobody_writes_to_is_empty_and_not_waited_for(run: Run, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    status, out, _ = run(*FLAGS, "--prompts", str(tmp_path / "pipe"), "--json")
    assert status == 2
    assert "holds no prompt" in json.loads(out)["error"]["message"]


def test_a_pipe_is_read_to_its_end_however_slowly_it_comes(run: Run, asked: list[Any]) -> None:
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "w") as pipe:
            for line in PROMPTS.splitlines(keepends=True):
                pipe.write(line)
                pipe.flush()

    writer = Thread(target=write)
    writer.start()
    status, _, _ = run(*FLAGS, "--prompts", f"/dev/fd/{reading}", "--json")
    writer.join()
    os.close(reading)
    ((_, prompts),) = asked
    assert (status, len(prompts.texts)) == (0, 4)


def test_other_flags_are_read_before_the_prompts_are_counted(
    run: Run, monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.delattr(profile, "resolve_model")
    status, out, _ = run(*FLAGS, "--prompts", str(file), "--typical-prompt", "many", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "bad_typical_prompt")
    status, out, _ = run(*FLAGS, "--prompts", str(file), "--headroom", "99", "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "bad_headroom")


def test_a_model_without_a_tokenizer_takes_no_prompts_of_ones_own(run: Run, file: Path) -> None:
    status, out, _ = run("no/tokenizer", "--answer", "32", "--prompts", str(file), "--json")
    assert (status, json.loads(out)["error"]["code"]) == (2, "no_tokenizer")


def test_of_many_bad_lines_the_first_are_told_and_the_rest_counted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "prompts.txt"
    path.write_text("good\n" + "[]\n" * 25)
    _, out, err = run(*FLAGS, "--prompts", str(path), "--json")
    assert err.count("is not used") == 20
    assert "5 more lines are not used" in err
    assert len(json.loads(out)["prompts"]["bad_lines"]) == 25


@pytest.mark.django_db
def test_a_saved_answer_can_be_measured_again_with_its_prompts(run: Run, file: Path) -> None:
    call_command("profile", *FLAGS, "--prompts", str(file), "--save", "ours", stdout=StringIO())
    kept = PromptSet.objects.get()
    assert (kept.name, kept.count) == ("prompts.jsonl", 4)
    assert KeptRun.objects.get().question["prompts_sha256"] == kept.sha256
