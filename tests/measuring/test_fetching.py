"""A Hub model's files are fetched before it is loaded: only what is needed, only where there is room, and only once."""

import os
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import save

from jobs.measuring import fetching, hub_files
from jobs.measuring.fetched_file import CountedFile, Progress, alone
from jobs.measuring.fetching import _refuse_full_disk
from jobs.measuring.hub_files import HubFiles
from jobs.procedure.measurement import Cancelled
from jobs.running.process import MeasuringProcess
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, MIB
from tests.measuring.fake_hub import COMMIT, GRANTED, FakeHub, config, fake_hub
from tests.measuring.test_stored_files import INDEX, LLAMA, weights

WHOLE = save(weights())
PAIRS = sorted(weights().items())
HALVES = {"model-1.safetensors": save(dict(PAIRS[:5])), "model-2.safetensors": save(dict(PAIRS[5:]))}
MAP = {name: "model-1.safetensors" if number < 5 else "model-2.safetensors" for number, (name, _) in enumerate(PAIRS)}
BESIDE = {"tokenizer.json": b"{}", "merges.txt": b"#", "generation_config.json": b"{ }"}
NEVER = {
    "pytorch_model.bin": b"pickle",
    "consolidated.safetensors": WHOLE + b" ",
    "original/params.json": b"{}",
    "onnx/model.safetensors": WHOLE + b"  ",
    "README.md": b"#",
}
INDEXED = config(**LLAMA) | HALVES | {INDEX: b'{"weight_map": ' + str(MAP).replace("'", '"').encode() + b"}"}
MODELS = {
    "gated/whole": config(**LLAMA) | {"model.safetensors": WHOLE} | BESIDE | NEVER,
    "fine/indexed": INDEXED | NEVER,
    "fine/large": config(**LLAMA) | {"model.safetensors": WHOLE + bytes(15 * MIB)},
    "fine/lacking": {name: content for name, content in INDEXED.items() if name != "model-2.safetensors"},
    "fine/pickles": config(**LLAMA) | {"pytorch_model.bin": b"pickle"},
    "fine/gptq": config(**LLAMA, quantization_config={"quant_method": "gptq", "bits": 4})
    | {"model.safetensors": WHOLE},
}
LOAD: dict[str, Any] = {"device": "cpu", "dtype": "float32", "attention": "sdpa", "weights": "as-stored"}


class Fetching:
    """A worker's environment over a fake Hub, with processes that fetch and load."""

    def __init__(self, hub: FakeHub, folder: Path) -> None:
        self.hub = hub
        self.home = folder / "home"
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        self.environment = environment | {
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(self.home),
            "HF_TOKEN": GRANTED,
            "OMP_NUM_THREADS": "1",
        }
        self.process = self.start()

    def start(self, **more: str) -> MeasuringProcess:
        return MeasuringProcess(environment=self.environment | more)

    def fetch(self, name: str, process: MeasuringProcess | None = None, **how: Any) -> dict[str, Any]:
        self.hub.asked.clear()
        asked = {"model": spec(name).as_json(), "device": "cpu", "weights": "as-stored"}
        return (process or self.process).request("fetch", patience_s=60, **(asked | how))

    @property
    def got(self) -> set[str]:
        """The files that were asked for in this fetch, of whichever model."""
        return {
            line.split()[1].split("/", 5)[-1]
            for line in self.hub.asked
            if line.startswith("GET /") and "resolve" in line
        }

    def refusal(self, name: str, **how: Any) -> Refusal:
        with pytest.raises(Refusal) as refused:
            self.fetch(name, **how)
        return refused.value

    def parts(self) -> list[Path]:
        return list(self.home.rglob("*.part"))


def spec(name: str, revision: str | None = None) -> ModelSpec:
    return ModelSpec(kind=ModelKind.HUB, name=name, revision=revision)


@pytest.fixture(scope="module")
def fetching_worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fetching]:
    with fake_hub(MODELS) as hub:
        one = Fetching(hub, tmp_path_factory.mktemp("fetching"))
        with one.process:
            yield one


def test_what_a_run_needs_is_fetched_once_with_the_workers_token_and_loaded_as_it_is(fetching_worker: Fetching) -> None:
    worker = fetching_worker
    wanted = {"config.json", "model.safetensors", *BESIDE}
    size = sum(len(MODELS["gated/whole"][name]) for name in wanted)
    first = worker.fetch("gated/whole")
    assert worker.got == wanted
    assert f"Bearer {GRANTED}" in worker.hub.heard
    assert (first["bytes"], first["fetched_bytes"], first["revision"]) == (size, size, COMMIT)
    assert first["seconds"] > 0
    again = worker.fetch("gated/whole")
    assert (worker.got, again["bytes"], again["fetched_bytes"]) == (set(), size, 0)
    worker.hub.asked.clear()
    fetched = spec("gated/whole", first["revision"]).as_json()
    loaded = worker.process.request("load", patience_s=120, model=fetched, **LOAD)
    assert worker.hub.asked == [], "a commit that is here is loaded without asking anybody"
    assert (loaded["random_weights"], loaded["environment"]["model_revision"]) == (False, COMMIT)


