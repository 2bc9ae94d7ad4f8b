"""The team's own prompts: how long they are, and how they become a point's prompts."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from jobs.measuring.loading import read_config
from jobs.measuring.prompts import RandomPrompts, TeamPrompts, fingerprint
from jobs.measuring.tokenizing import Tokenized, tokenized
from jobs.procedure.measurement import Outcome
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.running.model_source import resolve_model
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.refusal import Refusal
from tests import real_model
from tests.measuring import own_prompts, test_gguf
from tests.measuring.conftest import PATIENCE_S, Tiny
from tests.measuring.own_prompts import BOS, FIRST, IMAGE, WORDS

TEXTS = ["w0 w1 w2", "w10 w11 <image> w12 w13", "w20", "<image>", f"w30 w{WORDS - 1} w31"]
KNOWN = {
    "The quick brown fox jumps over the lazy dog.": 10,
    "Hello, world!": 4,
    "Größe: 3,14 – naïve café": 14,
    "def f(x):\n    return x\n": 9,
}
ORDINARY = {0: 3, 10: 4, 20: 1, 30: 2}
"""By a prompt's first word, how many ordinary tokens it has: the image's and the one beyond the vocabulary are left
out, and with them the fourth prompt."""


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> ModelSpec:
    folder = own_prompts.write(tmp_path_factory.mktemp("prompts") / "tiny")
    return resolve_model(str(folder), any_folder=True)


def read(spec: ModelSpec, texts: list[str]) -> Tokenized:
    return tokenized(spec, texts, tell=lambda text: None)


@pytest.fixture(scope="module")
def team(spec: ModelSpec) -> TeamPrompts:
    return TeamPrompts(read_config(spec), read(spec, TEXTS).ids, file_sha256="f" * 64)


def test_lengths_are_what_the_models_own_tokenizer_gives_a_user(spec: ModelSpec) -> None:
    found = read(spec, TEXTS)
    assert found.lengths == PromptLengths(count=5, p50=4, p95=6, longest=6)  # each with the token set before it
    assert found.ids[0] == [FIRST, FIRST + 1, FIRST + 2]


def test_every_prompt_has_exactly_the_tokens_asked_for(team: TeamPrompts) -> None:
    for tokens in range(1, 40):
        for sequences in (1, 2, 5, 9):
            ids = team.ids(sequences=sequences, tokens=tokens, seed=0)
            assert ids.shape == (sequences, tokens)
            assert ids.dtype == torch.int64


def test_prompts_are_cut_at_the_end_and_joined_whole(team: TeamPrompts) -> None:
    """Each sequence reads the prompts in one order, and begins with the next one of it."""
    words = (team.ids(sequences=5, tokens=23, seed=0) - FIRST).tolist()
    for row in words:
        place = 0
        while place < len(row):
            length = ORDINARY[row[place]]
            assert row[place : place + length] == [*range(row[place], row[place] + length)][: 23 - place]
            place += length
    assert {row[0] for row in words[:4]} == set(ORDINARY)
    assert words[4] == words[0]
    first = ORDINARY[words[0][0]]
    assert words[1][: 23 - first] == words[0][first:]


def test_a_longer_point_begins_with_the_shorter_one(team: TeamPrompts) -> None:
    longest = team.ids(sequences=3, tokens=60, seed=0)
    assert torch.equal(team.ids(sequences=2, tokens=7, seed=0), longest[:2, :7])


def test_the_order_comes_from_the_seed_alone(team: TeamPrompts) -> None:
    drawn = {fingerprint(team.ids(sequences=1, tokens=12, seed=seed)) for seed in range(20)}
    assert len(drawn) > 1
    torch.manual_seed(7)
    assert torch.equal(team.ids(sequences=2, tokens=9, seed=3), team.ids(sequences=2, tokens=9, seed=3))


def test_no_token_that_means_something_special_or_is_unknown_to_the_model_occurs(
    spec: ModelSpec, team: TeamPrompts
) -> None:
    ids = team.ids(sequences=4, tokens=50, seed=0)
    assert not torch.isin(ids, torch.tensor([IMAGE, BOS])).any()
    assert int(ids.max()) < 512
    assert torch.isin(ids, RandomPrompts(read_config(spec)).ids(sequences=1, tokens=50_000, seed=0)).all()


def test_prompts_of_special_tokens_alone_are_refused(spec: ModelSpec) -> None:
    with pytest.raises(Refusal, match="ordinary tokens") as refused:
        TeamPrompts(read_config(spec), read(spec, ["<image>", "<image> <s>"]).ids, file_sha256="")
    assert refused.value.code == "no_tokenizer"


@pytest.mark.parametrize("kind", ["architecture", "no files", "GGUF", "broken"])
def test_a_model_without_a_tokenizer_says_so(kind: str, spec: ModelSpec, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(spec.path or "", folder)
    for file in folder.glob("token*"):
        file.unlink()
    if kind == "broken":
        (folder / "tokenizer.json").write_text("{")
    if kind == "GGUF":
        (folder / "config.json").unlink()
        test_gguf.write(folder / "tiny.gguf")
    asked = resolve_model("SmolLM2-135M" if kind == "architecture" else str(folder), any_folder=True)
    assert (asked.gguf_file is not None) is (kind == "GGUF")
    with pytest.raises(Refusal) as refused:
        read(asked, TEXTS)
    assert refused.value.code == "no_tokenizer"
    assert asked.name in refused.value.message and "random tokens" in refused.value.hint


def test_a_tokenizers_own_code_is_not_run(spec: ModelSpec, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(spec.path or "", folder)
    (folder / "config.json").write_text('{"model_type": "own-kind"}')
    (folder / "tokenizer_config.json").write_text('{"auto_map": {"AutoTokenizer": ["own.Own", null]}}')
    (folder / "own.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\nclass Own: pass\n")
    with pytest.raises(Refusal) as refused:
        read(ModelSpec(kind=ModelKind.FOLDER, name="own", path=str(folder)), TEXTS)
    assert refused.value.code == "no_tokenizer"
    assert not (tmp_path / "ran").exists()


def test_a_run_is_measured_with_the_teams_prompts_the_same_for_every_strategy(
    tiny: Tiny, spec: ModelSpec, team: TeamPrompts
) -> None:
    tiny.forget()
    load: dict[str, Any] = {"model": spec.as_json(), "dtype": "float32", "device": "cpu", "attention": "sdpa"}
    prompts = {"sha256": "f" * 64, "texts": TEXTS}
    loaded = tiny.process.request("load", patience_s=PATIENCE_S, prompts=prompts, **load)
    assert loaded["environment"]["prompts"] == {
        "count": 5,
        "p50": 4,
        "p95": 6,
        "longest": 6,
        "tokenizer": "TokenizersBackend",
        "sha256": "f" * 64,
    }
    seen = _fingerprints(tiny, ["default", "static", "chunked:64"])
    assert seen == {(fingerprint(team.ids(sequences=2, tokens=128, seed=0)), "own prompts", "f" * 64)}
    tiny.process.request("load", patience_s=PATIENCE_S, **load)
    ((drawn, source, file_sha256),) = _fingerprints(tiny, ["default"])
    assert (source, file_sha256) == ("random tokens", None)
    assert drawn not in {first for first, _, _ in seen}


def _fingerprints(tiny: Tiny, strategies: list[str]) -> set[tuple[str, str, str]]:
    found = [tiny.measure(strategy, prompt_tokens=128, answer_tokens=4, sequences=2) for strategy in strategies]
    assert all(one.outcome is Outcome.OK for one in found)
    names = ("prompt_sha256", "prompt_source", "prompts_file_sha256")
    return {tuple(one.settings[name] for name in names) for one in found}  # type: ignore[misc]


def test_the_process_tells_lengths_without_loading(tiny: Tiny, spec: ModelSpec) -> None:
    told = tiny.process.request("tokenize", patience_s=PATIENCE_S, model=spec.as_json(), prompts=TEXTS)
    assert told == {"count": 5, "p50": 4, "p95": 6, "longest": 6, "tokenizer": "TokenizersBackend"}


@pytest.mark.skipif(not real_model.is_ready(), reason="the real model is not there: python -m tests.real_model")
def test_a_real_tokenizer_counts_known_sentences() -> None:
    spec = resolve_model(str(real_model.FOLDER), any_folder=True)
    found = read(spec, list(KNOWN))
    assert found.ids[0] == [504, 2365, 6354, 16438, 27003, 690, 260, 23790, 2767, 30]
    assert [len(ids) for ids in found.ids] == list(KNOWN.values())
    assert found.lengths == PromptLengths(count=4, p50=9, p95=14, longest=14)
