"""The books of CUDA memory, over a stand-in for torch.cuda and NVML: no GPU takes part."""

import gc
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from jobs.measuring.cache_bytes import used_bytes
from jobs.measuring.card_use import CardUse
from jobs.measuring.cuda_memory import CudaMemory
from jobs.measuring.nvml import Nvml
from jobs.sizing.units import GIB, MIB
from tests.measuring.fake_cuda import FakeCard, FakeCuda, listed

OTHER_PID = 4_000_001
SECOND = FakeCard(uuid="GPU-bbbbbbbb-0000-0000-0000-000000000000")
Install = Callable[[FakeCuda], FakeCuda]


@pytest.fixture
def install(monkeypatch: pytest.MonkeyPatch) -> Install:
    monkeypatch.setattr(gc, "collect", lambda: 0)  # a test run's heap is large, and holds no cache here
    return lambda cuda: cuda.install(monkeypatch)


def opened(cuda: FakeCuda, index: int = 0) -> CardUse:
    uuid = cuda.cards[index].uuid
    use = CardUse(name=f"cuda:{index}", uuid=uuid, torch_device=torch.device("cuda", index), nvml=Nvml.opened())
    use.open_context()
    return use


def memory_of(cuda: FakeCuda) -> CudaMemory:
    memory = CudaMemory([opened(cuda, index) for index in range(len(cuda.cards))])
    memory.begin()
    return memory


def test_the_context_is_what_nvml_counts_for_this_process_beyond_its_tensors(install: Install) -> None:
    use = opened(install(listed(FakeCard(others={OTHER_PID: 3 * GIB}))))
    assert (use.context_bytes, use.context_is_known) == (500 * MIB, True)


@pytest.mark.parametrize("knows_v2", [True, False])
def test_where_the_driver_lists_nobody_the_context_is_the_rise_since_before_it(
    install: Install, knows_v2: bool
) -> None:
    cuda = FakeCuda(FakeCard(unlisted_bytes=3 * GIB))
    cuda.lists_processes, cuda.knows_v2 = False, knows_v2
    assert opened(install(cuda)).context_bytes == 500 * MIB


def test_in_a_container_this_process_is_the_one_that_is_new(install: Install) -> None:
    cuda = install(FakeCuda(FakeCard(others={OTHER_PID: GIB}), own_pid=OTHER_PID + 1))
    use = opened(cuda)
    assert use.pid == OTHER_PID + 1
    assert [holder.pid for holder in use.holders()] == [OTHER_PID]


def test_without_nvml_the_context_is_unknown_and_counts_as_nothing(install: Install) -> None:
    use = opened(install(FakeCuda(with_nvml=False)))
    assert (use.context_bytes, use.context_is_known) == (0, False)
    assert use.used_bytes() == 500 * MIB
    use.watch()
    use.note()
    assert use.taken_by_others() is None


def test_kernels_loaded_later_belong_to_the_context(install: Install) -> None:
    cuda = install(listed())
    use = opened(cuda)
    cuda.cards[0].context_bytes += 300 * MIB
    use.grow_context()
    assert use.context_bytes == 800 * MIB


def test_without_a_figure_of_this_process_a_rise_counts_as_kernels_only_up_to_a_bound(install: Install) -> None:
    cuda = install(FakeCuda())
    use = opened(cuda)
    cuda.cards[0].unlisted_bytes = 5 * GIB
    use.grow_context()
    assert use.context_bytes == (500 + 256) * MIB


def test_peak_reserved_and_device_wide_are_told_apart(install: Install) -> None:
    cuda = install(listed(FakeCard(others={OTHER_PID: GIB})))
    memory = memory_of(cuda)
    memory.start()
    cuda.allocate(101 * MIB)
    cuda.free(51 * MIB)
    assert memory.peak_bytes() == (500 + 101) * MIB
    figures = memory.figures()
    assert figures["reserved_bytes"] == (500 + 102) * MIB
    assert figures["device_used_bytes"] == GIB + (500 + 102) * MIB
    assert figures["by_device"] == {
        "cuda:0": {
            "peak_bytes": (500 + 101) * MIB,
            "reserved_bytes": (500 + 102) * MIB,
            "device_used_bytes": GIB + (500 + 102) * MIB,
            "context_bytes": 500 * MIB,
        }
    }


