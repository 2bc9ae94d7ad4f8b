"""Questions that real users got wrong answers to, each with its right one. Bytes; GiB is 2^30."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from jobs.measuring.inspect_strategies import strategy_refusals
from jobs.measuring.meta_model import build_config
from jobs.measuring.meta_subject import Subject
from jobs.measuring.native_context import native_context
from jobs.procedure.question import Question
from jobs.procedure.question_check import refuse_impossible
from jobs.sizing import architectures
from jobs.sizing.budgets import size_point
from jobs.sizing.kv import kv_bytes, kv_prefill_bytes
from jobs.sizing.longest import most_tokens_for_kv
from jobs.sizing.model_spec import ModelKind, ModelSpec
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import GIB, MIB
from tests.sizing.records import record, strategy

LLAMA = {"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32}
QWEN = {
    "model_type": "qwen2",
    "hidden_size": 3584,
    "num_attention_heads": 28,
    "num_hidden_layers": 28,
    "num_key_value_heads": 4,
    "max_position_embeddings": 32768,
    "sliding_window": 131072,
    "use_sliding_window": False,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "Llama-3.1-405B": LLAMA
    | {"hidden_size": 16384, "num_attention_heads": 128, "num_hidden_layers": 126, "num_key_value_heads": 8},
    "Llama-3.1-405B, heads copied": LLAMA
    | {"hidden_size": 16384, "num_attention_heads": 128, "num_hidden_layers": 126, "num_key_value_heads": 16},
    "Llama-3-70B": LLAMA
    | {"hidden_size": 8192, "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8},
    "Llama-3.1-8B, two layers": LLAMA | {"num_hidden_layers": 2, "num_key_value_heads": 8},
    "Llama-2-7B": LLAMA,
    "Yi-34B-200K": LLAMA
    | {"hidden_size": 7168, "num_attention_heads": 56, "num_hidden_layers": 60, "num_key_value_heads": 8},
    "command-r": {
        "model_type": "cohere",
        "hidden_size": 8192,
        "num_attention_heads": 64,
        "num_hidden_layers": 40,
        "num_key_value_heads": 64,
    },
    "gpt-oss-120b": {"model_type": "gpt_oss", "num_hidden_layers": 36, "num_local_experts": 128},
    "gemma-2-9b": {
        "model_type": "gemma2",
        "hidden_size": 3584,
        "num_attention_heads": 16,
        "num_hidden_layers": 42,
        "num_key_value_heads": 8,
        "head_dim": 256,
        "sliding_window": 4096,
    },
    "gemma-3n, two layers shared": {
        "model_type": "gemma3n_text",
        "num_hidden_layers": 10,
        "num_kv_shared_layers": 2,
        "intermediate_size": [64] * 10,
        "activation_sparsity_pattern": [0.0] * 10,
    },
    "Qwen2.5-7B": QWEN,
    "Qwen2.5-7B, yarn": QWEN
    | {"rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768}},
    "opt-1.3b": {
        "model_type": "opt",
        "hidden_size": 2048,
        "num_attention_heads": 32,
        "num_hidden_layers": 24,
        "max_position_embeddings": 2048,
    },
    "Mistral-7B, window of 16": LLAMA | {"model_type": "mistral", "num_key_value_heads": 8, "sliding_window": 16},
    "bloom": {"model_type": "bloom", "hidden_size": 64, "n_layer": 2, "n_head": 4},
    "falcon-7b": {
        "model_type": "falcon",
        "hidden_size": 4544,
        "num_attention_heads": 71,
        "num_hidden_layers": 32,
        "multi_query": True,
    },
}


@pytest.fixture(scope="module")
def model() -> Callable[[str], InspectionRecord]:
    """The layers of a model, read once; a peak of no more than a hand-made ladder."""

    @cache
    def read(name: str) -> InspectionRecord:
        fields = CONFIGS.get(name) or architectures.config(name)
        spec = ModelSpec(kind=ModelKind.ARCHITECTURE, name=name, config=fields)
        subject = Subject(spec, build_config(spec, fields), "sdpa")
        found = record(*subject.layers, refusals=strategy_refusals(subject.text_config, subject.layers))
        return replace(found, model=name, native_context=native_context(subject.text_config, fields))

    return read


Model = Callable[[str], InspectionRecord]


def kv(of: InspectionRecord, tokens: int, *, sequences: int = 1, name: str = "default", answered: int = 1) -> int:
    return kv_bytes(
        of,
        tokens=tokens,
        sequences=sequences,
        dtype="bfloat16",
        strategy=strategy(name),
        answered_tokens=answered,
    )


def most(of: InspectionRecord, budget_bytes: float) -> int:
    return most_tokens_for_kv(
        of, budget_bytes=int(budget_bytes), sequences=1, dtype="bfloat16", strategy=strategy("default")
    )


def test_llama_405b_has_8_kv_heads_and_16_would_be_double(model: Model) -> None:
    of, copied = model("Llama-3.1-405B"), model("Llama-3.1-405B, heads copied")
    assert kv(of, 1) == 516_096
    assert (round(kv(of, 16_000) / GIB, 2), round(kv(of, 128_000) / GIB, 2)) == (7.69, 61.52)
    assert kv(copied, 128_000) == 2 * kv(of, 128_000)
    assert round(kv(copied, 1024) / GIB, 2) == 0.98


@pytest.mark.parametrize(
    ("name", "size_mib"),
    [("command-r", 2560), ("Yi-34B-200K", 480), ("Mixtral-8x7B-v0.1", 256), ("Llama-3-70B", 640)],
)
def test_a_model_without_grouped_heads_takes_ten_times_as_much_at_2048(model: Model, name: str, size_mib: int) -> None:
    assert kv(model(name), 2048) == size_mib * MIB


def test_windows_hold_127_tokens_and_are_counted_as_what_they_hold(model: Model) -> None:
    assert kv(model("gpt-oss-20b"), 8192, sequences=32) == 32 * 204_447_744
    assert round(kv(model("gpt-oss-20b"), 8192, sequences=32) / GIB, 2) == 6.09
    of = model("gpt-oss-120b")
    assert [kv(of, tokens) for tokens in (1, 100, 127)] == [73_728 * tokens for tokens in (1, 100, 127)]
    assert [kv(of, tokens) - kv(of, 127) for tokens in (128, 129)] == [36_864, 2 * 36_864]
    assert kv(of, 78_384) == 36_864 * (78_384 + 127)


def test_gemma_2_at_8000_tokens_takes_two_gib_and_has_not_run_out_of_them(model: Model) -> None:
    assert kv(model("gemma-2-9b"), 8000) == 2_080_727_040


@pytest.mark.parametrize("name", ["gemma-3-270m", "Mistral-7B-v0.1", "Phi-3-mini-4k", "gpt-oss-20b"])
def test_a_quantized_cache_of_a_windowed_model_is_refused_and_saves_nothing(model: Model, name: str) -> None:
    with pytest.raises(Refusal) as refused:
        size_point(model(name), tokens=100, sequences=1, dtype="bfloat16", strategy=strategy("quantized:quanto:4"))
    assert (refused.value.code, "quantized cache is not possible" in refused.value.message) == ("not_applicable", True)


def test_latent_attention_caches_the_latent_and_is_asked_for_what_the_workload_needs(model: Model) -> None:
    of = model("DeepSeek-V2-Lite")
    assert kv(of, 1) == 31_104
    assert round(kv(of, 163_840) / GIB, 2) == 4.75
    assert kv(of, 10 + 32 - 1) == 41 * 31_104


def test_yi_200k_fits_what_the_budget_divided_by_a_token_gives(model: Model) -> None:
    of = model("Yi-34B-200K")
    assert round(kv(of, 200_000) / GIB, 1) == 45.8
    assert [most(of, size * GIB) for size in (5, 10, 20)] == [21_845, 43_690, 87_381]


def test_the_tokens_that_fit_beside_the_weights_are_what_the_error_says(model: Model) -> None:
    of = model("Llama-2-7B")
    assert (kv(of, 1), kv(of, 32_768)) == (524_288, 16 * GIB)
    assert most(of, 3.586 * GIB) == 7344
    assert round(kv(model("Llama-3-70B"), 6048) / GIB, 2) == 1.85


def test_yarn_reaches_four_times_the_native_context_and_only_where_it_is_set(model: Model) -> None:
    plain, scaled = model("Qwen2.5-7B"), model("Qwen2.5-7B, yarn")
    assert (plain.native_context, scaled.native_context) == (32_768, 131_072)
    assert kv(plain, 131_072) == kv(scaled, 131_072) == 57_344 * 131_072 == 7 * GIB


@pytest.mark.parametrize(("name", "ask", "limit"), [("gpt2", 10_000, 1024), ("opt-1.3b", 4096, 2048)])
def test_learned_positions_are_refused_beyond_before_anything_runs(
    model: Model, name: str, ask: int, limit: int
) -> None:
    of = model(name)
    assert of.native_context == limit
    question = Question(model=name, prompt_tokens=ask, typical_prompt_tokens=8, answer_tokens=16)
    with pytest.raises(Refusal) as refused:
        refuse_impossible(question, of)
    assert refused.value.code == "beyond_native_context"


def test_a_model_that_names_no_limit_is_asked_for_any_length(model: Model) -> None:
    of = model("bloom")
    assert of.native_context is None
    refuse_impossible(Question(model="bloom", prompt_tokens=200_000, typical_prompt_tokens=8, answer_tokens=16), of)


def test_gpt2_takes_36864_bytes_a_token_and_falcon_7b_has_one_kv_head(model: Model) -> None:
    assert kv(model("gpt2"), 1) == 36_864
    assert kv(model("falcon-7b"), 1) == 32 * 2 * 64 * 2


@pytest.mark.parametrize(
    ("name", "prompt_ratio", "answer_ratio"),
    [("quanto:4", 0.28125, 0.3539), ("quanto:2", 0.15625, None), ("hqq:8", 0.53125, None), ("fp8", 0.5, None)],
)
def test_a_quantized_cache_saves_less_as_the_answer_grows(
    model: Model, name: str, prompt_ratio: float, answer_ratio: float | None
) -> None:
    of = model("Llama-3.1-8B, two layers")
    assert kv(of, 512) == 4_194_304
    assert kv(of, 512, name=f"quantized:{name}", answered=0) == prompt_ratio * 4_194_304
    if answer_ratio is not None:
        after = kv(of, 712, name=f"quantized:{name}", answered=200) / kv(of, 712)
        assert round(after, 4) == answer_ratio


def test_a_static_cache_of_ten_sequences_is_as_large_as_its_slots(model: Model) -> None:
    held = kv(model("Llama-3.2-1B"), 8192 + 100, sequences=10, name="static")
    assert held == 10 * 8292 * 32_768
    assert round(held / GIB, 2) == 2.53


def test_a_window_holds_the_whole_prompt_alive_until_the_first_step(model: Model) -> None:
    of = model("Mistral-7B, window of 16")
    prompt = kv_prefill_bytes(of, tokens=400, sequences=1, dtype="bfloat16", strategy=strategy("default"))
    assert (prompt, kv(of, 400)) == (52_428_800, 1_966_080)


def test_state_is_mixed_in_precision_and_constant_and_shared_layers_hold_nothing(model: Model) -> None:
    assert kv(model("granite-4.0-h-tiny"), 5000) == 57_581_568 + 5000 * 8192
    shared = model("gemma-3n, two layers shared").layers[-1]
    assert (str(shared.kind), shared.count, shared.token_elements) == ("shared", 2, 0)