def test_of_a_model_in_several_files_those_of_its_index_are_fetched(fetching_worker: Fetching) -> None:
    fetching_worker.fetch("fine/indexed")
    assert fetching_worker.got == {"config.json", INDEX, *HALVES}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("fine/lacking", "missing_weights"),
        ("fine/pickles", "load_failed"),
        ("fine/gptq", "packages_missing"),
        ("missing/model", "model_not_found"),
        ("down/model", "hub_failed"),
    ],
)
def test_what_cannot_be_loaded_is_refused_before_its_weights_are_fetched(
    fetching_worker: Fetching, name: str, code: str
) -> None:
    assert fetching_worker.refusal(name).code == code
    assert not {file for file in fetching_worker.got if file.endswith((".safetensors", ".bin"))}


def test_a_cancelled_download_ends_at_once_goes_on_where_it_was_and_is_then_whole(fetching_worker: Fetching) -> None:
    worker, half = fetching_worker, 12 * MIB  # it comes in chunks of 10 MiB
    worker.hub.held_after_bytes = half
    with worker.start() as process, pytest.raises(Cancelled):
        worker.fetch("fine/large", process, cancelled=lambda: sum(p.stat().st_size for p in worker.parts()) >= MIB)
    worker.hub.held_after_bytes = None
    (part,) = worker.parts()
    held = part.stat().st_size
    assert MIB <= held <= half
    told: list[str] = []
    done = worker.fetch("fine/large", tell=told.append)
    size = len(MODELS["fine/large"]["model.safetensors"])
    assert done["fetched_bytes"] == size - held
    assert f"GET /fine/large/resolve/{COMMIT}/model.safetensors bytes={held}-" in worker.hub.asked
    assert told[-1].startswith("Downloading: ")
    assert " of 15.1" in told[-1]
    assert told[-1].endswith("MiB/s.")
    assert worker.parts() == []
    (whole,) = worker.home.glob("hub/models--fine--large/snapshots/*/model.safetensors")
    assert whole.read_bytes() == MODELS["fine/large"]["model.safetensors"]


def test_without_a_network_what_is_here_does_and_what_is_not_is_offline(fetching_worker: Fetching) -> None:
    with fetching_worker.start(HF_HUB_OFFLINE="1") as process:
        kept = fetching_worker.fetch("fine/indexed", process)
        with pytest.raises(Refusal) as refused:
            fetching_worker.fetch("fine/lacking", process)
    assert (kept["fetched_bytes"], kept["revision"]) == (0, COMMIT)
    assert refused.value.code == "offline"


def test_a_download_that_the_disk_has_no_room_for_is_refused_with_both_figures(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(fetching.shutil, "disk_usage", lambda folder: usage(9 * GIB, 6 * GIB, 3 * GIB))
    monkeypatch.setattr(fetching.constants, "HF_HUB_CACHE", str(tmp_path / "not" / "made"))
    monkeypatch.setattr(hub_files.constants, "HF_HUB_CACHE", str(tmp_path / "not" / "made"))
    files = HubFiles(name="org/name", commit=COMMIT, sizes={"model.safetensors": 4 * GIB})
    with pytest.raises(Refusal) as refused:
        _refuse_full_disk(files, ["model.safetensors"])
    assert refused.value.code == "not_enough_disk"
    assert "takes 4 GiB" in refused.value.message
    assert "has 3 GiB free" in refused.value.message
    _refuse_full_disk(files, [])
    files.blobs.mkdir(parents=True)
    with (files.blobs / "abc.kv-portal.part").open("wb") as part:
        part.truncate(GIB)
    _refuse_full_disk(files, ["model.safetensors"])


def test_a_file_has_one_writer_and_what_is_longer_than_it_can_be_is_begun_anew(tmp_path: Path) -> None:
    told: list[str] = []
    progress = Progress(tell=told.append, whole_bytes=10, began_s=0.0)
    with CountedFile(tmp_path / "part", progress) as first:
        alone(first, progress)
        first.write(b"12345")
        assert first.held_bytes(most=5) == 5
        assert first.held_bytes(most=4) == 0
    with CountedFile(tmp_path / "part", progress) as second:
        alone(second, progress)
    assert (progress.fetched_bytes, progress.held_bytes) == (5, 5)
    assert (tmp_path / "part").read_bytes() == b""
