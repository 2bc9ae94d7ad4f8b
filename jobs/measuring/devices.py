"""What can be measured on here."""

import os
import platform
from pathlib import Path
from typing import Any

import torch

CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")


def devices() -> list[dict[str, Any]]:
    """CUDA devices first, the CPU last; capacity_bytes is the whole device's."""
    return [*(_cuda_device(index) for index in range(cuda_count())), cpu_device()]


def device(name: str) -> dict[str, Any] | None:
    """The one called `name` ("cpu", "cuda:0"), or None."""
    return next((found for found in devices() if found["device"] == name), None)


def cuda_count() -> int:
    return torch.cuda.device_count() if torch.cuda.is_available() else 0


def _cuda_device(index: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    return {
        "device": f"cuda:{index}",
        "kind": "cuda",
        "name": properties.name,
        "capacity_bytes": properties.total_memory,
    }


def cpu_device() -> dict[str, Any]:
    return {"device": "cpu", "kind": "cpu", "name": cpu_name(), "capacity_bytes": host_memory_bytes()}


def cpu_name() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def host_memory_bytes() -> int:
    """Physical memory, or the container's limit where that is less."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.exists() else "max"
    return min(physical, int(limit)) if limit.isdigit() else physical
