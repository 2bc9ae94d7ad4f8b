"""The whole procedure on a Hub model, as a user's script meets it: downloaded first, then measured; secrets stay in."""

import json
import os
import subprocess
import sys
from pathlib import Path

from safetensors.torch import save

from tests.measuring.fake_hub import COMMIT, GRANTED, config, fake_hub
from tests.measuring.test_stored_files import LLAMA, weights
from tests.operations.portal_process import ROOT

MODELS = {"gated/tiny": config(**LLAMA) | {"model.safetensors": save(weights()), "pytorch_model.bin": b"pickle"}}
PASSWORD = "proxy-password-7"
ASKED = ("--prompt", "64", "--answer", "8", "--dtype", "float32", "--strategies", "default", "--json")


def test_a_hub_model_is_downloaded_in_a_stage_of_its_own_and_measured_and_no_secret_is_said(tmp_path: Path) -> None:
    proxy = f"http://ann:{PASSWORD}@proxy.invalid:3128"
    with fake_hub(MODELS) as hub:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")} | {
            "DATA": str(tmp_path),
            "HF_ENDPOINT": hub.url,
            "HF_HOME": str(tmp_path / "home"),
            "HF_TOKEN": GRANTED,
            "HTTPS_PROXY": proxy,
            "HTTP_PROXY": proxy,
            "NO_PROXY": "127.0.0.1",
            "OMP_NUM_THREADS": "1",
        }
        done = subprocess.run(
            [sys.executable, "manage.py", "profile", "gated/tiny", *ASKED],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=280,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    sizes = {name: len(content) for name, content in MODELS["gated/tiny"].items()}
    download = answer["stages"]["download"]
    assert list(answer["stages"]) == ["download", "budgets", "baseline", "changes", "limit"]
    assert download["bytes"] == sizes["config.json"] + sizes["model.safetensors"]
    assert download["fetched_bytes"] == sizes["model.safetensors"], "the inspection has fetched the config"
    assert download["revision"] == answer["environment"]["model_revision"] == COMMIT
    assert answer["stages"]["limit"]["fits_workload"]
    assert done.stderr.startswith("Download\n  ")
    assert " downloaded in " in done.stderr.splitlines()[1]
    assert f"Bearer {GRANTED}" in hub.heard
    assert not [line for line in hub.asked if "pytorch_model" in line]
    assert not [secret for secret in (GRANTED, PASSWORD) if secret in done.stdout + done.stderr]
