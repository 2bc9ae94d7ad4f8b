from pathlib import Path

import pytest

from jobs.running.environment import measuring_environment
from jobs.running.process import MeasuringProcess
from tests.running.conftest import FAKE

SECRETS = ("DATABASE_URL", "SECRET_KEY", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "DATA", "AWS_SECRET_ACCESS_KEY")
NEEDED = (
    "HOME",
    "HF_TOKEN",
    "HF_HOME",
    "HF_HUB_OFFLINE",
    "CUDA_VISIBLE_DEVICES",
    "https_proxy",
    "OMP_NUM_THREADS",
    "GOMP_SPINCOUNT",
)


def test_the_portals_secrets_never_reach_the_process() -> None:
    given = dict.fromkeys((*SECRETS, *NEEDED), "x")
    with MeasuringProcess(environment=given, module=FAKE) as process:
        seen = process.request("environment", patience_s=30)
    assert not set(SECRETS) & set(seen)
    assert set(NEEDED) <= set(seen)


def test_memory_goes_back_to_the_kernel_when_freed() -> None:
    assert measuring_environment({}, python="/v/bin/python")["MALLOC_MMAP_THRESHOLD_"] == "16384"


def test_tools_beside_the_python_are_found() -> None:
    path = measuring_environment({"PATH": "/usr/bin"}, python="/v/bin/python")["PATH"]
    assert path == "/v/bin:/usr/bin"


@pytest.mark.parametrize("name", ["HF_TOKEN", "HF_ENDPOINT", "LC_ALL"])
def test_families_of_names_are_passed_on(name: str) -> None:
    assert measuring_environment({name: "x"}, python=str(Path("python")))[name] == "x"