def test_start_forgets_the_peak_of_the_pass_before(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    memory.start()
    cuda.allocate(GIB)
    cuda.free(GIB)
    assert memory.peak_bytes() == GIB + 500 * MIB
    memory.start()
    assert memory.peak_bytes() == 500 * MIB


def test_the_figures_are_of_the_point_s_fullest_pass_and_of_no_other_point(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    for size in (4 * MIB, 2 * MIB):
        memory.start()
        cuda.allocate(size)
        memory.peak_bytes()
        cuda.free(size)
    assert memory.figures()["reserved_bytes"] == 504 * MIB
    memory.begin()
    memory.start()
    memory.peak_bytes()
    assert memory.figures()["reserved_bytes"] == 500 * MIB


def test_a_capacity_below_the_card_s_is_enforced_with_the_context_inside_it(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    with memory.limited_to(24 * GIB):
        assert cuda.cards[0].fraction * 80 * GIB == pytest.approx(24 * GIB - 500 * MIB)
        cuda.allocate(23 * GIB)
        with pytest.raises(torch.OutOfMemoryError, match="out of memory"):
            cuda.allocate(GIB)
    cuda.allocate(GIB)
    assert cuda.cards[0].fraction == 1.0


def test_what_is_reserved_counts_against_the_capacity(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    with memory.limited_to(500 * MIB + 3 * MIB), pytest.raises(torch.OutOfMemoryError):
        cuda.allocate(2 * MIB + 1)  # two whole segments: 4 MiB


@pytest.mark.parametrize(("capacity_bytes", "part"), [(400 * MIB, 0.0), (200 * GIB, 1.0)])
def test_a_capacity_below_the_context_leaves_nothing_and_one_beyond_the_card_all(
    install: Install, capacity_bytes: int, part: float
) -> None:
    cuda = install(listed())
    with memory_of(cuda).limited_to(capacity_bytes):
        assert cuda.cards[0].fraction == part


def test_the_limit_ends_with_an_error_too(install: Install) -> None:
    cuda = install(listed())
    with pytest.raises(torch.OutOfMemoryError), memory_of(cuda).limited_to(GIB):
        cuda.allocate(2 * GIB)
    assert cuda.cards[0].fractions[-1] == 1.0


def test_a_slice_s_limit_is_a_part_of_the_slice(install: Install) -> None:
    cuda = install(listed(FakeCard(uuid="MIG-1", name="NVIDIA A100 MIG 1g.10gb", total_bytes=10 * GIB)))
    with memory_of(cuda).limited_to(5 * GIB):
        assert cuda.cards[0].fraction * 10 * GIB == pytest.approx(5 * GIB - 500 * MIB)


def test_memory_that_another_process_takes_meanwhile_is_told_with_its_bytes(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    memory.start()
    cuda.cards[0].others[OTHER_PID] = 2 * GIB
    memory.peak_bytes()
    assert memory.tainted() == f"During this measurement process {OTHER_PID} took 2 GiB of cuda:0."


def test_a_process_that_was_there_and_grew_taints_and_one_that_stayed_does_not(install: Install) -> None:
    cuda = install(listed(FakeCard(others={OTHER_PID: GIB})))
    memory = memory_of(cuda)
    memory.start()
    memory.peak_bytes()
    assert memory.tainted() is None
    cuda.cards[0].others[OTHER_PID] = 3 * GIB
    memory.peak_bytes()
    assert memory.tainted() == "During this measurement other processes took 2 GiB of cuda:0."


def test_what_this_process_takes_itself_is_no_taint(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    memory.start()
    cuda.allocate(30 * GIB)
    memory.peak_bytes()
    assert memory.tainted() is None


def test_a_taint_of_one_pass_stays_with_the_point_and_goes_with_the_next(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    memory.start()
    cuda.cards[0].others[OTHER_PID] = 2 * GIB
    memory.peak_bytes()
    memory.start()
    memory.peak_bytes()
    assert memory.tainted()
    memory.begin()
    assert memory.tainted() is None


@pytest.mark.parametrize(("taken_bytes", "is_told"), [(200 * MIB, False), (300 * MIB, True)])
def test_where_the_driver_lists_nobody_a_rise_that_kernels_explain_is_no_taint(
    install: Install, taken_bytes: int, is_told: bool
) -> None:
    cuda = install(FakeCuda())
    memory = memory_of(cuda)
    memory.start()
    cuda.cards[0].unlisted_bytes = taken_bytes
    memory.peak_bytes()
    assert bool(memory.tainted()) is is_told


def test_an_offloading_cache_takes_the_pinned_memory_that_torch_took_for_it(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    memory.start()
    cuda.pin(96 * MIB)
    memory.peak_bytes()
    assert memory.host_bytes(80 * MIB) == 96 * MIB
    assert memory.host_bytes(100 * MIB) == 100 * MIB
    assert memory.host_bytes(0) == 0  # pinned for something else: this cache is all on the card


def test_pinned_blocks_of_an_earlier_point_are_given_back(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    cuda.pin(96 * MIB)
    memory.begin()
    memory.start()
    memory.peak_bytes()
    assert memory.host_bytes(1) == 1


def test_a_torch_that_does_not_count_pinned_memory_leaves_the_cache_s_own_figure(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = memory_of(install(listed()))
    monkeypatch.delattr(torch.cuda, "host_memory_stats")
    monkeypatch.delattr(torch.cuda, "reset_peak_host_memory_stats")
    memory.start()
    memory.peak_bytes()
    assert memory.host_bytes(7) == 7


def test_after_an_assert_on_the_device_the_memory_can_still_be_left(install: Install) -> None:
    cuda = install(listed())
    memory = memory_of(cuda)
    cuda.asserted = True
    memory.settle()
    with pytest.raises(RuntimeError, match="device-side assert"):
        memory.synchronise()


def test_clocks_wait_for_every_card(install: Install) -> None:
    cuda = install(listed(FakeCard(), SECOND))
    memory = memory_of(cuda)
    before = cuda.synchronised
    memory.synchronise()
    assert cuda.synchronised == before + 2


def two_cards(install: Install) -> tuple[FakeCuda, CudaMemory]:
    cuda = install(listed(FakeCard(), FakeCard(uuid="GPU-bbbbbbbb-0000-0000-0000-000000000000")))
    cards = [opened(cuda, 0), opened(cuda, 1)]
    memory = CudaMemory(cards, weights_bytes={"cuda:0": 10 * GIB, "cuda:1": 8 * GIB})
    memory.begin()
    return cuda, memory


def test_over_several_cards_each_has_its_own_figures(install: Install) -> None:
    cuda, memory = two_cards(install)
    memory.start()
    cuda.allocate(12 * GIB, 0)
    cuda.allocate(9 * GIB, 1)
    assert memory.peak_bytes() == 21 * GIB + 1000 * MIB
    by_device: dict[str, Any] = memory.figures()["by_device"]
    assert [card["peak_bytes"] for card in by_device.values()] == [12 * GIB + 500 * MIB, 9 * GIB + 500 * MIB]
    assert [card["weights_bytes"] for card in by_device.values()] == [10 * GIB, 8 * GIB]
    assert [card["context_bytes"] for card in by_device.values()] == [500 * MIB] * 2


def test_the_cache_is_told_apart_by_card(install: Install) -> None:
    _cuda, memory = two_cards(install)
    memory.start()
    memory.peak_bytes()
    memory.note_cache(SimpleNamespace(layers=[torch.empty(4, device="meta"), torch.empty(8)]))
    assert [card["kv_bytes"] for card in memory.figures()["by_device"].values()] == [0, 0]
    assert used_bytes(SimpleNamespace(layers=[torch.empty(4, device="meta"), torch.empty(8)]), on="meta") == 16


def test_over_several_cards_each_may_hold_its_share_of_the_capacity(install: Install) -> None:
    cuda, memory = two_cards(install)
    with memory.limited_to(48 * GIB):
        cuda.allocate(23 * GIB, 0)
        with pytest.raises(torch.OutOfMemoryError):
            cuda.allocate(GIB, 0)
        cuda.allocate(23 * GIB, 1)
