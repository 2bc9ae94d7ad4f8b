"""A stand-in for offloading where there is no GPU: a measuring process whose “device” is the CPU and whose “CPU RAM” is
a file. For tests and demonstrations alone; the device that it measures on is named as what it is.

transformers' own offloading cache runs unchanged: the layer at work and the next one are in memory, the others are in
the file, and each token brings every layer back and writes it again, at 50 MiB/s or what --bus says. So at most two
layers are in the peak, host_bytes is what lies in the file, and decoding is slow in proportion to the cache. What is
not shown: copies beside the computation, and pinned memory.

    MeasuringProcess(module="tests.gpu.offload_standin")            # in a test
    python -m tests.gpu.offload_standin --write-python /tmp/offload-python [--bus 50MiB]
    MEASURING_PYTHON=/tmp/offload-python make run                   # the whole portal; or: manage.py profile …
                                                                    #   --strategies offloaded,quantized:hqq:4
"""

import argparse
import os
import stat
import sys
import tempfile
from pathlib import Path
from time import sleep
from typing import IO, Any

from jobs.sizing.units import MIB, parse_size

BUS = "OFFLOAD_BUS"  # bytes/s
USUAL_BUS_BYTES_PER_S = 50 * MIB
KIND = "stand-in"  # not "cpu", on which the procedure tries no offloading
NAMED = "offloading by a stand-in, no GPU"
PYTHON = """#!/bin/sh
# Runs the measuring process with the tests' stand-in for offloading; everything else as {python} does.
PATH={tools}:$PATH
{bus_name}={bus}
export PATH {bus_name}
if [ "$1 $2" = "-m jobs.measuring" ]; then shift 2; exec {python} -m tests.gpu.offload_standin "$@"; fi
exec {python} "$@"
"""


class NoStream:
    """In the place of a CUDA stream: everything is done at once."""

    def __enter__(self) -> "NoStream":
        return self

    def __exit__(self, *_: object) -> None: ...

    def wait_stream(self, _other: object) -> None: ...


class WithoutStreams:
    """torch as the cache's module sees it: its streams are none, all else is its own."""

    Stream = NoStream

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.cuda = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._torch, name)

    @staticmethod
    def default_stream(_device: object) -> NoStream:
        return NoStream()


class Away:
    """One tensor's bytes in a file that goes with this object; in its place stays a tensor of its shape, on meta."""

    def __init__(self, tensor: Any) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed when the cache is dropped)
        self._dtype, self._shape = tensor.dtype, tensor.shape
        self._file.write(_bytes_of(tensor.contiguous()))
        _cross_the_bus(tensor.nbytes)

    def back(self) -> Any:
        import torch

        tensor = torch.empty(self._shape, dtype=self._dtype)
        self._file.seek(0)
        self._file.readinto(_bytes_of(tensor))  # type: ignore[attr-defined]
        _cross_the_bus(tensor.nbytes)
        return tensor


def offload(layer: Any) -> None:
    """CacheLayerMixin.offload: keys and values go to their files."""
    if layer.is_initialized:
        layer.away = {name: Away(getattr(layer, name)) for name in ("keys", "values")}
        layer.keys, layer.values = layer.keys.to("meta"), layer.values.to("meta")


def prefetch(layer: Any) -> None:
    if layer.is_initialized and layer.keys.device != layer.device:
        layer.keys, layer.values = layer.away.pop("keys").back(), layer.away.pop("values").back()


def _bytes_of(tensor: Any) -> memoryview:
    import torch

    return memoryview(tensor.view(torch.uint8).numpy()).cast("B")


def _cross_the_bus(size_bytes: int) -> None:
    sleep(size_bytes / float(os.environ.get(BUS, USUAL_BUS_BYTES_PER_S)))


def stand_in() -> None:
    """Change this process: after it, offloading is measured on a CPU."""
    import torch
    from transformers import cache_utils

    from jobs.measuring import applicable, cpu_memory, devices
    from jobs.measuring.cache_bytes import used_bytes

    cache_utils.torch = WithoutStreams(torch)
    cache_utils.CacheLayerMixin.offload = offload
    cache_utils.CacheLayerMixin.prefetch = prefetch
    may_run, cpu_name = applicable.why_not, devices.cpu_name
    applicable.why_not = lambda strategy, device: may_run(strategy, device="cuda:0")
    devices.cpu_name = lambda: f"{cpu_name()} ({NAMED})"
    memory: Any = cpu_memory.CpuMemory
    memory.note_cache = lambda self, cache: setattr(self, "host", used_bytes(cache, on="meta"))
    memory.host_bytes = lambda self, _cache_bytes: self.host
    from jobs.measuring import requests  # now: it takes names of the modules above

    told = requests._loaded
    requests._loaded = lambda loaded, device, *more: told(loaded, {**device, "kind": KIND}, *more)


def write_python(path: Path, *, bus_bytes_per_s: int = USUAL_BUS_BYTES_PER_S) -> None:
    """A program to name in MEASURING_PYTHON."""
    python, tools = sys.executable, Path(sys.executable).parent
    path.write_text(PYTHON.format(python=python, tools=tools, bus_name=BUS, bus=bus_bytes_per_s))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def main() -> None:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--write-python", type=Path)
    options.add_argument("--bus", type=parse_size, default=USUAL_BUS_BYTES_PER_S)
    given, _ = options.parse_known_args()
    if given.write_python:
        write_python(given.write_python, bus_bytes_per_s=given.bus)
        return
    stand_in()
    from jobs.measuring.__main__ import main as measure

    measure()


if __name__ == "__main__":
    main()
