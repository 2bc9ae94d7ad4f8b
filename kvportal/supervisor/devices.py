"""Which devices of this machine get a worker: the GPUs, else the CPU."""

from pathlib import Path

from django.conf import settings

NVIDIA_DRIVER = (Path("/proc/driver/nvidia/version"), Path("/dev/nvidiactl"))


def devices_here() -> list[str]:
    """DEVICES where it is set. Without an NVIDIA driver nothing is probed: a start must be quick."""
    if settings.DEVICES:
        return list(settings.DEVICES)
    if not any(path.exists() for path in NVIDIA_DRIVER):
        return ["cpu"]
    from jobs.running.devices import list_devices

    names = [str(found["device"]) for found in list_devices()]
    return [name for name in names if name != "cpu"] or ["cpu"]
