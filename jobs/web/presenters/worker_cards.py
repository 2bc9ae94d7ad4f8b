"""Workers with their devices, versions and the strategies that apply there."""

from collections.abc import Iterable
from dataclasses import dataclass

from jobs.models import Worker

FAMILIES = {
    "default": "normal cache",
    "static": "static",
    "chunked": "chunked prefill",
    "offloaded": "offloaded to CPU",
    "offloaded_static": "offloaded to CPU, static",
    "quantized": "quantized",
    "quantized:hqq": "quantized (hqq)",
    "quantized:quanto": "quantized (quanto)",
    "quantized:fp8": "quantized (fp8)",
}


@dataclass(frozen=True, kw_only=True)
class StrategyOnDevice:
    label: str
    applicable: bool
    reason: str


@dataclass(frozen=True, kw_only=True)
class WorkerCard:
    worker: Worker
    versions: tuple[tuple[str, str], ...]
    strategies: tuple[StrategyOnDevice, ...]
    trouble: str


def worker_cards(workers: Iterable[Worker]) -> list[WorkerCard]:
    return [
        WorkerCard(
            worker=worker,
            versions=tuple(sorted((name, str(version)) for name, version in worker.versions.items() if version)),
            strategies=tuple(
                StrategyOnDevice(
                    label=FAMILIES.get(family, family),
                    applicable=verdict is True,
                    reason="" if verdict is True else str(verdict),
                )
                for family, verdict in sorted(worker.applicable.items(), key=_place)
            ),
            trouble=str((worker.error or {}).get("message", "")),
        )
        for worker in workers
    ]


def _place(item: tuple[str, object]) -> tuple[int, str]:
    order = list(FAMILIES)
    return (order.index(item[0]) if item[0] in order else len(order), item[0])
