"""A point's whole way on a card, over a stand-in: a model that takes memory of the books and no GPU."""

import gc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from transformers import AutoConfig

from jobs.measuring.card_use import CardUse
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.loading import LoadedModel
from jobs.measuring.measure import Measured, Measurer
from jobs.measuring.nvml import Nvml
from jobs.procedure.measurement import Ask, Outcome
from jobs.sizing.strategy import BASELINE
from jobs.sizing.units import GIB, MIB
from tests.measuring.conftest import LLAMA
from tests.measuring.fake_cuda import FakeCuda, listed

OTHER_PID = 4_000_001
TOKEN_BYTES = 10 * MIB
WEIGHTS_BYTES = 4 * GIB
CONTEXT_BYTES = 500 * MIB


class Takes(torch.nn.Module):
    """generate() that takes 10 MiB a token while it runs; `meanwhile` happens in the middle of it."""

    def __init__(self, cuda: FakeCuda) -> None:
        super().__init__()
        fields = dict(LLAMA)
        self.config = AutoConfig.for_model(fields.pop("model_type"), **fields)
        self.cuda = cuda
        self.calls = 0
        self.meanwhile: Callable[[], None] = lambda: None

    def forward(self, ids: torch.Tensor) -> dict[str, Any]:
        return {"cache": None}

    def generate(self, ids: torch.Tensor, *, generation_config: Any, streamer: Any = None, **_: Any) -> None:
        self.calls += 1
        self(ids)
        tokens = generation_config.max_new_tokens if streamer else 2
        taken = TOKEN_BYTES * (ids.shape[1] + tokens)
        self.cuda.allocate(taken)
        try:
            self.meanwhile()
            self.cuda.synchronize()
        finally:
            self.cuda.free(taken)
        if streamer:
            streamer.put(ids)
            for _ in range(tokens):
                streamer.put(ids[:, :1])
            streamer.end()


class Rig:
    def __init__(self, cuda: FakeCuda) -> None:
        use = CardUse(name="cuda:0", uuid=cuda.cards[0].uuid, torch_device=torch.device("cuda", 0), nvml=Nvml.opened())
        use.open_context()
        cuda.allocate(WEIGHTS_BYTES)
        self.cuda, self.model, self.told = cuda, Takes(cuda), list[str]()
        loaded = LoadedModel(
            model=self.model,
            device="cpu",
            dtype="float16",
            attention="sdpa",
            weights_bytes=WEIGHTS_BYTES,
            load_s=0.0,
            random_weights=True,
        )
        self.measurer = Measurer(loaded, CudaMemory([use], weights_bytes={"cuda:0": WEIGHTS_BYTES}))

    def measure(self, *, capacity_bytes: int = 24 * GIB, prompt_tokens: int = 96) -> Measured:
        ask = Ask(
            stage="baseline",
            strategy=BASELINE,
            prompt_tokens=prompt_tokens,
            answer_tokens=4,
            sequences=1,
            capacity_bytes=capacity_bytes,
        )
        return self.measurer.measure(ask, enforce=True, tell=self.told.append)


@pytest.fixture
def rig(monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    monkeypatch.setattr(gc, "collect", lambda: 0)  # a test run's heap is large, and holds no cache here
    yield Rig(listed().install(monkeypatch))
    gc.unfreeze()


def test_a_point_s_working_memory_includes_the_context(rig: Rig) -> None:
    found = rig.measure().measurement
    assert found.outcome is Outcome.OK
    assert found.peak_bytes == WEIGHTS_BYTES + CONTEXT_BYTES + 100 * TOKEN_BYTES
    assert found.reserved_bytes == found.peak_bytes  # whole segments
    assert found.device_used_bytes == found.reserved_bytes
    assert (found.by_device or {})["cuda:0"]["context_bytes"] == CONTEXT_BYTES
    assert found.tainted is None


def test_beyond_the_capacity_it_is_out_of_memory_and_the_process_goes_on(rig: Rig) -> None:
    capacity_bytes = WEIGHTS_BYTES + CONTEXT_BYTES + 99 * TOKEN_BYTES  # the warm-up's 98 tokens fit
    refused = rig.measure(capacity_bytes=capacity_bytes)
    assert refused.measurement.outcome is Outcome.OUT_OF_MEMORY
    assert (refused.measurement.error or {})["code"] == "out_of_memory"
    assert not refused.restart
    assert rig.measure().measurement.outcome is Outcome.OK


def test_an_assert_on_the_device_is_told_as_that_and_ends_the_process(rig: Rig) -> None:
    def asserted() -> None:
        rig.cuda.asserted = True

    rig.model.meanwhile = asserted
    found = rig.measure()
    assert (found.measurement.error or {})["code"] == "device_assert"
    assert found.measurement.outcome is Outcome.FAILED
    assert found.restart


def taking(rig: Rig, times: int) -> None:
    """In each of the first measured passes another process takes 2 GiB, and keeps them."""
    left = [times]

    def take() -> None:
        if rig.model.calls > 1 and left[0]:  # the first call warms up
            left[0] -= 1
            rig.cuda.cards[0].others[OTHER_PID] = 2 * rig.model.calls * GIB

    rig.model.meanwhile = take


def test_a_point_that_another_process_disturbed_is_measured_again_once(rig: Rig) -> None:
    taking(rig, 1)
    found = rig.measure().measurement
    assert (found.outcome, found.tainted, found.repeats) == (Outcome.OK, None, 1)
    assert rig.model.calls == 3
    assert f"During this measurement process {OTHER_PID} took 4 GiB of cuda:0. Measuring it again." in rig.told


def test_a_point_that_is_disturbed_again_keeps_its_figures_and_says_so(rig: Rig) -> None:
    taking(rig, 9)
    found = rig.measure().measurement
    assert found.outcome is Outcome.OK
    assert rig.model.calls == 3
    assert "took 2 GiB of cuda:0" in (found.tainted or "")


def test_memory_that_another_took_is_not_this_model_s_limit(rig: Rig) -> None:
    """Out of memory since somebody else filled the card: with him gone the point fits."""
    card = rig.cuda.cards[0]

    def fill() -> None:
        card.others.pop(OTHER_PID, None)
        if rig.model.calls == 2:
            card.others[OTHER_PID] = 70 * GIB
            rig.cuda.allocate(10 * GIB)

    rig.model.meanwhile = fill
    found = rig.measure(capacity_bytes=80 * GIB).measurement
    assert found.outcome is Outcome.OK, found.error
    assert rig.model.calls == 3
