"""What a measuring process may know of this one's environment: never a secret of the portal's."""

import os
from collections.abc import Mapping
from pathlib import Path

ALLOWED = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "LANG",
        "TZ",
        "TMPDIR",
        "VIRTUAL_ENV",
        "LD_LIBRARY_PATH",
        "CC",
        "CXX",
        "XDG_CACHE_HOME",
        "TORCH_HOME",
        "TORCH_EXTENSIONS_DIR",
        "PYTORCH_CUDA_ALLOC_CONF",
        "PYTORCH_ALLOC_CONF",
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_HOME",
        "NVIDIA_VISIBLE_DEVICES",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "NO_PROXY",
        "ALL_PROXY",
        "http_proxy",
        "https_proxy",
        "no_proxy",
        "all_proxy",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
    }
)
ALLOWED_PREFIXES = ("HF_", "LC_", "OMP_", "GOMP_", "KMP_", "MKL_")
SET = {
    # Each tensor's memory goes back to the kernel when freed, so that the kernel's peak is the tensors' peak. The keys
    # and values of a short prompt are small: with 64 KiB here they left holes in the heap, 2 of 8 MiB for SmolLM2-135M
    # at 160 tokens.
    "MALLOC_MMAP_THRESHOLD_": "16384",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "PYTHONUNBUFFERED": "1",
}


def measuring_environment(
    environment: Mapping[str, str], *, python: str, cards: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The allowed part of `environment`, and what measuring itself needs.

    cards: name -> UUID of the only cards that the process may see, whatever numbers they have now.

    The folder of `python` comes first in PATH: the tools installed beside it (ninja, which compiles quanto) are there
    even where the virtual environment was never activated.
    """
    allowed = {
        name: value for name, value in environment.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
    }
    tools = str(Path(python).parent)
    path = allowed.get("PATH", os.defpath)
    bound = {"CUDA_VISIBLE_DEVICES": ",".join(cards.values()), "MEASURED_DEVICES": ",".join(cards)} if cards else {}
    return allowed | SET | bound | {"PATH": f"{tools}{os.pathsep}{path}"}
