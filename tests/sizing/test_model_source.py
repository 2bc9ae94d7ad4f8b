"""Which model a text means, and what is refused before anything is loaded."""

import json
from pathlib import Path

import pytest

from jobs.running.model_source import resolve_model
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal

LLAMA = {"model_type": "llama", "hidden_size": 64}


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    make(folder / "tiny", LLAMA)
    make(tmp_path / "outside", LLAMA)
    return folder


def make(folder: Path, config: object) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(config if isinstance(config, str) else json.dumps(config))


def code_of(text: str, models_dir: Path | None = None, *, any_folder: bool = False, revision: str | None = None) -> str:
    with pytest.raises(Refusal) as refused:
        resolve_model(text, models_dir=models_dir, any_folder=any_folder, revision=revision)
    assert refused.value.message
    assert refused.value.hint
    return refused.value.code


@pytest.mark.parametrize(("typed", "meant"), [("Lama-3.1-8B", "Llama-3.1-8B"), ("smolm2-135m", "SmolLM2-135M")])
def test_a_name_that_is_nearly_a_built_in_one_is_asked_about(typed: str, meant: str) -> None:
    with pytest.raises(Refusal) as refused:
        resolve_model(typed, models_dir=None)
    assert refused.value.hint.startswith(f"Did you mean {meant}?")


def test_a_built_in_name_is_found_whatever_its_case() -> None:
    spec = resolve_model(" smollm2-135m ", models_dir=None, any_folder=False)
    assert (spec.kind, spec.name, spec.random_weights) == (ModelKind.ARCHITECTURE, "SmolLM2-135M", True)
    assert spec.config
    assert spec.config["model_type"] == "llama"
    assert ModelSpec.from_json(json.loads(json.dumps(spec.as_json()))) == spec


def test_a_folder_is_found_by_its_path_or_by_its_name_below_the_models_folder(models: Path) -> None:
    for text in ("tiny", str(models / "tiny")):
        spec = resolve_model(text, models_dir=models, any_folder=False)
        assert (spec.kind, spec.path) == (ModelKind.FOLDER, str((models / "tiny").resolve()))


def test_a_folder_outside_the_models_folder_is_refused_unless_any_will_do(models: Path) -> None:
    outside = str(models.parent / "outside")
    assert code_of(outside, models) == "outside_models"
    assert code_of(f"{models}/../outside", models) == "outside_models"
    assert resolve_model(outside, models_dir=models, any_folder=True).kind is ModelKind.FOLDER


def test_a_symbolic_link_out_of_the_models_folder_is_followed_before_it_is_judged(models: Path) -> None:
    (models / "link").symlink_to(models.parent / "outside")
    assert code_of("link", models) == "outside_models"


def test_the_models_folder_itself_is_no_model(models: Path) -> None:
    (models / "config.json").write_text(json.dumps(LLAMA))
    assert code_of(".", models) == "outside_models"


@pytest.mark.parametrize(
    ("config", "code"),
    [
        ("{", "broken_config"),
        ("[]", "broken_config"),
        ("[" * 100_000, "broken_config"),
        ("\x00\xff", "broken_config"),
        ({}, "broken_config"),
        ({"model_type": 3}, "broken_config"),
        ({"auto_map": {"AutoConfig": "x.Y"}}, "needs_remote_code"),
    ],
)
def test_a_config_that_cannot_be_read_is_refused(models: Path, config: object, code: str) -> None:
    make(models / "bad", config)
    assert code_of("bad", models) == code


def test_a_folder_without_a_config_and_a_file_are_refused(models: Path) -> None:
    (models / "empty").mkdir()
    assert code_of("empty", models) == "no_config"
    assert code_of("tiny/config.json", models) == "unknown_model"


@pytest.mark.parametrize(
    "text", ["", "   ", "nothing", "/no/such/folder", "../..", "a/b/c", "x\x00y", "é/é", "a" * 5000]
)
def test_what_is_no_model_is_refused(models: Path, text: str) -> None:
    assert code_of(text, models) in ("unknown_model", "outside_models")


def test_a_hub_id_carries_its_revision() -> None:
    assert resolve_model("org/name@v1.0", models_dir=None, any_folder=False).revision == "v1.0"
    spec = resolve_model("org/name", revision="refs/pr/1", models_dir=None, any_folder=False)
    assert (spec.kind, spec.name, spec.revision) == (ModelKind.HUB, "org/name", "refs/pr/1")
    assert code_of("org/name@a b") == "bad_revision"


def test_a_home_of_nobody_is_an_unknown_model_not_an_error() -> None:
    with pytest.raises(Refusal) as refused:
        resolve_model("~nobody-has-this-name", any_folder=True)
    assert refused.value.code == "unknown_model"


@pytest.mark.parametrize("path", ["/etc", "/nowhere/at/all", "../..", "../nowhere"])
def test_a_path_outside_the_models_folder_gets_one_answer_whether_it_exists_or_not(path: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal) as refused:
        resolve_model(path, models_dir=tmp_path)
    assert refused.value.code == "outside_models"


def test_one_folder_has_one_name(tmp_path: Path) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "config.json").write_text('{"model_type": "llama"}')
    assert resolve_model("tiny/../tiny", models_dir=tmp_path).name == "tiny"


def test_a_revision_never_climbs() -> None:
    with pytest.raises(Refusal) as refused:
        resolve_model("org/name", revision="../..")
    assert refused.value.code == "bad_revision"
