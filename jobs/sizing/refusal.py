"""An answer that cannot be given, said so that its reader knows what to do."""

from collections.abc import Mapping
from typing import Any


class Refusal(Exception):
    """A code for programs, a sentence for people and a hint that says what to change."""

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def as_json(self) -> dict[str, str]:
        return {"code": self.code, "message": self.message, "hint": self.hint}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Refusal":
        return cls(str(data["code"]), str(data["message"]), str(data.get("hint", "")))
