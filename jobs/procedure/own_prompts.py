"""The team's own prompts: a file's lines, bounded.

One prompt a line. A JSON line is a string, or an object with "prompt", "text" or chat "messages" (their contents, one
beneath the other, without roles or a chat template); any other line is the prompt's text itself.
"""

import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jobs.sizing.refusal import Refusal
from jobs.sizing.units import MIB, bytes_text

MOST_BYTES = 8 * MIB
MOST_PROMPTS = 10_000
MOST_CHARACTERS = 2_000_000
UTF8_MARK = b"\xef\xbb\xbf"
UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
JSON_OBJECT = re.compile(r'\{\s*"')
WANTED = 'an object with "prompt", "text" or "messages"'


@dataclass(frozen=True, kw_only=True)
class BadLine:
    """A line that is no prompt, by its number from 1, and why; never its text."""

    number: int
    reason: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class OwnPrompts:
    """texts: the prompts in the file's order, at least one. sha256, file_bytes: of the file as it came."""

    texts: tuple[str, ...]
    bad_lines: tuple[BadLine, ...]
    sha256: str
    file_bytes: int

    def for_load(self) -> dict[str, Any]:
        """What the measuring process is given with `load`."""
        return {"sha256": self.sha256, "texts": list(self.texts)}


class _Bad(Exception):
    """Why a line is no prompt."""


def read_prompts(data: bytes) -> OwnPrompts:
    """Raises Refusal: bad_prompts for what is no list of prompts, or is more than the bounds, with the figures."""
    refuse_too_large(len(data))
    if data.startswith(UTF16_MARKS):
        raise _refused("The file of prompts is UTF-16.", "Save it as UTF-8.")
    texts: list[str] = []
    bad: list[BadLine] = []
    for number, line in enumerate(io.BytesIO(data.removeprefix(UTF8_MARK)), start=1):
        if not line.strip():
            continue
        if len(texts) + len(bad) == MOST_PROMPTS:
            raise _refused(
                f"The file of prompts has more than {MOST_PROMPTS:,} lines (at least {number:,}).",
                f"Give {MOST_PROMPTS:,} or fewer, such as a random sample.",
            )
        try:
            texts.append(_prompt(line))
        except _Bad as why:
            bad.append(BadLine(number=number, reason=str(why)))
    if not texts:
        first = f"; line {bad[0].number}: {bad[0].reason}" if bad else ""
        raise _refused(f"The file holds no prompt that can be used{first}.", "Give one prompt a line, as JSON or text.")
    return OwnPrompts(
        texts=tuple(texts), bad_lines=tuple(bad), sha256=hashlib.sha256(data).hexdigest(), file_bytes=len(data)
    )


def refuse_too_large(file_bytes: int) -> None:
    """Raises Refusal: bad_prompts. To be asked before a file is read, where its size is known."""
    if file_bytes > MOST_BYTES:
        raise _refused(
            f"The file of prompts has {file_bytes:,} bytes; it may have {MOST_BYTES:,} ({bytes_text(MOST_BYTES)}).",
            "Give fewer prompts, such as a random sample.",
        )


def _refused(message: str, hint: str) -> Refusal:
    return Refusal("bad_prompts", message, hint)


def _prompt(line: bytes) -> str:
    try:
        text = line.decode().strip()
    except UnicodeDecodeError as error:
        raise _Bad(f"it is not UTF-8 (byte {error.start + 1})") from None
    if len(text) > MOST_CHARACTERS:
        raise _Bad(f"it has {len(text):,} characters; at most {MOST_CHARACTERS:,} are used")
    prompt = _meant(text)
    if not prompt.strip():
        raise _Bad("its prompt is empty")
    if "\x00" in prompt:
        raise _Bad("it holds a NUL character")
    if any("\ud800" <= character <= "\udfff" for character in prompt):
        raise _Bad("it holds half of a character (an unpaired surrogate)")
    return prompt


def _meant(text: str) -> str:
    """The prompt that a line stands for."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if JSON_OBJECT.match(text):
            raise _Bad("it begins like a JSON object and is none") from None
        return text
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return _of_object(value)
    if isinstance(value, list):
        raise _Bad(f"it is a JSON array, not a string or {WANTED}")
    return text  # a number or a word that JSON happens to know


def _of_object(value: Mapping[str, Any]) -> str:
    name = next((name for name in ("prompt", "text", "messages") if name in value), None)
    if name is None:
        raise _Bad(f"it is not {WANTED}")
    if name == "messages":
        return _of_messages(value[name])
    if not isinstance(value[name], str):
        raise _Bad(f'its "{name}" is no text')
    return str(value[name])


def _of_messages(messages: object) -> str:
    if not isinstance(messages, list) or not all(isinstance(message, Mapping) for message in messages):
        raise _Bad('its "messages" are not a list of {"role", "content"}')
    return "\n".join(_of_content(message.get("content")) for message in messages)


def _of_content(content: object) -> str:
    """A message's text: given as such, or as a list of parts that are all text."""
    parts = content if isinstance(content, list) else [{"text": content}]
    texts = [part.get("text") if isinstance(part, Mapping) else None for part in parts]
    if not all(isinstance(text, str) for text in texts):
        raise _Bad('a message has a "content" that is no text')
    return "\n".join(map(str, texts))
