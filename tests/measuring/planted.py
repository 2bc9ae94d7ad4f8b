"""The measuring process with a fault planted in the model's forward pass, where the stage of a measurement names one.

`python -m tests.measuring.planted --parent PID`. Real memory is leaked, the real process crashes or hangs; what would
need a GPU or an older library is raised in the words of the library.
"""

import ctypes
import threading
from typing import Any, NoReturn
from unittest import mock

import torch
from transformers import StaticCache

from jobs.measuring import __main__ as measuring
from jobs.measuring import requests
from jobs.sizing.units import MIB

LEAK_BYTES = 50 * MIB
KEPT: list[Any] = []


def leak_tensors(model: Any) -> None:
    KEPT.append(torch.ones(LEAK_BYTES, dtype=torch.uint8))


def keep_cache(model: Any) -> None:
    """As transformers kept the last static cache on the model."""
    model._cache = StaticCache(config=model.config, max_cache_len=4096)
    model._cache.layers[0].keys = torch.ones(LEAK_BYTES, dtype=torch.uint8)


def crash(model: Any) -> None:
    ctypes.string_at(0)


def hang(model: Any) -> None:
    threading.Event().wait()


RAISED: dict[str, Exception] = {
    "device assert": RuntimeError(
        "CUDA error: device-side assert triggered\nCUDA kernel errors might be asynchronously reported at some other "
        "API call, so the stacktrace below might be incorrect.\nCompile with `TORCH_USE_CUDA_DSA`."
    ),
    "quanto shift": ValueError("shift must be specified"),
    "quantized windows": ValueError("`QuantizedCache` is only supported for models with only full attention layers"),
    "static too short": RuntimeError("index_copy_(): Number of indices (48) should be equal to source.size(dim) (47)"),
    "offloaded hybrid": RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!"
    ),
    "offloaded windows": ValueError("True is not in list"),
    "offloaded without CUDA": AssertionError("Torch not compiled with CUDA enabled"),
    "shapes": RuntimeError("shape '[3, 4, 64]' is invalid for input of size 65536"),
    "divisibility": AssertionError("tensor size must be divisible by group_size"),
    "dtype": RuntimeError("expected scalar type Float but found BFloat16"),
    "too long": IndexError("index out of range in self"),
}
ACTS = {
    "leak": leak_tensors,
    "kept cache": keep_cache,
    "crash": crash,
    "hang": hang,
}


class PlantedRequests(requests.Requests):
    def _measure(self, request: requests.Request) -> bool:
        assert self._measurer is not None
        fault = request["stage"]

        def plant(module: Any, inputs: Any) -> None:
            if fault in RAISED:
                raise_it(RAISED[fault])
            ACTS[fault](module)

        # A crash without the limit would cost one more start, and tell the same.
        if (fault not in RAISED and fault not in ACTS) or (fault == "crash" and not request["enforce"]):
            return super()._measure(request)
        hook = self._measurer.loaded.model.register_forward_pre_hook(plant)
        try:
            return super()._measure(request)
        finally:
            hook.remove()


def raise_it(error: Exception) -> NoReturn:
    raise type(error)(*error.args)


if __name__ == "__main__":
    with mock.patch.object(requests, "Requests", PlantedRequests):
        measuring.main()
