"""How far one run's next-token distributions are from another's, and how sure the mean is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist, fmean, stdev

import torch

BLOCK_TOKENS = 16  # neighbouring tokens are alike: means of blocks are nearly independent of one another
CONFIDENCE = 0.95


@dataclass(kw_only=True)
class Divergence:
    """One figure a scored token, in nats; `same_top` is 1 or 0."""

    kl: list[float] = field(default_factory=list)
    same_top: list[float] = field(default_factory=list)
    loss_difference: list[float] = field(default_factory=list)

    def add(self, reference: torch.Tensor, other: torch.Tensor, targets: torch.Tensor) -> None:
        """reference, other: log-probabilities [tokens, vocabulary], float32; targets: the text's own tokens [tokens].

        KL(reference ‖ other) = Σ p · (log p − log q); where p is 0, its term is 0.
        """
        probability = reference.exp()
        terms = torch.where(probability > 0, probability * (reference - other), 0.0)
        rows = torch.arange(len(targets), device=targets.device)
        self.kl += terms.sum(-1).tolist()
        self.same_top += (reference.argmax(-1) == other.argmax(-1)).float().tolist()
        self.loss_difference += (reference[rows, targets] - other[rows, targets]).tolist()

    @property
    def is_finite(self) -> bool:
        return all(abs(value) < float("inf") for value in (*self.kl, *self.loss_difference))


def mean_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the mean: Student's t over the means of whole blocks; None for fewer than two blocks.

    The incomplete block at the end takes no part.
    """
    means = [fmean(block) for block in _blocks(values)]
    if len(means) < 2:
        return None
    half = student_t(len(means) - 1) * stdev(means) / sqrt(len(means))
    middle = fmean(means)
    return middle - half, middle + half


def student_t(freedom: int) -> float:
    """The two-sided 95 % quantile, to 0.2 % from 8 degrees of freedom (Abramowitz and Stegun 26.7.5)."""
    z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _blocks(values: Sequence[float]) -> Iterator[Sequence[float]]:
    whole = len(values) - len(values) % BLOCK_TOKENS
    return (values[first : first + BLOCK_TOKENS] for first in range(0, whole, BLOCK_TOKENS))
