"""Where and how the KV cache is kept, and how the prompt is fed: one name for each."""

from dataclasses import dataclass
from enum import StrEnum

from jobs.sizing.refusal import Refusal


class CacheKind(StrEnum):
    """The values of `cache_implementation` that transformers 5 accepts (default is its "dynamic")."""

    DEFAULT = "default"
    STATIC = "static"
    OFFLOADED = "offloaded"
    OFFLOADED_STATIC = "offloaded_static"
    QUANTIZED = "quantized"


QUANTIZED_BITS: dict[str, tuple[int, ...]] = {"hqq": (8, 4, 2), "quanto": (4, 2), "fp8": ()}
QUANTIZED_AXIS: dict[str, int] = {"hqq": 1, "quanto": 0}
GROUP_ELEMENTS = 64
RESIDUAL_TOKENS = 128
# What transformers takes by default: groups of 64 elements share a scale; the latest 128 tokens stay unquantized.
CACHE_LABELS = {
    CacheKind.DEFAULT: "normal cache",
    CacheKind.STATIC: "static",
    CacheKind.OFFLOADED: "offloaded to CPU",
    CacheKind.OFFLOADED_STATIC: "offloaded to CPU, static",
}


@dataclass(frozen=True, kw_only=True)
class Strategy:
    """A cache kind and a way to prefill; `str()` gives the name that `parse` reads."""

    cache: CacheKind = CacheKind.DEFAULT
    backend: str | None = None
    bits: int | None = None
    chunk_tokens: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Strategy":
        """Read `quantized:hqq:4+chunked:512` and the like; raises Refusal("unknown_strategy")."""
        cache = CacheKind.DEFAULT
        backend: str | None = None
        bits: int | None = None
        chunk: int | None = None
        for part in text.strip().split("+"):
            head, *rest = part.split(":")
            if head == "chunked":
                if chunk is not None:
                    raise _unknown(text)
                chunk = _chunk(text, rest)
            elif head == CacheKind.QUANTIZED:
                if cache is not CacheKind.DEFAULT:
                    raise _unknown(text)
                cache = CacheKind.QUANTIZED
                backend, bits = _quantized(text, rest)
            elif head in set(CacheKind) and not rest:
                if cache is not CacheKind.DEFAULT:
                    raise _unknown(text)
                cache = CacheKind(head)
            else:
                raise _unknown(text)
        return cls(cache=cache, backend=backend, bits=bits, chunk_tokens=chunk)

    def __str__(self) -> str:
        name = str(self.cache)
        if self.cache is CacheKind.QUANTIZED:
            name = ":".join(["quantized", str(self.backend), *([str(self.bits)] if self.bits else [])])
        if self.chunk_tokens is None:
            return name
        chunked = f"chunked:{self.chunk_tokens}"
        return chunked if self.cache is CacheKind.DEFAULT else f"{name}+{chunked}"

    @property
    def label(self) -> str:
        """What a page says."""
        if self.cache is CacheKind.QUANTIZED:
            precision = f"{self.bits} bits ({self.backend})" if self.bits else f"({self.backend})"
            name = f"quantized {precision}"
        else:
            name = CACHE_LABELS[self.cache]
        if self.chunk_tokens is None:
            return name
        if self.cache is CacheKind.DEFAULT:
            return f"chunked prefill ({self.chunk_tokens})"
        return f"{name} + chunked prefill ({self.chunk_tokens})"

    @property
    def changes(self) -> int:
        """How many things differ from the baseline: 0 for the baseline itself, 2 for a combination."""
        return int(self.cache is not CacheKind.DEFAULT) + int(self.chunk_tokens is not None)

    @property
    def is_offloaded(self) -> bool:
        return self.cache in (CacheKind.OFFLOADED, CacheKind.OFFLOADED_STATIC)

    @property
    def is_quantized(self) -> bool:
        return self.cache is CacheKind.QUANTIZED

    @property
    def without_chunks(self) -> "Strategy":
        return Strategy(cache=self.cache, backend=self.backend, bits=self.bits)


BASELINE = Strategy()


def strategy_label(name: str) -> str:
    """The page's word for a strategy; a name from another release is shown as it is."""
    try:
        return Strategy.parse(name).label
    except Refusal:
        return name


def _quantized(text: str, rest: list[str]) -> tuple[str, int | None]:
    backend = rest[0] if rest else ""
    if backend not in QUANTIZED_BITS:
        raise _unknown(text)
    allowed = QUANTIZED_BITS[backend]
    if not allowed and len(rest) == 1:
        return backend, None
    if len(rest) == 2 and rest[1] in {str(bits) for bits in allowed}:
        return backend, int(rest[1])
    raise _unknown(text)


def _chunk(text: str, rest: list[str]) -> int:
    number = rest[0] if len(rest) == 1 else ""
    if number.isascii() and number.isdigit() and len(number) <= 7 and int(number) > 0 and int(number) % 4 == 0:
        return int(number)
    raise _unknown(text)


def _unknown(text: str) -> Refusal:
    return Refusal(
        "unknown_strategy",
        f"“{text[:60]}” is not a cache strategy.",
        "Use default, static, offloaded, offloaded_static, quantized:hqq:8|4|2, quantized:quanto:4|2, quantized:fp8, "
        "or chunked:N (a multiple of 4), alone or behind another with a plus sign.",
    )
