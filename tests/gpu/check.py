"""What needs CUDA, in one go under 8 minutes: `python -m tests.gpu.check [--out build/gpu-check.json]`.

Needs torch and transformers alone; without a CUDA device it says so and ends well. On Llama-3.1-8B's architecture in
bfloat16 and on a windowed one, both with random weights and 24 GiB enforced: every strategy's peak beside the one that
sizing predicts, an offloading cache's CPU RAM and speed beside the bus's, the CUDA context's bytes, running out of
memory and going on, at last an assert on the device. The most valuable points come first, and what the time does not
hold is left out.

`--rehearse` runs the same code on a CPU with tiny models, so that the script itself is tested.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import torch

TIME_S = 420.0
BUS_BYTES_REHEARSED = 2**20


def check(*, rehearse: bool) -> dict[str, Any]:
    """What was measured, as it is written to the file. transformers is imported only where there is something to do."""
    from jobs.measuring.cuda_cards import CudaCards
    from jobs.measuring.devices import device as device_called
    from jobs.measuring.libraries import versions
    from jobs.measuring.nvml import Nvml
    from tests.gpu import bus
    from tests.gpu.checked import Checked
    from tests.gpu.subjects import CAPACITY_BYTES, ON_A_GPU, REHEARSED

    ends_at = monotonic() + TIME_S
    device = device_called("cpu" if rehearse else "cuda:0")
    if device is None:
        raise SystemExit("gpu-check: torch sees a CUDA device and cannot name it.")
    cards = CudaCards(Nvml.opened())
    report: dict[str, Any] = {"device": device, "versions": versions(), "rehearsal": rehearse, "rows": []}
    if not rehearse:
        cards.open(device, dtype="bfloat16", tell=say)  # before anything else makes a context
        report["environment"] = cards.environment(device)
    size_bytes = BUS_BYTES_REHEARSED if rehearse else bus.COPIED_BYTES
    torch_name = "cpu" if rehearse else "cuda:0"
    report["bus_bytes_per_s"] = {
        "to_device": bus.bytes_per_s(torch_name, to_device=True, size_bytes=size_bytes),
        "to_host": bus.bytes_per_s(torch_name, to_device=False, size_bytes=size_bytes),
    }
    subjects = REHEARSED if rehearse else ON_A_GPU
    for subject in subjects:
        if monotonic() > ends_at:
            break
        one = Checked(
            subject,
            device=device,
            cards=cards,
            capacity_bytes=min(CAPACITY_BYTES, int(device["capacity_bytes"])),
            bus_bytes_per_s=report["bus_bytes_per_s"]["to_device"],
            ends_at=ends_at,
            say=say,
        )
        one.run()
        if subject is subjects[-1] and not rehearse:
            one.assert_on_the_device()
        report["rows"] += one.rows
        one.let_go()
    if not rehearse:
        report["environment_afterwards"] = cards.environment(device)
    return report


def say(message: str) -> None:
    sys.stderr.write(f"{message}\n")


def arguments() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--out", type=Path, default=Path("build/gpu-check.json"))
    options.add_argument("--rehearse", action="store_true")
    return options.parse_args()


def failures(rows: list[dict[str, Any]]) -> Iterator[str]:
    return (row["name"] for row in rows if not row["holds"])


def main() -> int:
    given = arguments()
    if not given.rehearse and not torch.cuda.is_available():
        say("gpu-check: there is no CUDA device here, so nothing was checked.")
        return 0
    report = check(rehearse=given.rehearse)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(report, indent=2))
    failed = list(failures(report["rows"]))
    say(f"gpu-check: {len(report['rows'])} rows in {given.out}, {len(failed)} fail.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
