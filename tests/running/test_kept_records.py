"""Records kept as files: found again while nothing that they came from has changed."""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.running import kept_records
from jobs.running.kept_records import KeptRecords, files_of
from jobs.running.libraries import library_versions
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from tests.sizing.records import GROWING, record, strategy

RECORD = record(GROWING)
BUILT_IN = ModelSpec(kind=ModelKind.ARCHITECTURE, name="tiny", config={"model_type": "llama"}, random_weights=True)


@pytest.fixture
def kept(tmp_path: Path) -> KeptRecords:
    return KeptRecords(tmp_path / "records", python=sys.executable)


@pytest.fixture
def folder(tmp_path: Path) -> ModelSpec:
    path = tmp_path / "model"
    path.mkdir()
    (path / "config.json").write_text('{"model_type": "llama"}')
    return ModelSpec(kind=ModelKind.FOLDER, name="model", path=str(path))


def put(kept: KeptRecords, spec: ModelSpec) -> InspectionRecord:
    return kept.serve(spec, dtype="bfloat16", strategies=(strategy("default"),), fresh=True, inspect=lambda: RECORD)


def test_a_kept_record_is_found_again_by_another_process_s_store(kept: KeptRecords, tmp_path: Path) -> None:
    put(kept, BUILT_IN)
    assert KeptRecords(tmp_path / "records", python=sys.executable).find(BUILT_IN) == RECORD


def test_another_config_is_another_model(kept: KeptRecords) -> None:
    put(kept, BUILT_IN)
    assert kept.find(replace(BUILT_IN, config={"model_type": "llama", "hidden_size": 8})) is None


def test_a_gguf_file_has_a_record_of_its_own_until_it_changes(kept: KeptRecords, tmp_path: Path) -> None:
    (tmp_path / "a.gguf").write_bytes(b"GGUF")
    (tmp_path / "b.gguf").write_bytes(b"GGUF")
    one = ModelSpec(kind=ModelKind.FOLDER, name="a", path=str(tmp_path), gguf_file="a.gguf")
    put(kept, one)
    assert kept.find(one) == RECORD
    assert kept.find(replace(one, gguf_file="b.gguf")) is None
    (tmp_path / "a.gguf").write_bytes(b"GGUF and more")
    assert kept.find(one) is None


@pytest.mark.parametrize("change", ["config.json", "model.safetensors", "pytorch_model.bin"])
def test_a_folder_s_record_ends_with_a_change_of_its_files(kept: KeptRecords, folder: ModelSpec, change: str) -> None:
    put(kept, folder)
    assert kept.find(folder) == RECORD
    (Path(str(folder.path)) / change).write_text('{"model_type": "gpt2"}')
    assert kept.find(folder) is None


@pytest.mark.parametrize("name", ["library_versions", "inspection_code"])
def test_a_record_ends_with_other_libraries_and_with_other_code(
    kept: KeptRecords, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(kept, BUILT_IN)
    monkeypatch.setattr(kept_records, name, lambda *_: {"transformers": "6.0.0"})
    assert kept.find(BUILT_IN) is None


def test_a_hub_model_without_a_cached_config_has_no_record_yet(kept: KeptRecords) -> None:
    hub = ModelSpec(kind=ModelKind.HUB, name="no-such-organisation/no-such-model")
    assert kept.find(hub) is None
    assert put(kept, hub) == RECORD


WRONG = (
    {"parameters": -5},
    {"parameters": None},
    {"weights_bytes": {"bfloat16": 0}},
    {"weights_bytes": "x"},
    {"native_context": "x"},
    {"versions": {}},
    {"refusals": 7},
    {"layers": []},
)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"layers": 3}', '{"layers": [], "rungs": [{}]}', "[" * 100_000]
    + [json.dumps(RECORD.as_json() | wrong) for wrong in WRONG],
    ids=lambda content: content[:12],
)
def test_a_file_that_cannot_be_read_as_a_record_is_none(kept: KeptRecords, tmp_path: Path, content: str) -> None:
    put(kept, BUILT_IN)
    (file,) = (tmp_path / "records").iterdir()
    file.write_text(content)
    assert kept.find(BUILT_IN) is None
    put(kept, BUILT_IN)
    assert InspectionRecord.from_json(json.loads(file.read_text())) == RECORD


