"""Quality: the arithmetic against another's, the text, and the forced passes against one pass over the whole text."""

import math
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch.nn import functional
from transformers import AutoConfig, AutoModelForCausalLM, GenerationConfig

from jobs.measuring import teacher_forcing
from jobs.measuring.divergence import Divergence, mean_interval, student_t
from jobs.measuring.own_heap import in_own_heap
from jobs.measuring.quality_text import quality_text
from jobs.measuring.teacher_forcing import forced, prompt_tokens
from jobs.procedure.quality import Quality, QualityOutcome
from jobs.sizing.strategy import Strategy
from tests.measuring.conftest import LLAMA, PATIENCE_S, Tiny

CONTEXT, SCORED = 420, 256


def found(reference: torch.Tensor, other: torch.Tensor, targets: torch.Tensor) -> Divergence:
    one = Divergence()
    one.add(torch.log_softmax(reference, -1), torch.log_softmax(other, -1), targets)
    return one


def test_kl_is_that_of_the_definition_and_of_torch() -> None:
    torch.manual_seed(1)
    reference, other = torch.randn(5, 7), torch.randn(5, 7)
    one = found(reference, other, torch.tensor([0, 1, 2, 3, 4]))
    p, q = torch.softmax(reference, -1).tolist(), torch.softmax(other, -1).tolist()
    by_hand = [sum(a * math.log(a / b) for a, b in zip(*rows, strict=True)) for rows in zip(p, q, strict=True)]
    assert one.kl == pytest.approx(by_hand, abs=1e-6)
    whole = functional.kl_div(
        torch.log_softmax(other, -1), torch.log_softmax(reference, -1), log_target=True, reduction="batchmean"
    )
    assert sum(one.kl) / 5 == pytest.approx(float(whole), abs=1e-6)


def test_a_likely_token_that_becomes_unlikely_costs_its_loss_and_the_top() -> None:
    reference, other = torch.tensor([[2.0, 0.0], [2.0, 0.0]]), torch.tensor([[0.0, 2.0], [3.0, 0.0]])
    one = found(reference, other, torch.tensor([0, 1]))
    loss = [math.log(1 + math.exp(2)) - math.log(1 + math.exp(-2)), math.log(1 + math.exp(3)) - math.log(1 + math.e**2)]
    assert one.loss_difference == pytest.approx(loss, abs=1e-6)
    assert one.same_top == [0.0, 1.0]


def test_what_is_impossible_for_the_reference_adds_nothing() -> None:
    one = found(torch.tensor([[0.0, -math.inf]]), torch.tensor([[0.0, 0.0]]), torch.tensor([0]))
    assert one.kl == pytest.approx([math.log(2)])
    assert one.is_finite


def test_no_numbers_are_not_finite() -> None:
    assert not found(torch.tensor([[0.0, 1.0]]), torch.tensor([[math.nan, 0.0]]), torch.tensor([0])).is_finite


@pytest.mark.parametrize(("freedom", "quantile"), [(8, 2.306), (15, 2.131), (31, 2.040), (1000, 1.962)])
def test_students_quantile_is_the_tables(freedom: int, quantile: float) -> None:
    assert student_t(freedom) == pytest.approx(quantile, rel=2e-3)


def test_the_interval_is_of_the_means_of_blocks() -> None:
    """Sixteen blocks whose means are 0 to 15: mean 7.5, standard deviation 4.761, t 2.1314."""
    low, high = mean_interval([float(block) for block in range(16) for _ in range(16)]) or (0.0, 0.0)
    assert (low, high) == pytest.approx((7.5 - 2.1314 * 4.7610 / 4, 7.5 + 2.1314 * 4.7610 / 4), abs=0.01)


def test_one_block_has_no_interval_and_a_part_of_one_no_say() -> None:
    assert mean_interval([1.0] * 31) is None
    assert mean_interval([1.0] * 32 + [100.0] * 15) == (1.0, 1.0)


class Letters:
    """A tokenizer of one token a character; it begins a text with token 1 where it is asked to."""

    bos_token_id = 1

    def __call__(self, text: str, *, add_special_tokens: bool = True) -> dict[str, list[int]]:
        return {"input_ids": [1] * add_special_tokens + [ord(letter) for letter in text]}


