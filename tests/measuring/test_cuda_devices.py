"""Which cards there are, by what name and UUID, and whether they are free: over a stand-in, no GPU takes part."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from jobs.measuring import nvml as nvml_module
from jobs.measuring.busy_cards import PATIENCE_S, wait_until_free
from jobs.measuring.cuda_cards import CudaCards, refuse_emulated
from jobs.measuring.devices import device, devices, torch_devices
from jobs.measuring.environment import environment
from jobs.measuring.nvml import FIRST_PID_NAMESPACE, Nvml, program_name
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, MIB
from tests.measuring.fake_cuda import FakeCard, FakeCuda, listed

OTHER_PID = 4_000_001
FIRST = "GPU-aaaaaaaa-0000-0000-0000-000000000000"
SECOND = "GPU-bbbbbbbb-0000-0000-0000-000000000000"


def quiet(_message: str) -> None: ...


def two() -> FakeCuda:
    return listed(FakeCard(), FakeCard(uuid=SECOND, name="Tesla T4", total_bytes=16 * GIB, capability=(7, 5)))


def cut_up() -> FakeCuda:
    slices = [
        FakeCard(uuid=f"MIG-{number}", name="NVIDIA A100-SXM4-80GB MIG 3g.40gb", total_bytes=40 * GIB)
        for number in (1, 2)
    ]
    return listed(FakeCard(slices=slices))


def test_a_card_is_listed_with_its_uuid_capability_and_whole_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    two().install(monkeypatch)
    first, second, cpu = devices()
    assert first == {
        "device": "cuda:0",
        "kind": "cuda",
        "name": "NVIDIA A100-SXM4-80GB",
        "capacity_bytes": 80 * GIB,
        "uuid": FIRST,
        "mig": False,
        "compute_capability": "8.0",
        "multiprocessors": 108,
    }
    assert (second["device"], second["uuid"], second["compute_capability"]) == ("cuda:1", SECOND, "7.5")
    assert cpu["device"] == "cpu"


def test_without_nvml_the_uuid_is_torch_s(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(with_nvml=False).install(monkeypatch)
    assert devices()[0]["uuid"] == FIRST


def test_of_a_card_cut_up_by_mig_every_slice_is_listed_with_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_up().install(monkeypatch)
    first, second, _cpu = devices()
    assert (first["device"], first["uuid"], first["mig"], first["capacity_bytes"]) == (
        "cuda:0",
        "MIG-1",
        True,
        40 * GIB,
    )
    assert (second["device"], second["uuid"], second["mig"]) == ("cuda:1", "MIG-2", True)
    with pytest.raises(KeyError):
        torch_devices("cuda:1")


def test_a_slice_whose_card_torch_names_is_the_first_of_that_card(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = cut_up().install(monkeypatch)
    monkeypatch.setattr(FakeCard, "bare_uuid", cuda.cards[0].uuid.removeprefix("GPU-"))
    assert devices()[0]["uuid"] == "MIG-1"


def test_without_nvml_a_slice_is_known_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = FakeCuda(FakeCard(uuid="MIG-1", name="NVIDIA A100 MIG 1g.10gb"), with_nvml=False)
    cuda.install(monkeypatch)
    assert devices()[0]["uuid"] == "MIG-1"


def test_a_bound_process_calls_its_cards_what_they_are_called_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(FakeCard(uuid=SECOND)).install(monkeypatch)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-bbbb")
    monkeypatch.setenv("MEASURED_DEVICES", "cuda:3")
    found = device("cuda:3")
    assert found is not None
    assert found["uuid"] == SECOND
    assert device("cuda:0") is None
    assert torch_devices("cuda:3") == [torch.device("cuda", 0)]


def test_several_cards_are_one_device_of_the_smallest_s_capacity_times_their_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    two().install(monkeypatch)
    found = device("cuda:0,cuda:1")
    assert found is not None
    assert (found["capacity_bytes"], found["name"]) == (32 * GIB, "NVIDIA A100-SXM4-80GB + Tesla T4")
    assert [card["uuid"] for card in found["cards"]] == [FIRST, SECOND]


def test_equal_cards_are_named_once(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(FakeCard(), FakeCard(uuid=SECOND)).install(monkeypatch)
    assert (device("cuda:0,cuda:1") or {})["name"] == "2 × NVIDIA A100-SXM4-80GB"


@pytest.mark.parametrize("name", ["cuda:2", "cuda:0,cuda:2", "cuda:0,cuda:0", "cuda:0,cpu", ""])
def test_what_is_no_set_of_cards_is_no_device(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    two().install(monkeypatch)
    assert device(name) is None


def test_a_program_is_named_without_its_arguments_and_never_by_a_container_s_numbers(tmp_path: Path) -> None:
    (tmp_path / "self/ns").mkdir(parents=True)
    (tmp_path / "self/ns/pid").symlink_to(FIRST_PID_NAMESPACE)
    (tmp_path / "7").mkdir()
    (tmp_path / "7/comm").write_text("python\n")
    assert program_name(7, tmp_path) == "python"
    assert program_name(8, tmp_path) == ""
    (tmp_path / "self/ns/pid").unlink()
    (tmp_path / "self/ns/pid").symlink_to("pid:[4026532000]")
    assert program_name(7, tmp_path) == ""


class Wait:
    """A clock that only pausing moves; after `frees_after_s` the card's others are gone."""

    def __init__(self, cuda: FakeCuda, *, frees_after_s: float = 1e9) -> None:
        self.cuda, self.frees_after_s = cuda, frees_after_s
        self.now_s = 0.0
        self.told: list[str] = []

    def pause(self, seconds: float) -> None:
        self.now_s += seconds
        if self.now_s >= self.frees_after_s:
            self.cuda.cards[0].others.clear()

    def run(self, *, own_pids: tuple[int, ...] = (), own_context: bool = False) -> None:
        nvml = Nvml.opened()
        assert nvml is not None
        wait_until_free(
            {"cuda:0": FIRST},
            nvml,
            own_pids=own_pids,
            own_context=own_context,
            tell=self.told.append,
            clock=lambda: self.now_s,
            pause=self.pause,
        )


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(nvml_module, "program_name", lambda pid: "python")
    yield


