"""Bytes that quantized caches hold: codes, scales, zero points, and the latest tokens that are not quantized yet.

Source: transformers' cache layers (HQQQuantizedLayer on axis 1, QuantoQuantizedLayer on axis 0, Fp8QuantizedLayer),
which tests compare with real caches byte by byte.
"""

from jobs.sizing.strategy import GROUP_ELEMENTS, RESIDUAL_TOKENS, Strategy


def residual_tokens(strategy: Strategy, answered_tokens: int) -> int:
    """Tokens kept in the compute precision after so many decode steps.

    The prompt is quantized whole; each further token waits in the residual, which is emptied into the quantized
    part by the step that fills it (the 128th). fp8 appends at once and keeps none.
    """
    return answered_tokens % RESIDUAL_TOKENS if strategy.backend != "fp8" else 0


def most_residual_tokens(strategy: Strategy, answered_tokens: int) -> int:
    """The most tokens that the residual held at any step up to this one: the upper envelope of `residual_tokens`."""
    return min(answered_tokens, RESIDUAL_TOKENS - 1) if strategy.backend != "fp8" else 0


def tensor_bytes(strategy: Strategy, elements: int, element_bytes: int) -> int:
    """Bytes of one quantized tensor (a layer's keys, or its values) of so many elements.

    Integer backends: `bits` a code, packed into bytes along the groups, with a scale and a zero point in the compute
    precision for each 64 elements. fp8: one byte an element; its one scale a tensor is not counted.
    """
    if strategy.backend == "fp8" or strategy.bits is None:
        return elements
    groups = -(-elements // GROUP_ELEMENTS)
    packed_rows = -(-groups * strategy.bits // 8)
    return packed_rows * GROUP_ELEMENTS + groups * 2 * element_bytes