def test_what_is_kept_serves_and_what_is_missing_is_added(kept: KeptRecords) -> None:
    part = replace(RECORD, rungs=tuple(rung for rung in RECORD.rungs if rung.strategy == "default"))
    static = replace(RECORD, rungs=tuple(rung for rung in RECORD.rungs if rung.strategy == "static"))
    default, other = strategy("default"), strategy("static")
    assert kept.serve(BUILT_IN, dtype="bfloat16", strategies=(default,), inspect=lambda: part) == part
    assert kept.serve(BUILT_IN, dtype="bfloat16", strategies=(default,), inspect=pytest.fail) == part
    both = kept.serve(BUILT_IN, dtype="bfloat16", strategies=(default, other), inspect=lambda: static)
    assert set(both.rungs) == {*part.rungs, *static.rungs}
    assert kept.serve(BUILT_IN, dtype="float16", strategies=(default, other), inspect=pytest.fail) == both


def test_a_folder_that_cannot_be_written_costs_only_the_keeping(tmp_path: Path) -> None:
    (tmp_path / "records").write_text("a file where the folder should be")
    told: list[str] = []
    store = KeptRecords(tmp_path / "records", python=sys.executable)
    found = store.serve(
        BUILT_IN, dtype="bfloat16", strategies=(strategy("default"),), inspect=lambda: RECORD, tell=told.append
    )
    assert found == RECORD
    assert "could not be kept" in told[0]


def test_a_python_that_does_not_answer_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        library_versions("/no/such/python")
    assert refused.value.code == "measuring_died"
    assert "MEASURING_PYTHON" in refused.value.hint


def test_the_measuring_python_tells_its_libraries() -> None:
    assert {"python", "torch", "transformers"} <= library_versions(sys.executable).keys()


def test_what_changed_while_it_was_read_is_not_kept(kept: KeptRecords, folder: ModelSpec) -> None:
    def inspect() -> InspectionRecord:
        (Path(str(folder.path)) / "config.json").write_text('{"model_type": "gpt2"}')
        return RECORD

    assert kept.serve(folder, dtype="bfloat16", strategies=(strategy("default"),), inspect=inspect) == RECORD
    assert kept.find(folder) is None


def test_a_weights_file_of_the_same_size_and_date_is_another(kept: KeptRecords, folder: ModelSpec) -> None:
    weights = Path(str(folder.path)) / "model.safetensors"
    weights.write_text("one")
    before = weights.stat()
    put(kept, folder)
    weights.write_text("two")
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert kept.find(folder) is None


@pytest.mark.parametrize("fresh", [True, False])
def test_records_that_cannot_be_written_are_told_and_answered(tmp_path: Path, fresh: bool) -> None:
    (tmp_path / "records").write_text("a file")
    told: list[str] = []
    store = KeptRecords(tmp_path / "records", python=sys.executable)
    asked = {"dtype": "bfloat16", "strategies": (strategy("default"),)}
    assert store.serve(BUILT_IN, **asked, fresh=fresh, inspect=lambda: RECORD, tell=told.append) == RECORD
    assert told


def test_a_copy_of_a_model_elsewhere_has_the_same_files_and_another_model_has_others(tmp_path: Path) -> None:
    def made(name: str, config: str, weights: str) -> dict[str, str]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(config)
        (tmp_path / name / "model.safetensors").write_text(weights)
        return files_of(ModelSpec(kind=ModelKind.FOLDER, name=name, path=str(tmp_path / name)))

    one = made("one", "{}", "x")
    assert one == made("copy", "{}", "x")
    assert one != made("other-config", '{"a": 1}', "x")
    assert one != made("other-weights", "{}", "xx")
    assert files_of(BUILT_IN) == {}
    assert files_of(ModelSpec(kind=ModelKind.FOLDER, name="gone", path=str(tmp_path / "gone"))) == {}


def test_a_record_that_cannot_be_written_whole_leaves_nothing_behind(
    kept: KeptRecords, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(part: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert put(kept, BUILT_IN) == RECORD
    assert list((tmp_path / "records").iterdir()) == []
