import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.procedure.own_prompts import MOST_BYTES, MOST_CHARACTERS, MOST_PROMPTS, read_prompts
from jobs.procedure.prompt_lengths import PromptLengths
from jobs.sizing.refusal import Refusal


def bad(*lines: bytes) -> dict[int, str]:
    """The bad lines of a file that holds one good one first."""
    return {line.number: line.reason for line in read_prompts(b"\n".join([b"good", *lines])).bad_lines}


@pytest.mark.parametrize(
    ("line", "prompt"),
    [
        ("plain words, and more", "plain words, and more"),
        ('"a JSON string\\nof two lines"', "a JSON string\nof two lines"),
        ('{"prompt": "p", "answer": "not this"}', "p"),
        ('{"text": "t"}', "t"),
        ('{"messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}]}', "be kind\nhi"),
        ('{"messages": [{"role": "user", "content": [{"type": "text", "text": "parts"}]}]}', "parts"),
        ('"Hello," she said.', '"Hello," she said.'),
        ("[INST] do it [/INST]", "[INST] do it [/INST]"),
        ("{curly} words", "{curly} words"),
        ("42", "42"),
        ("null", "null"),
        ("deux\u2028lignes\u0085encore", "deux\u2028lignes\u0085encore"),
        ("\ufeff inside a file", "\ufeff inside a file"),
    ],
)
def test_a_line_is_a_prompt_as_json_or_as_text(line: str, prompt: str) -> None:
    assert read_prompts(f"first\n{line}\n".encode()).texts == ("first", prompt)


def test_a_byte_order_mark_and_windows_line_ends_change_nothing() -> None:
    lines = ['{"prompt": "a"}', "", "   ", "b"]
    plain, marked = "\n".join(lines).encode(), b"\xef\xbb\xbf" + "\r\n".join(lines).encode()
    assert read_prompts(plain).texts == read_prompts(marked).texts == ("a", "b")
    assert read_prompts(marked).sha256 == hashlib.sha256(marked).hexdigest()


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b'{"prompt": "cut o', "it begins like a JSON object and is none"),
        (b'{"question": "a"}', 'it is not an object with "prompt", "text" or "messages"'),
        (b'["a", "b"]', "it is a JSON array"),
        (b'{"prompt": 7}', 'its "prompt" is no text'),
        (b'{"text": null}', 'its "text" is no text'),
        (b'{"messages": "hello"}', 'its "messages" are not a list'),
        (b'{"messages": ["hello"]}', 'its "messages" are not a list'),
        (b'{"messages": [{"role": "assistant"}]}', 'a message has a "content" that is no text'),
        (b'{"messages": [{"content": [{"type": "image_url"}]}]}', 'a message has a "content" that is no text'),
        (b'{"messages": []}', "its prompt is empty"),
        (b'""', "its prompt is empty"),
        (b'{"prompt": " \\n"}', "its prompt is empty"),
        (b"caf\xe9", "it is not UTF-8 (byte 4)"),
        (b"a\x00b", "it holds a NUL character"),
        (b'"a\\u0000b"', "it holds a NUL character"),
        (b'"\\ud83d"', "it holds half of a character"),
        (b"[" * 100_000, ""),  # JSON too deep to be any is text
        (b'{"prompt": ' * 100_000, "it begins like a JSON object and is none"),
        (b'{"prompt": "a", "id": ' + b"9" * 5000 + b"}", "it begins like a JSON object and is none"),
        (b"x" * (MOST_CHARACTERS + 1), "it has 2,000,001 characters; at most 2,000,000 are used"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_bad_line_is_named_by_its_number_and_the_rest_is_used(line: bytes, reason: str) -> None:
    read = read_prompts(b"\n".join([b"one", b"", line, b'{"prompt": "two"}']))
    if not reason:
        assert read.texts[0] == "one" and not read.bad_lines
        return
    assert read.texts == ("one", "two")
    ((number, told),) = [(line.number, line.reason) for line in read.bad_lines]
    assert number == 3
    assert reason in told


def test_several_bad_lines_keep_the_numbers_an_editor_shows() -> None:
    assert list(bad(b"", b"[]", b"fine", b'""', b"\xff")) == [3, 5, 6]


def test_no_reason_quotes_a_prompt() -> None:
    secret = b"the patient's name"
    reasons = " ".join(
        bad(b'{"prompt": "' + secret, b'["' + secret + b'"]', secret + b"\xff", secret + b"\x00").values()
    )
    assert "patient" not in reasons and reasons


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "holds no prompt that can be used."),
        (b"\n \n\r\n", "holds no prompt that can be used."),
        (b"\n[1]\n", "line 2: it is a JSON array"),
        (bytes(range(128, 256)) * 40, "line 1: it is not UTF-8"),
        (b"GIF89a\x00\x01" * 40, "line 1: it holds a NUL character"),
        ("über".encode("utf-16"), "is UTF-16"),
        (b"a" * (MOST_BYTES + 1), "has 8,388,609 bytes; it may have 8,388,608 (8 MiB)"),
        (b"a\n\n" * (MOST_PROMPTS + 1), "more than 10,000 lines (at least 20,001)"),
    ],
    ids=["empty", "blank", "all bad", "binary", "NUL", "utf-16", "too large", "10,001 lines"],
)
def test_a_file_that_is_none_of_prompts_is_refused_with_the_figures(data: bytes, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        read_prompts(data)
    assert refused.value.code == "bad_prompts"
    assert sentence in refused.value.message
    assert refused.value.hint


def test_as_many_as_the_bound_are_taken() -> None:
    assert len(read_prompts(b"a\n" * MOST_PROMPTS).texts) == MOST_PROMPTS
    assert len(read_prompts(b"a" * MOST_CHARACTERS).texts[0]) == MOST_CHARACTERS


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)))
def test_what_is_written_as_json_lines_is_read_as_it_was(prompts: list[str]) -> None:
    prompts = ["first", *(prompt for prompt in prompts if prompt.strip())]
    data = "\n".join(json.dumps({"prompt": prompt}, ensure_ascii=False) for prompt in prompts).encode()
    assert read_prompts(data).texts == tuple(prompts)


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        read = read_prompts(data)
    except Refusal as refusal:
        assert refusal.code == "bad_prompts"
    else:
        assert read.texts and all(text.strip() and "\x00" not in text for text in read.texts)


def test_the_median_and_the_95th_percentile_are_lengths_that_occur() -> None:
    assert PromptLengths.of([7]) == PromptLengths(count=1, p50=7, p95=7, longest=7)
    assert PromptLengths.of([4, 1, 3, 2]) == PromptLengths(count=4, p50=2, p95=4, longest=4)
    assert PromptLengths.of(range(1, 101)) == PromptLengths(count=100, p50=50, p95=95, longest=100)
    assert PromptLengths.of(range(21, 0, -1)) == PromptLengths(count=21, p50=11, p95=20, longest=21)


def test_the_suggested_workload_takes_every_prompt_in_multiples_of_four() -> None:
    lengths = PromptLengths(count=9, p50=810, p95=3100, longest=7902)
    assert (lengths.suggested_typical, lengths.suggested_longest) == (812, 7904)
    tiny = PromptLengths(count=1, p50=0, p95=0, longest=0)
    assert (tiny.suggested_typical, tiny.suggested_longest) == (4, 4)
    assert PromptLengths.from_json(lengths.as_json()) == lengths