@pytest.mark.usefixtures("named")
def test_a_busy_card_is_waited_for_and_who_holds_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Wait(listed(FakeCard(others={OTHER_PID: 3 * GIB})).install(monkeypatch), frees_after_s=25)
    wait.run()
    assert wait.told[0] == f"cuda:0 is in use by process {OTHER_PID} (python), 3 GiB. Waiting for the card."
    assert len(wait.told) == 3  # at once, then every ten seconds
    assert wait.now_s < 30


@pytest.mark.usefixtures("named")
def test_a_card_that_stays_busy_is_refused_naming_every_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Wait(listed(FakeCard(others={OTHER_PID: 3 * GIB, OTHER_PID + 1: None})).install(monkeypatch))
    with pytest.raises(Refusal) as refused:
        wait.run()
    assert refused.value.code == "device_busy"
    assert f"process {OTHER_PID} (python), 3 GiB, process {OTHER_PID + 1} (python)" in refused.value.message
    assert PATIENCE_S < wait.now_s < PATIENCE_S + 5


@pytest.mark.parametrize(
    "card",
    [
        FakeCard(),
        FakeCard(others={OTHER_PID: 10 * MIB}),
        FakeCard(displays={OTHER_PID: 3 * GIB}),
        FakeCard(unlisted_bytes=300 * MIB),
    ],
)
def test_an_idle_process_a_display_and_the_driver_s_own_part_do_not_make_a_card_busy(
    monkeypatch: pytest.MonkeyPatch, card: FakeCard
) -> None:
    wait = Wait(listed(card).install(monkeypatch))
    wait.run()
    assert wait.told == []


def test_memory_in_hands_that_the_driver_does_not_name_makes_a_card_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    wait = Wait(FakeCuda(FakeCard(unlisted_bytes=3 * GIB)).install(monkeypatch))
    with pytest.raises(Refusal, match="3 GiB in use by processes that its driver does not name"):
        wait.run()


def test_this_process_itself_does_not_make_a_card_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = listed().install(monkeypatch)
    torch.zeros(1, device="cuda:0")
    cuda.allocate(20 * GIB)
    wait = Wait(cuda)
    wait.run(own_pids=(os.getpid(),), own_context=True)
    assert wait.told == []


