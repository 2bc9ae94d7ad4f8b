"""What is known of a device at once, without torch: its kind, name and memory."""

import platform
from pathlib import Path
from typing import TypedDict


class DeviceFacts(TypedDict):
    kind: str
    device_name: str
    capacity_bytes: int  # 0: not known yet


def device_facts(
    device: str, *, cpuinfo: Path = Path("/proc/cpuinfo"), meminfo: Path = Path("/proc/meminfo")
) -> DeviceFacts:
    """The processor's model and the machine's memory; of a graphics processor its kind, until it is asked."""
    if device != "cpu":
        return {"kind": "cuda", "device_name": f"GPU {device.replace('cuda:', '')}", "capacity_bytes": 0}
    name = _field(cpuinfo, "model name") or platform.processor() or platform.machine()
    memory_kib = (_field(meminfo, "MemTotal") or "0 kB").split()[0]
    return {"kind": "cpu", "device_name": name, "capacity_bytes": int(memory_kib) * 1024}


def _field(path: Path, wanted: str) -> str | None:
    if not path.exists():
        return None
    for line in path.read_text().splitlines():
        name, _, value = line.partition(":")
        if name.strip() == wanted:
            return value.strip()
    return None
