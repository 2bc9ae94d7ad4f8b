"""The size command: its figures, its table, and every bad value refused with exit code 2."""

import json
import os
import subprocess
import sys
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.core.management import load_command_class

from jobs.management.commands import size
from tests.sizing.records import GROWING, record

LLAMA_8B = ["Llama-3.1-8B", "--tokens", "16000", "128000", "--dtype", "float16"]


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of `manage.py size …`."""
    command = load_command_class("jobs", "size")
    try:
        command.run_from_argv(["manage.py", "size", *arguments])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    else:
        code = 0
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def test_llama_8b_takes_the_published_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, *LLAMA_8B, "--json")
    answer = json.loads(out)
    assert code == 0
    assert [point["kv_bytes"] for point in answer["points"]] == [2_097_152_000, 16_777_216_000]
    assert (answer["parameters"], answer["weights_bytes"]) == (8_030_261_248, 16_060_522_496)
    assert (answer["native_context"], answer["window_tokens"]) == (131_072, None)
    assert answer["layers"] == {"growing": 32, "windowed": 0, "fixed": 0, "shared": 0}
    for point in answer["points"]:
        cache = point["kv_prefill_bytes"] if point["peak_phase"] == "prefill" else point["kv_bytes"]
        assert point["peak_bytes"] == answer["weights_bytes"] + cache + point["working_bytes"]


def test_a_windowed_model_is_told_in_a_table_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "gemma-3-270m", "--tokens", "8,192", "--sequences", "2", "--strategy", "static")
    assert code == 0
    assert "3 growing, 15 windowed (window of 512 tokens)" in out
    assert "268,098,176" in out
    (point,) = (line for line in out.splitlines() if "static" in line)
    assert "8,192" in point


def test_a_strategy_that_the_model_cannot_take_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "gemma-3-270m", "--strategy", "quantized:fp8", "--tokens", "16", "--json")
    assert (code, json.loads(out)["error"]["code"]) == (2, "not_applicable")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["gpt2", "--tokens", "0"], "bad_arguments"),
        (["gpt2", "--tokens", "-5"], "bad_arguments"),
        (["gpt2", "--tokens", "1000000000000"], "bad_arguments"),
        (["gpt2", "--tokens", "9" * 5000], "bad_arguments"),
        (["gpt2", "--tokens", "many"], "bad_arguments"),
        (["gpt2", "--tokens", "1e3"], "bad_arguments"),
        (["gpt2", "--tokens"], "bad_arguments"),
        (["gpt2", "--sequences", "0"], "bad_arguments"),
        (["gpt2", "--no-such-flag"], "bad_arguments"),
        (["gpt2", "--attention", "org/kernel"], "bad_arguments"),
        ([], "bad_arguments"),
        (["gpt2", "--dtype", "int8"], "unknown_dtype"),
        (["gpt2", "--strategy", "magic"], "unknown_strategy"),
        (["/no/such/folder"], "unknown_model"),
        (["no such model"], "unknown_model"),
    ],
)
def test_a_bad_value_is_refused_in_json_and_in_words(
    capsys: pytest.CaptureFixture[str], arguments: list[str], error: str
) -> None:
    code, out, err = run(capsys, *arguments, "--json")
    refusal = json.loads(out)["error"]
    assert (code, refusal["code"], err) == (2, error, "")
    assert refusal["message"]
    assert refusal["hint"]
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert refusal["message"] in err
    assert "Traceback" not in err


def test_a_folder_without_a_config_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, out, _ = run(capsys, str(tmp_path), "--json")
    assert (code, json.loads(out)["error"]["code"]) == (2, "no_config")


SECOND_TIME = """
import sys
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", "size", "SmolLM2-135M", "--tokens", "100", "--json"])
assert not {"torch", "transformers"} & set(sys.modules), "the answer needed torch"
"""


def test_a_model_read_before_is_sized_in_a_moment_without_torch(
    capsys: pytest.CaptureFixture[str], settings: Any
) -> None:
    code, first, _ = run(capsys, "SmolLM2-135M", "--tokens", "100", "--json")
    assert code == 0
    began_s = monotonic()
    again = subprocess.run(
        [sys.executable, "-c", SECOND_TIME],
        env=os.environ | {"DATA": str(settings.DATA_DIR), "DJANGO_SETTINGS_MODULE": "kvportal.settings"},
        capture_output=True,
        check=True,
        text=True,
        timeout=60,
    )
    assert monotonic() - began_s < 5 * 2
    assert json.loads(again.stdout) == json.loads(first)


def test_a_record_is_made_anew_only_when_asked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path
) -> None:
    settings.RECORDS_DIR = tmp_path
    made: list[str] = []
    monkeypatch.setattr(size, "_inspected", lambda spec, asked: made.append(spec.name) or record(GROWING))
    for more, times in (([], 1), ([], 1), (["--fresh"], 2)):
        code, out, _ = run(capsys, "SmolLM2-135M", "--tokens", "100", "--json", *more)
        assert (code, json.loads(out)["parameters"], len(made)) == (0, record(GROWING).parameters, times)


def test_eager_attention_needs_its_scores(capsys: pytest.CaptureFixture[str]) -> None:
    def working(attention: str) -> int:
        _, out, _ = run(capsys, "SmolLM2-135M", "--tokens", "4096", "--attention", attention, "--json")
        point = json.loads(out)["points"][0]
        return int(point["working_bytes"])

    scores_bytes = 9 * 4096 * 4096 * 2
    assert working("eager") > working("sdpa") + scores_bytes


def test_sequences_filled_up_on_the_left_need_a_mask(capsys: pytest.CaptureFixture[str]) -> None:
    def working(*more: str) -> int:
        _, out, _ = run(capsys, "SmolLM2-135M", "--tokens", "2048", "--sequences", "2", *more, "--json")
        return int(json.loads(out)["points"][0]["working_bytes"])

    mask_bytes = 2 * 2048 * 2048
    assert working("--padded") >= working() + mask_bytes


def test_tokens_beyond_the_model_s_own_maximum_are_sized_and_said_to_be_so(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "SmolLM2-135M", "--tokens", "8192", "10000", "--json")
    assert [point["beyond_native_context"] for point in json.loads(out)["points"]] == [False, True]
    _, out, _ = run(capsys, "SmolLM2-135M", "--tokens", "8192", "10000")
    assert "SmolLM2-135M reads at most 8,192 tokens: not 10,000." in out
    assert "Working memory is that of passes with a CPU's kernels" in out
