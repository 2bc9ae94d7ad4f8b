"""What a shared answer says, draws and leaves out: from plain data."""

from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from jobs.exports.share_allowed import model_named, versions_of
from jobs.exports.share_card import drawable, share_card
from jobs.exports.share_text import strategy_text, verdict_text


def limit(**changes: Any) -> dict[str, Any]:
    rows = [{"strategy": "default", "context": 2176}, {"strategy": "offloaded", "context": 4352}]
    given = {"context": 4352, "strategy": "offloaded", "limited_by": "workload", "fits": True, "open": False}
    return given | {"by_strategy": rows} | changes


def taken(**changes: Any) -> dict[str, Any]:
    given = {
        "model": {"name": "llama"},
        "workload": {"sequences": 1},
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
            "No: 4,352 tokens, as asked for, do not fit on this device. The closest that does is 3,968 tokens with the "
            "cache offloaded to CPU RAM. A longer one answers more slowly than was asked for.",
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
