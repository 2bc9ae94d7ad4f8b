"""A number comes with what it depends on: device, libraries, CPU, threads, model and attention."""

from importlib.metadata import version

from tests.measuring.conftest import LLAMA, Tiny

NAMES = {
    "python",
    "platform",
    "machine",
    "kernel",
    "cpu",
    "cores",
    "cpu_kernels",
    "onednn",
    "threads",
    "thread_settings",
    "torch_build",
    "device",
    "device_name",
    "dtype",
    "attention",
    "model_revision",
    "config_hash",
}
LIBRARIES = ("torch", "transformers", "hqq", "optimum-quanto", "safetensors", "tokenizers", "accelerate")


def test_the_environment_has_all_that_a_figure_depends_on(tiny: Tiny) -> None:
    environment = tiny.load(LLAMA).environment
    assert environment.keys() >= NAMES
    assert {name: environment[name] for name in LIBRARIES} == {name: version(name) for name in LIBRARIES}
    assert environment["threads"] == 1
    assert "OMP_NUM_THREADS=1" in environment["thread_settings"].split()
    assert (environment["dtype"], environment["attention"], environment["device"]) == ("float32", "sdpa", "cpu")


def test_another_model_or_precision_is_another_environment(tiny: Tiny) -> None:
    first = tiny.load(LLAMA).environment
    wider = tiny.load(LLAMA | {"intermediate_size": 128}).environment
    lower = tiny.load(LLAMA, "bfloat16").environment
    assert first["config_hash"] != wider["config_hash"]
    assert {name for name in first if first[name] != lower[name]} == {"dtype"}
