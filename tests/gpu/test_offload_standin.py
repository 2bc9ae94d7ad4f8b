"""Offloading played on a CPU: a real measuring process, real runs, a file in the place of CPU RAM."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.procedure.measurement import Ask, Loaded, Measurement, Outcome
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.strategy import Strategy
from jobs.sizing.units import GIB, MIB
from tests.gpu.offload_standin import KIND, NAMED, write_python
from tests.measuring.conftest import LLAMA, TOKEN_ELEMENTS

PATIENCE_S = 120.0
LAYERS = 4
PROMPT, ANSWER = 2048, 4
LAYER_BYTES = (PROMPT + ANSWER - 1) * TOKEN_ELEMENTS * 4 // LAYERS
BUS_BYTES_PER_S = 400 * MIB
Found = dict[str, Measurement]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loaded, Found]]:
    """The tiny Llama in float32, measured through a program that a portal could be given as its MEASURING_PYTHON."""
    python: Path = tmp_path_factory.mktemp("offload") / "python"
    write_python(python, bus_bytes_per_s=BUS_BYTES_PER_S)
    spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config=LLAMA, random_weights=True)
    with MeasuringProcess(environment=os.environ | {"OMP_NUM_THREADS": "1"}, python=str(python)) as process:
        loaded = process.request(
            "load", patience_s=PATIENCE_S, model=spec.as_json(), dtype="float32", device="cpu", attention="sdpa"
        )
        yield Loaded(**loaded), {name: measured(process, name) for name in ("default", "offloaded", "offloaded_static")}


def measured(process: MeasuringProcess, strategy: str) -> Measurement:
    ask = Ask(
        stage="baseline",
        strategy=Strategy.parse(strategy),
        prompt_tokens=PROMPT,
        answer_tokens=ANSWER,
        sequences=1,
        capacity_bytes=GIB,
    )
    return Measurement.from_json(process.request("measure", patience_s=PATIENCE_S, enforce=True, **ask.as_json()))


def test_the_device_is_named_as_what_it_is(played: tuple[Loaded, Found]) -> None:
    loaded, _ = played
    assert NAMED in loaded.device["name"]
    assert NAMED in loaded.environment["device_name"]
    assert loaded.device["kind"] == KIND


@pytest.mark.parametrize("strategy", ["offloaded", "offloaded_static"])
def test_two_layers_are_on_the_device_and_the_others_elsewhere(played: tuple[Loaded, Found], strategy: str) -> None:
    found, whole = played[1][strategy], played[1]["default"]
    assert found.outcome is Outcome.OK, found.error
    assert (found.kv_bytes or 0) + (found.host_bytes or 0) == pytest.approx(LAYERS * LAYER_BYTES, rel=0.01)
    assert (found.host_bytes or 0) >= (LAYERS - 2) * LAYER_BYTES
    saved = (whole.peak_bytes or 0) - (found.peak_bytes or 0)
    # One layer or two, by where in the prefill the peak stands.
    assert (LAYERS - 2) * LAYER_BYTES - 2 * MIB < saved < (LAYERS - 1) * LAYER_BYTES + 2 * MIB


@pytest.mark.parametrize("strategy", ["offloaded", "offloaded_static"])
def test_no_token_comes_sooner_than_the_bus_brings_the_cache(played: tuple[Loaded, Found], strategy: str) -> None:
    step_s = 1 / (played[1][strategy].decode_tokens_per_s or 1e9)
    assert step_s > LAYERS * LAYER_BYTES / BUS_BYTES_PER_S


def test_the_normal_cache_is_what_it_is_without_the_stand_in(played: tuple[Loaded, Found]) -> None:
    found = played[1]["default"]
    assert (found.kv_bytes, found.host_bytes) == (LAYERS * LAYER_BYTES, 0)