def test_the_text_is_english_begun_as_the_tokenizer_begins_one() -> None:
    text = quality_text(Letters(), 5_000, seed=0)
    ids = text.first(5_000)[0].tolist()
    read = "".join(map(chr, ids[1:]))
    assert ids[0] == 1
    assert len(ids) == 5_000
    assert read.count(" the ") > 20
    assert text.sha256(5_000) == quality_text(Letters(), 5_000, seed=0).sha256(5_000)
    assert text.sha256(5_000) != text.sha256(4_999)
    assert text.sha256(5_000) != quality_text(Letters(), 5_000, seed=1).sha256(5_000)


def test_a_text_longer_than_the_source_begins_again_in_another_order() -> None:
    whole = quality_text(Letters(), 3_000_000, seed=0).first(3_000_000)[0]
    opening = whole[1:201]
    again = [at for at in (whole == opening[0]).nonzero()[:, 0].tolist() if torch.equal(whole[at : at + 200], opening)]
    assert len(again) >= 3
    gaps = [after - before for before, after in pairwise(again)]
    assert len(set(gaps)) == len(gaps)


@pytest.mark.parametrize(("tokens", "name"), [(1_000, "the team's own prompts"), (50_000, "pydoc_data.topics")])
def test_the_teams_own_texts_are_read_where_they_are_enough(tokens: int, name: str) -> None:
    text = quality_text(Letters(), tokens, seed=0, texts=["An own prompt. " * 100] * 2)
    assert name in text.name
    assert len(text.ids) >= tokens


@pytest.fixture(scope="module")
def model() -> Any:
    torch.manual_seed(3)
    fields = dict(LLAMA)
    made = AutoModelForCausalLM.from_config(AutoConfig.for_model(fields.pop("model_type"), **fields)).eval()
    made.generation_config = GenerationConfig()
    return made


@pytest.fixture(scope="module")
def ids() -> torch.Tensor:
    return torch.randint(512, (1, CONTEXT), generator=torch.Generator().manual_seed(5))


def test_forced_passes_predict_what_one_pass_over_the_text_predicts(model: Any, ids: torch.Tensor) -> None:
    pieces = torch.cat(list(forced(model, Strategy(), ids, scored_tokens=SCORED)))
    with torch.inference_mode():
        whole = torch.log_softmax(model(ids).logits[0], -1)
    first = prompt_tokens(CONTEXT, SCORED)
    assert (first % 4, CONTEXT - SCORED - 4 <= first < CONTEXT - SCORED) == (0, True)
    torch.testing.assert_close(pieces, whole[first : first + SCORED], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("name", ["quantized:quanto:4", "quantized:hqq:4", "quantized:quanto:4+chunked:64"])
def test_pieces_are_quantized_again_where_single_tokens_are(
    model: Any, ids: torch.Tensor, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    strategy = Strategy.parse(name)
    pieces = torch.cat(list(forced(model, strategy, ids, scored_tokens=SCORED)))
    normal = torch.cat(list(forced(model, Strategy(), ids, scored_tokens=SCORED)))
    monkeypatch.setattr(teacher_forcing, "PIECE_TOKENS", 1)
    single = torch.cat(list(forced(model, strategy, ids, scored_tokens=SCORED)))
    torch.testing.assert_close(pieces, single, atol=2e-3, rtol=1e-3)
    assert (pieces - normal).abs().max() > 5e-3, "nothing was quantized"


def test_an_error_comes_out_of_a_heap_of_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        in_own_heap(lambda: 1 // 0)


def test_a_model_without_a_tokenizer_is_not_scored_and_says_why(tiny: Tiny) -> None:
    tiny.load(LLAMA)
    data = tiny.process.request(
        "quality", patience_s=PATIENCE_S, strategy="quantized:quanto:4", context_tokens=640, scored_tokens=256
    )
    quality = Quality.from_json(data)
    assert (quality.outcome, quality.mean_kl) == (QualityOutcome.NOT_MEASURED, None)
    assert "comes without a tokenizer" in quality.message
    assert tiny.measure(prompt_tokens=64).outcome == "ok"
