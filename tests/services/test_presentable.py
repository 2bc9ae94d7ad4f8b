import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.services.presentable import presentable, without_paths


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("No config.json in /srv/models/llama", "No config.json in …/llama"),
        ('File "/usr/lib/python3/x.py", line 3', 'File "…/x.py", line 3'),
        ("(/tmp/a/b/)", "(…/b)"),
        ("see https://huggingface.co/docs/hub/index", "see https://huggingface.co/docs/hub/index"),
        ("org/name@main and 3/4", "org/name@main and 3/4"),
        ("it took 1/2 of /proc", "it took 1/2 of /proc"),
    ],
)
def test_a_sentence_loses_the_machine_s_folders(text: str, shown: str) -> None:
    assert without_paths(text) == shown


def test_only_sentences_are_rewritten() -> None:
    data = {"path": "/srv/models/llama", "error": {"message": "in /srv/models/llama", "code": "x"}}
    assert presentable(data) == {"path": "/srv/models/llama", "error": {"message": "in …/llama", "code": "x"}}


def test_what_json_lacks_becomes_null() -> None:
    assert presentable({"a": [math.nan, math.inf, 1.5], "b": (1, "x\x00y")}) == {"a": [None, None, 1.5], "b": [1, "xy"]}


@given(st.recursive(st.none() | st.integers() | st.floats() | st.text(), st.lists))
def test_making_presentable_twice_changes_nothing_more(data: object) -> None:
    once = presentable({"message": data})
    assert presentable(once) == once
