"""The measuring process, asked one thing more: a request to measure may say that its sequences are `padded`.

Then they are of unequal lengths, filled up on the left, as a batch of real prompts is.
"""

from typing import Any
from unittest import mock

import torch

from jobs.measuring import __main__ as measuring
from jobs.measuring import generating, requests


def left_padding(prompt_ids: torch.Tensor) -> torch.Tensor:
    """[sequences, tokens]: 1 for what is read; the first sequence is whole, the last about half as long."""
    sequences, tokens = prompt_ids.shape
    mask = torch.ones_like(prompt_ids)
    for row in range(1, sequences):
        mask[row, : tokens * row // (2 * sequences)] = 0
    return mask


class PaddingRequests(requests.Requests):
    def _measure(self, request: requests.Request) -> bool:
        if not request["padded"]:
            return super()._measure(request)
        with mock.patch.object(generating, "_generate", _generate_padded):
            return super()._measure(request)


def _generate_padded(model: Any, config: Any, prompt_ids: torch.Tensor, **options: Any) -> None:
    model._previous_max_cache_length = -1
    with torch.inference_mode():
        model.generate(prompt_ids, attention_mask=left_padding(prompt_ids), generation_config=config, **options)


if __name__ == "__main__":
    with mock.patch.object(requests, "Requests", PaddingRequests):
        measuring.main()
