"""Fields that read what people write: counts with separators, sizes with units, bounds with a sentence."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from jobs.procedure.defaults import MAX_KL
from jobs.sizing.refusal import Refusal
from jobs.sizing.units import bytes_text, parse_size

_WHOLE = re.compile(r"\d{1,20}", re.ASCII)
_DECIMAL = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)

EXAMPLES = {"tokens": 4096}
NO_BOUND = "none"
MOST_KL = 1000  # nats: no two caches of one model are as far apart


class CountField(forms.CharField):
    """A whole number from `least` to `most`; 4,096 and 4 096 are read as 4096."""

    def __init__(self, *, least: int = 1, most: int, unit: str = "tokens", **options: Any) -> None:
        self.least, self.most, self.unit = least, most, unit
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "numeric", "autocomplete": "off"}))
        super().__init__(max_length=30, **options)

    def clean(self, value: Any) -> int | None:
        written = super().clean(value)
        text = re.sub(r"[\s,_]", "", written)
        if not written:
            return None
        if not _WHOLE.fullmatch(text):
            raise ValidationError(f"Write a whole number of {self.unit}, such as {EXAMPLES.get(self.unit, 8):,}.")
        count = int(text)
        if not self.least <= count <= self.most:
            raise ValidationError(f"Use {self.least:,} to {self.most:,} {self.unit}; {count:,} is outside of that.")
        return count


class AmountField(forms.CharField):
    """A decimal from `least` to `most`; 2,5 is refused, for nobody knows what it means."""

    def __init__(self, *, least: float = 0.0, most: float, zero: bool = False, unit: str, **options: Any) -> None:
        self.least, self.most, self.zero, self.unit = least, most, zero, unit
        options.setdefault("widget", forms.TextInput(attrs={"inputmode": "decimal", "autocomplete": "off"}))
        super().__init__(max_length=30, **options)

    def clean(self, value: Any) -> float | None:
        text = super().clean(value).strip()
        if not text:
            return None
        if not _DECIMAL.fullmatch(text):
            raise ValidationError(f"Write a number of {self.unit} with a decimal point, such as 2.5.")
        amount = float(text)
        if not self.least <= amount <= self.most or (amount == 0 and not self.zero):
            least = f"{self.least:g}" if self.zero or self.least else "more than 0"
            raise ValidationError(f"Use {least} to {self.most:,g} {self.unit}.")
        return amount


class QualityBoundField(AmountField):
    """A mean KL divergence; blank is the usual bound, and “none” is None: no bound."""

    def __init__(self, **options: Any) -> None:
        super().__init__(most=MOST_KL, unit="of mean KL", **options)

    def clean(self, value: Any) -> float | None:
        if str(value or "").strip().lower() == NO_BOUND:
            return None
        try:
            amount = super().clean(value)
        except ValidationError as error:
            raise ValidationError(f"Write more than 0 and at most {MOST_KL:,}, such as {MAX_KL:g}, or none.") from error
        return MAX_KL if amount is None else amount


class SizeField(forms.CharField):
    """Bytes as 300MiB or 24GiB; blank is None."""

    def __init__(self, **options: Any) -> None:
        options.setdefault("widget", forms.TextInput(attrs={"autocomplete": "off", "placeholder": "all of it"}))
        super().__init__(max_length=40, **options)

    def clean(self, value: Any) -> int | None:
        text = super().clean(value).strip()
        if not text:
            return None
        try:
            return parse_size(text)
        except Refusal as refusal:
            raise ValidationError(said(refusal), code=refusal.code) from refusal

    def prepare_value(self, value: Any) -> Any:
        """A clone's capacity, back in words that read as the same number of bytes."""
        if not isinstance(value, int):
            return value
        text = bytes_text(value)
        return text if parse_size(text) == value else f"{value}B"


def said(refusal: Refusal) -> str:
    """A refusal as a field's error: the sentence and what to change."""
    return f"{refusal.message} {refusal.hint}".strip()
