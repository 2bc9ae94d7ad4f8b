"""The libraries that a figure depends on. `python -m jobs.measuring.libraries` prints them without importing any."""

import json
import platform
import sys
from importlib.metadata import PackageNotFoundError, version

LIBRARIES = (
    "torch",
    "transformers",
    "optimum-quanto",
    "hqq",
    "accelerate",
    "safetensors",
    "tokenizers",
    "bitsandbytes",
    "optimum",
    "gptqmodel",
    "compressed-tensors",
    "kernels",
)


def versions() -> dict[str, str]:
    """Name -> version of those installed, and Python's own."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(versions()))
