"""What a shared answer says, draws and leaves out: from plain data."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from jobs.exports.share_allowed import model_named, versions_of
from jobs.exports.share_card import PLOT, drawable, share_card
from jobs.exports.share_curve import Scale
from jobs.exports.share_headline import answer_text, headline
from jobs.exports.share_text import strategy_text, verdict_text


def limit(**changes: Any) -> dict[str, Any]:
    rows = [{"strategy": "default", "context": 2176}, {"strategy": "offloaded", "context": 4352}]
    given = {"context": 4352, "strategy": "offloaded", "limited_by": "workload", "fits": True, "open": False}
    given |= {"provisional": False, "confirmed": True}
    return given | {"by_strategy": rows} | changes


def taken(**changes: Any) -> dict[str, Any]:
    given = {
        "model": {"name": "llama"},
        "workload": {"sequences": 1, "prompt_tokens": 4096, "answer_tokens": 256},
        "freshness": "",
        "adopted": None,
        "device": {"name": "NVIDIA L4"},
        "budgets": {"capacity_bytes": 5000, "weights": {"measured_bytes": 2000}},
        "measurements": [{"strategy": "offloaded", "context": 512, "outcome": "ok", "peak_bytes": 3000}],
        "measured_at": "2026-12-01T10:00:00+00:00",
        "limit": limit(),
    }
    return given | changes


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("default", "with the normal cache"),
        ("offloaded", "with the cache offloaded to CPU RAM"),
        ("quantized:hqq:4", "with the cache quantized to 4 bits (hqq)"),
        ("quantized:fp8", "with the cache quantized to 8-bit floats (fp8)"),
        ("chunked:512", "with the prompt read in chunks of 512 tokens"),
        (
            "quantized:hqq:4+chunked:512",
            "with the cache quantized to 4 bits (hqq) and the prompt read in chunks of 512 tokens",
        ),
    ],
)
def test_a_strategy_is_told_in_words(name: str, told: str) -> None:
    assert strategy_text(name) == told


@pytest.mark.parametrize(
    ("found", "sequences", "told"),
    [
        (
            limit(),
            1,
            "Yes: 4,352 tokens, as asked for, fit on this device with the cache offloaded to CPU RAM. "
            "The normal cache ends at 2,176.",
        ),
        (
            limit(strategy="default"),
            3,
            "Yes: 3 sequences of 4,352 tokens at once, as asked for, fit on this device with the normal cache; "
            "no special setting is needed.",
        ),
        (
            limit(fits=False, context=3968, limited_by="speed"),
            1,
            "No: 4,352 tokens, as asked for, are answered more slowly than was asked for. The closest within that is "
            "3,968 tokens with the cache offloaded to CPU RAM.",
        ),
        (
            limit(fits=False, context=704, strategy="default", limited_by="ttft"),
            1,
            "No: 4,352 tokens, as asked for, are begun to be answered later than was asked for. The closest within "
            "that is 704 tokens with the normal cache.",
        ),
        (
            limit(fits=False, context=3968, limited_by="memory"),
            1,
            "No: 4,352 tokens, as asked for, do not fit on this device. The closest that does is 3,968 tokens with the "
            "cache offloaded to CPU RAM. A longer one needs more memory than the device has to give.",
        ),
        (
            limit(fits=False, context=None, limited_by="ttft"),
            1,
            "No: not even a short context is begun to be answered as soon as was asked for.",
        ),
        (limit(fits=False, context=None), 1, "No: not even a short context fits on this device."),
        (
            limit(fits=False, open=True, context=1024, strategy="default"),
            1,
            "Not answered yet: the measuring ended before it was seen what fits. The longest seen to fit is 1,024 "
            "tokens with the normal cache.",
        ),
    ],
)
def test_a_verdict_is_a_plain_sentence(found: dict[str, Any], sequences: int, told: str) -> None:
    assert verdict_text(found, asked_context=4352, sequences=sequences) == told


QUALITY, UNTRIED = "its quality was not measured", "the step above was not tried"
CHANGED = "what it depends on had changed by the day of sharing"
LOWER = {"context": 4000, "strategy": "offloaded"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"limit": limit(provisional=True)},
            "Provisionally yes: 4,352 tokens, as asked for, fit on this device with the cache offloaded to CPU RAM; "
            f"{QUALITY}. The normal cache ends at 2,176.",
        ),
        (
            {"limit": limit(strategy="default"), "freshness": "stale"},
            "Provisionally yes: 4,352 tokens, as asked for, fit on this device with the normal cache, without any "
            f"special setting; {CHANGED}.",
        ),
        (
            {"limit": limit(fits=False, context=3968, confirmed=False, provisional=True)},
            "No: 4,352 tokens, as asked for, do not fit on this device. The closest that does, provisionally, is 3,968 "
            f"tokens with the cache offloaded to CPU RAM; {QUALITY}; {UNTRIED}.",
        ),
        (
            {"adopted": LOWER},
            "The team deploys at most 4,000 tokens; 4,352 were measured. Yes: 4,352 tokens, as asked for, fit on this "
            "device with the cache offloaded to CPU RAM. The normal cache ends at 2,176.",
        ),
    ],
)
def test_an_answer_begins_with_what_was_decided_and_says_what_makes_it_provisional(
    changes: dict[str, Any], told: str
) -> None:
    assert answer_text(taken(**changes)) == told


@pytest.mark.parametrize(
    ("adopted", "context", "measured", "cautions"),
    [
        (None, 4352, None, (QUALITY, CHANGED)),
        ({"context": 4352, "strategy": "offloaded"}, 4352, None, (QUALITY, CHANGED)),
        (LOWER, 4000, 4352, (QUALITY, CHANGED)),
        ({"context": 2000, "strategy": "default"}, 2000, 4352, (CHANGED,)),
    ],
)
def test_what_the_team_stays_below_heads_an_answer(
    adopted: dict[str, Any] | None, context: int, measured: int | None, cautions: tuple[str, ...]
) -> None:
    head = headline(taken(limit=limit(provisional=True), freshness="stale", adopted=adopted))
    assert (head.context, head.measured, head.cautions) == (context, measured, cautions)


def pixels(drawn: bytes, colour: tuple[int, int, int], box: tuple[int, int, int, int]) -> list[tuple[int, int]]:
    """Where this colour is, as near as the palette has it."""
    image = Image.open(BytesIO(drawn)).convert("RGB")
    left, top, right, bottom = box
    near = [(x, y) for y in range(top, bottom) for x in range(left, right)]
    return [at for at in near if all(abs(a - b) < 12 for a, b in zip(image.getpixel(at), colour, strict=True))]


def test_a_provisional_answers_picture_is_in_the_warning_tone() -> None:
    strip, beside = (0, 0, 40, 14), (72, 300, 652, 400)
    warn, good = (0x7A, 0x56, 0x00), (0x17, 0x68, 0x3F)
    sure, provisional = share_card("t", taken()), share_card("t", taken(limit=limit(provisional=True)))
    assert pixels(sure, good, strip) and not pixels(sure, warn, strip) and not pixels(sure, warn, beside)
    assert pixels(provisional, warn, strip) and not pixels(provisional, good, strip)
    assert pixels(provisional, warn, beside)


def test_a_pictures_bound_is_the_capacity_less_the_headroom() -> None:
    points = [
        {"strategy": name, "context": context, "outcome": "ok", "peak_bytes": peak}
        for name, context, peak in (
            *(("default", 512, 3000), ("default", 2240, 4900)),
            *(("offloaded", 512, 2500), ("offloaded", 4352, 4000), ("offloaded", 4416, 4400)),
        )
    ]
    budgets = {"capacity_bytes": 5000, "headroom_bytes": 500, "weights": {"measured_bytes": 2000}}
    drawn = share_card("t", taken(measurements=points, budgets=budgets))
    scale = Scale(box=PLOT, longest=4352, low=2000, high=2000 + 1.12 * 2900)
    rows = {y for _, y in pixels(drawn, (0xA3, 0x2A, 0x22), (PLOT[0] + 420, PLOT[1], PLOT[2], PLOT[3]))}
    assert rows and max(abs(y - scale.y(4500)) for y in rows) < 3
    blue = pixels(drawn, (0x1C, 0x5C, 0xC4), (PLOT[0], PLOT[1], PLOT[2] + 12, PLOT[3] - 40))
    end_x, end_y = max(blue)
    assert abs(end_x - PLOT[2]) <= 8 and abs(end_y - scale.y(4000)) <= 8, "it ends at its limit"


@pytest.mark.parametrize(
    ("kind", "name", "shown"),
    [
        ("hub", "org/model", "org/model"),
        ("folder", "/srv/secret/llama", "llama"),
        ("folder", "team/llama.gguf", "llama.gguf"),
        ("folder", "C:\\models\\llama", "llama"),
        ("folder", "/", "a local model"),
    ],
)
def test_of_a_folder_only_its_own_name_is_shown(kind: str, name: str, shown: str) -> None:
    assert model_named(kind, name) == shown


def test_only_versions_of_known_libraries_are_shown() -> None:
    given = {"versions": {"torch": "2.13.0+cu130", "ours": "1"}, "hqq": "/srv/hqq", "driver": "580.65", "kernel": "6"}
    assert versions_of(given) == {"torch": "2.13.0+cu130", "driver": "580.65"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"limit": limit(context=None, fits=False)},
        {"measurements": []},
        {"budgets": {"capacity_bytes": None}},
        {"workload": {"sequences": 12}},
        {"limit": limit(provisional=True, context=1_048_576)},
        {"adopted": {"context": 4000, "strategy": "default"}, "freshness": "stale"},
    ],
)
def test_a_picture_has_its_size_and_its_bytes_whatever_was_found(changes: dict[str, Any]) -> None:
    title = "A title that is far too long for one line, and for two of them as well " * 3
    drawn = share_card(title, taken(**changes))
    assert drawn == share_card(title, taken(**changes))
    assert Image.open(BytesIO(drawn)).size == (1200, 630)
    assert len(drawn) < 100 * 1024


def test_letters_that_the_picture_lacks_are_left_out() -> None:
    assert drawable("Größe – für Ада") == "Groe - fur"
    assert drawable("模型") == ""
    assert share_card("模型", taken()) == share_card("llama", taken())
