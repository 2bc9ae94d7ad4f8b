"""What can be measured on here, asked of a measuring process: this one never touches torch or CUDA."""

from collections.abc import Callable
from typing import Any

from jobs.running.process import MeasuringProcess

COMPILE_PATIENCE_S = 600.0


def list_devices() -> list[dict[str, Any]]:
    """`[{"device", "kind", "name", "capacity_bytes"}]`: CUDA devices first, the CPU last."""
    with MeasuringProcess() as process:
        return list(process.hello["devices"])


def probe(device: str | None = None, *, start: Callable[[], MeasuringProcess] = MeasuringProcess) -> dict[str, Any]:
    """`{"versions", "devices", "applicable": {strategy family: true | reason}}` for `device` (the first by default).

    The first probe after an installation compiles what is compiled at first use, which takes up to 90 s.
    """
    with start() as process:
        chosen = device or process.hello["devices"][0]["device"]
        warmed = process.request("warm", patience_s=COMPILE_PATIENCE_S, device=chosen)
        return {
            "versions": process.hello["versions"],
            "devices": process.hello["devices"],
            "applicable": warmed["applicable"],
        }
