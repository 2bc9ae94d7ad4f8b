"""The measuring process, asked one thing more: `bare`, the seconds of the same generate() call and nothing else."""

from time import perf_counter
from typing import Any
from unittest import mock

import torch

from jobs.measuring import __main__ as measuring
from jobs.measuring import requests
from jobs.measuring.prompts import RandomPrompts
from jobs.measuring.settings import generation_config
from jobs.sizing.strategy import Strategy


class BareRequests(requests.Requests):
    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self._acts["bare"] = self._bare

    def _bare(self, request: requests.Request) -> bool:
        assert self._measurer is not None
        model = self._measurer.loaded.model
        ids = RandomPrompts(model.config).ids(sequences=1, tokens=request["prompt_tokens"], seed=0)
        config = generation_config(Strategy.parse(request["strategy"]), answer_tokens=request["answer_tokens"])
        began_at = perf_counter()
        with torch.inference_mode():
            model.generate(ids, attention_mask=torch.ones_like(ids), generation_config=config)
        self._answers.result({"seconds": perf_counter() - began_at})
        return False


if __name__ == "__main__":
    with mock.patch.object(requests, "Requests", BareRequests):
        measuring.main()