def card(**changes: Any) -> dict[str, Any]:
    return {
        "device": "cuda:0",
        "kind": "cuda",
        "name": "Tesla T4",
        "uuid": FIRST,
        "compute_capability": "7.5",
    } | changes


def test_bfloat16_that_a_card_only_emulates_is_refused_with_what_to_use() -> None:
    with pytest.raises(Refusal) as refused:
        refuse_emulated([card()], "bfloat16")
    assert refused.value.code == "unsupported_dtype"
    assert "7.5" in refused.value.message and "float16" in refused.value.hint


@pytest.mark.parametrize(
    ("capability", "dtype"), [("8.0", "bfloat16"), ("12.0", "bfloat16"), ("7.5", "float16"), (None, "bfloat16")]
)
def test_what_a_card_has_of_its_own_is_not_refused(capability: str | None, dtype: str) -> None:
    refuse_emulated([card(compute_capability=capability)], dtype)


def opened(cuda: FakeCuda, name: str = "cuda:0") -> tuple[CudaCards, dict[str, Any], str]:
    cards, found = CudaCards(Nvml.opened()), device(name)
    assert found is not None
    return cards, found, cards.open(found, dtype="float16", tell=quiet)


def test_a_loaded_device_s_environment_names_card_context_and_allocator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
    cards, found, name = opened(two().install(monkeypatch), "cuda:0,cuda:1")
    assert name == "cuda:0,cuda:1"
    assert cards.environment(found) == {
        "device_uuid": f"{FIRST},{SECOND}",
        "compute_capability": "8.0,7.5",
        "cuda_context_bytes": 1000 * MIB,
        "allocator": "expandable_segments:True",
    }


def test_without_nvml_the_context_is_said_to_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    FakeCuda(with_nvml=False).install(monkeypatch)
    told: list[str] = []
    cards, found = CudaCards(Nvml.opened()), devices()[0]
    cards.open(found, dtype="float16", tell=told.append)
    assert cards.environment(found)["cuda_context_bytes"] is None
    assert "not known without NVML" in told[0]


def test_a_second_model_in_the_same_process_finds_its_card_free_and_its_context_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cuda = listed().install(monkeypatch)
    cards, found, _ = opened(cuda)
    cuda.allocate(20 * GIB)
    cards.open(found, dtype="float16", tell=quiet)
    assert cards.environment(found)["cuda_context_bytes"] == 500 * MIB


def test_weights_are_counted_on_the_card_that_holds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    cards, _found, _ = opened(two().install(monkeypatch), "cuda:0,cuda:1")
    memory = cards.memory(torch.nn.Linear(4, 4))  # on the CPU: on neither card
    memory.begin()
    memory.start()
    memory.peak_bytes()
    assert {name: one["weights_bytes"] for name, one in memory.figures()["by_device"].items()} == {
        "cuda:0": 0,
        "cuda:1": 0,
    }


def test_a_slice_that_this_process_does_not_see_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    cut_up().install(monkeypatch)
    found = device("cuda:1")
    assert found is not None
    with pytest.raises(Refusal) as refused:
        CudaCards(Nvml.opened()).open(found, dtype="float16", tell=quiet)
    assert "does not see cuda:1" in refused.value.message


def test_the_driver_stands_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    listed().install(monkeypatch)
    found = environment(device=devices()[0], dtype="float16", attention="sdpa", revision=None, config_hash="x")
    assert (found["driver"], found["device"], found["device_name"]) == ("580.65.06", "cuda:0", "NVIDIA A100-SXM4-80GB")


def test_a_driver_that_answers_nothing_of_a_card_leaves_it_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    listed().install(monkeypatch)
    nvml = Nvml.opened()
    assert nvml is not None
    assert (nvml.used_bytes("GPU-none"), nvml.holders("GPU-none"), nvml.displayed_bytes("GPU-none")) == (None, None, 0)


def test_a_library_without_a_driver_is_no_nvml(monkeypatch: pytest.MonkeyPatch) -> None:
    class NVMLError(Exception):
        pass

    def refuse() -> None:
        raise NVMLError

    monkeypatch.setitem(__import__("sys").modules, "pynvml", SimpleNamespace(NVMLError=NVMLError, nvmlInit=refuse))
    assert Nvml.opened() is None
