"""The peak of live tensor storage, in bytes, for whatever runs inside the mode."""

import weakref
from typing import Any, Self
from unittest import mock

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from jobs.measuring.meta_calls import SeenCalls
from jobs.measuring.meta_scratch import scratch_bytes
from jobs.measuring.meta_shapes import SeenShapes


class LiveStorage(TorchDispatchMode):  # type: ignore[misc]
    """Counts each untyped storage once, from the operation that makes it until it is freed.

    Scratch that a kernel allocates and frees inside itself is not seen; `meta_scratch` adds what is known of it.
    """

    def __init__(self, ignored: torch.nn.Module) -> None:
        super().__init__()
        self.live_bytes = 0
        self.peak_bytes = 0
        self.operations = 0
        self._shapes = SeenShapes.of(ignored)
        self._calls = SeenCalls.of(ignored)
        self._sizes: dict[int, int] = {}
        self._deaths: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._ignored = {storage_key(tensor) for tensor in [*ignored.parameters(), *ignored.buffers()]}

    def __enter__(self) -> Self:
        self._remembering = mock.patch.object(nn.Module, "__call__", self._calls.through(self, nn.Module.__call__))
        self._remembering.start()
        return super().__enter__()  # type: ignore[no-any-return]

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._remembering.stop()

    def owns(self, tensor: torch.Tensor) -> bool:
        """Whether its storage is counted here."""
        return storage_key(tensor) in self._sizes

    def leave_out(self, tensor: torch.Tensor) -> None:
        """Do not count this one, nor what views it; the caller keeps it as long as this counts."""
        key = storage_key(tensor)
        self._free(key)
        self._ignored.add(key)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """No: nothing is compiled in here, and switching the compiler off costs more than noting an operation does."""
        return False

    def start_phase(self) -> None:
        """From here on the peak counts anew, beginning with what is alive."""
        self.peak_bytes = self.live_bytes

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = self._shapes.answer(func, args, kwargs or {})
        self.operations += 1
        if isinstance(out, torch.Tensor):
            self._note(out)
        else:
            for leaf in tree_leaves(out):
                if isinstance(leaf, torch.Tensor):
                    self._note(leaf)
        self.peak_bytes = max(self.peak_bytes, self.live_bytes + scratch_bytes(func, args, out))
        return out

    def _note(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._ignored:
            return
        size, known = storage.nbytes(), self._sizes.get(key)
        if size == known:
            return
        self.live_bytes += size - (known or 0)
        if known is None:
            self._deaths[key] = weakref.ref(storage, lambda _, key=key: self._free(key))  # type: ignore[misc]
        self._sizes[key] = size

    def _free(self, key: int) -> None:
        self.live_bytes -= self._sizes.pop(key, 0)
        self._deaths.pop(key, None)


def storage_key(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)
