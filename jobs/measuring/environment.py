"""In what environment a number was measured: without it, the number cannot be compared."""

import os
import platform
from collections.abc import Mapping
from typing import Any

import torch

from jobs.measuring.devices import cpu_name
from jobs.measuring.libraries import versions

THREAD_SETTINGS = ("GOMP_", "KMP_", "MKL_", "OMP_")


def environment(
    *, device: Mapping[str, Any], dtype: str, attention: str, revision: str | None, config_hash: str
) -> dict[str, Any]:
    """Everything that a staleness check compares; plain JSON."""
    found: dict[str, Any] = {
        **versions(),
        "platform": platform.system(),
        "machine": platform.machine(),
        "kernel": platform.release(),
        "cpu": cpu_name(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cpu_kernels": torch.backends.cpu.get_cpu_capability(),
        "onednn": bool(torch.backends.mkldnn.enabled),
        "threads": torch.get_num_threads(),
        "thread_settings": _thread_settings(),
        "torch_build": torch.version.git_version[:12],
        "device": device["device"],
        "device_name": device["name"],
        "dtype": dtype,
        "attention": attention,
        "model_revision": revision,
        "config_hash": config_hash,
    }
    return found | (cuda_versions() if device["kind"] == "cuda" else {})


def cuda_versions() -> dict[str, str]:
    """Of CUDA as torch was built with it, and of the driver; nothing where there is neither."""
    found = {"cuda": torch.version.cuda, "driver": _driver()}
    return {name: version for name, version in found.items() if version}


def _thread_settings() -> str:
    """Variables by which OpenMP and MKL share out and wait: `GOMP_SPINCOUNT=1000 OMP_NUM_THREADS=2`."""
    names = sorted(name for name in os.environ if name.startswith(THREAD_SETTINGS))
    return " ".join(f"{name}={os.environ[name]}" for name in names)


def _driver() -> str | None:
    """The NVIDIA driver's version, by NVML where it is installed."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        return str(pynvml.nvmlSystemGetDriverVersion())
    except pynvml.NVMLError:
        return None
