"""The script for a GPU, rehearsed where there is none, so that it works the day there is one."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jobs.running.environment import SET
from jobs.running.process import ROOT
from tests.gpu.subjects import LLAMA_8B, ON_A_GPU

NO_GPU = {"CUDA_VISIBLE_DEVICES": "", "OMP_NUM_THREADS": "1", "DJANGO_SETTINGS_MODULE": "none"}
# As on a machine that has only torch and transformers.
WITHOUT_THE_PORTAL = (
    "import sys; sys.modules.update(django=None, celery=None); "
    "from tests.gpu.check import main; sys.argv[0] = 'gpu-check'; sys.exit(main())"
)


def checked(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_THE_PORTAL, *options],
        cwd=ROOT,
        env=os.environ | SET | NO_GPU,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    out: Path = tmp_path_factory.mktemp("check") / "check.json"
    done = checked("--rehearse", "--out", str(out))
    assert done.returncode == 0, done.stderr
    yield json.loads(out.read_text())


def test_without_a_gpu_it_says_so_and_ends_well() -> None:
    done = checked()
    assert done.returncode == 0
    assert "no CUDA device" in done.stderr


def test_every_row_of_the_rehearsal_holds(report: dict[str, Any]) -> None:
    names = [row["name"] for row in report["rows"]]
    assert [row["name"] for row in report["rows"] if not row["holds"]] == []
    assert {"weights as predicted", "a capacity that is too small", "usable after running out of memory"} <= set(names)
    assert len(names) == len({(row["subject"], row["name"]) for row in report["rows"]})


def test_a_measured_peak_stands_beside_its_prediction(report: dict[str, Any]) -> None:
    row = next(row["measured"] for row in report["rows"] if row["name"] == "default at 516")
    assert row["kv_bytes"] == 515 * 256
    assert row["peak_without_context_bytes"] == row["peak_bytes"]
    assert row["error_percent"] == pytest.approx(100 * (row["predicted_peak_bytes"] / row["peak_bytes"] - 1), abs=0.01)


def test_a_strategy_that_cannot_run_here_ends_as_a_recorded_outcome(report: dict[str, Any]) -> None:
    outcomes = {(row["subject"], row["name"]): (row["measured"] or {}).get("outcome") for row in report["rows"]}
    assert outcomes["a tiny llama", "offloaded at 516"] == "skipped"
    assert outcomes["a tiny mistral", "quantized:hqq:4 at 68"] == "failed"


def test_it_says_that_it_was_a_rehearsal_and_what_the_bus_carried(report: dict[str, Any]) -> None:
    assert report["rehearsal"] is True
    assert report["bus_bytes_per_s"]["to_device"] > 0


def test_on_a_gpu_the_model_is_llama_8b_by_its_known_cache() -> None:
    """128 KiB a token, as transformers' own caches of that model take."""
    assert ON_A_GPU[0].config == LLAMA_8B
    assert ON_A_GPU[0].token_bytes == 128 * 1024
    assert {"offloaded", "offloaded_static", "static", "chunked:512", "quantized:hqq:4"} <= set(ON_A_GPU[0].strategies)
