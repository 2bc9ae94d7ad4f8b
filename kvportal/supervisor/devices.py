"""Which devices of this machine get a worker: the GPUs, else the CPU."""

from pathlib import Path

from django.conf import settings

from jobs.running.devices import list_devices
from jobs.running.process import ProcessDied, ProcessHung
from jobs.sizing.refusal import Refusal

NVIDIA_DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"))


def devices_here() -> list[str]:
    """DEVICES where it is set. Without an NVIDIA driver nothing is probed: a start must be quick."""
    if settings.DEVICES:
        return list(settings.DEVICES)
    if not any(path.exists() for path in NVIDIA_DRIVER):
        return ["cpu"]
    try:
        names = [str(found["device"]) for found in list_devices()]
    except (ProcessDied, ProcessHung) as reason:
        raise Refusal(
            "devices_unknown",
            f"The devices of this machine are not known. {reason}",
            "Run make install again, or name them yourself: DEVICES=cuda:0 make run.",
        ) from None
    return [name for name in names if name != "cpu"] or ["cpu"]
