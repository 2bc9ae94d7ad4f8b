import ast
from typing import Any

import pytest

from jobs.procedure.snippet import generate_settings, snippet
from jobs.sizing.strategy import Strategy

NAMES = ["default", "static", "offloaded", "offloaded_static", "quantized:hqq:8", "quantized:quanto:4", "quantized:fp8"]


def arguments(name: str, **changes: Any) -> dict[str, Any]:
    """What the snippet's call of generate() says, read back."""
    usual = {"model": "org/name", "answer_tokens": 32, "dtype": "bfloat16", "attention": "sdpa", "device": "cpu"}
    text = snippet(Strategy.parse(name), random_weights=False, **(usual | changes))
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    generate = next(call for call in calls if isinstance(call.func, ast.Attribute) and call.func.attr == "generate")
    return {word.arg: ast.literal_eval(word.value) for word in generate.keywords if word.arg}


@pytest.mark.parametrize("name", [*NAMES, "chunked:512", "quantized:hqq:4+chunked:256"])
def test_the_snippet_is_python_that_says_exactly_the_settings(name: str) -> None:
    assert arguments(name) == generate_settings(Strategy.parse(name), 32)


def test_the_normal_cache_is_transformers_dynamic_one() -> None:
    assert generate_settings(Strategy.parse("default"), 32) == {"max_new_tokens": 32, "cache_implementation": "dynamic"}


def test_hqq_quantizes_on_axis_1_and_quanto_on_axis_0() -> None:
    hqq = generate_settings(Strategy.parse("quantized:hqq:8"), 32)["cache_config"]
    quanto = generate_settings(Strategy.parse("quantized:quanto:4"), 32)["cache_config"]
    assert (hqq["axis_key"], hqq["axis_value"], hqq["nbits"]) == (1, 1, 8)
    assert (quanto["axis_key"], quanto["axis_value"], quanto["nbits"]) == (0, 0, 4)


def test_fp8_takes_no_options() -> None:
    assert generate_settings(Strategy.parse("quantized:fp8"), 32)["cache_config"] == {"backend": "fp8"}


def test_a_name_cannot_break_out_of_its_string() -> None:
    assert arguments("default", model='x"; import os; "')["cache_implementation"] == "dynamic"


@pytest.mark.parametrize(
    ("model", "folder"),
    [("/m/tiny.Q4_1.gguf", "/m"), ("/m", "/m"), ("tiny.Q4_1.gguf", "."), ("sub/tiny.Q4_1.gguf", "sub")],
)
def test_a_gguf_model_is_loaded_from_its_file_as_it_was_measured(model: str, folder: str) -> None:
    usual: dict[str, Any] = {"answer_tokens": 1, "dtype": "float32", "attention": "sdpa", "device": "cpu"}
    text = snippet(Strategy(), model=model, random_weights=False, gguf_file="tiny.Q4_1.gguf", **usual)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    files = [word.value for call in calls for word in call.keywords if word.arg == "gguf_file"]
    assert [ast.literal_eval(file) for file in files] == ["tiny.Q4_1.gguf"] * 2
    assert f'name = "{folder}"' in text
    assert "GgufConfig(dequantize=True)" in text


def test_an_architecture_only_says_to_name_ones_own_model() -> None:
    text = snippet(
        Strategy(),
        model="SmolLM2-135M",
        answer_tokens=1,
        dtype="float32",
        attention="sdpa",
        device="cpu",
        random_weights=True,
    )
    assert "name your own model here" in text


@pytest.mark.parametrize(
    ("weights", "packing"),
    [
        ("bnb4", {"load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": "torch.float16"}),
        ("bnb8", {"load_in_8bit": True}),
    ],
)
def test_weights_packed_while_loaded_are_packed_so_again_on_the_same_device(
    weights: str, packing: dict[str, Any]
) -> None:
    usual: dict[str, Any] = {"answer_tokens": 1, "dtype": "float16", "attention": "sdpa", "device": "cuda:1"}
    text = snippet(Strategy(), model="org/name", random_weights=False, weights=weights, **usual)
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    config = next(call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "BitsAndBytesConfig")
    said = {word.arg: ast.unparse(word.value) for word in config.keywords}
    assert said == {
        name: value if isinstance(value, str) and "." in value else repr(value) for name, value in packing.items()
    }
    assert "import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig\n" in text
    assert 'device_map={"": "cuda:1"}' in text
    assert ").to(" not in text.partition("inputs =")[0]


@pytest.mark.parametrize("weights", ["as-stored", "bnb4"])
def test_over_several_cards_the_weights_are_placed_as_they_were_measured_and_the_prompt_goes_to_the_first(
    weights: str,
) -> None:
    text = snippet(
        Strategy.parse("default"),
        model="org/name",
        answer_tokens=32,
        dtype="bfloat16",
        attention="sdpa",
        device="cuda:0,cuda:2",
        random_weights=False,
        weights=weights,
    )
    ast.parse(text)
    assert (
        'device_map="balanced", max_memory={card: int(0.9 * torch.cuda.mem_get_info(card)[0]) for card in (0, 2)}'
        in text
    )
    assert text.count(".to(") == 1 and 'return_tensors="pt").to("cuda:0")' in text
