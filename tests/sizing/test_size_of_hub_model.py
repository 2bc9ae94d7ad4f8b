"""The size command on a Hub model that refuses, as a user's script meets it."""

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.measuring.fake_hub import config, fake_hub
from tests.operations.portal_process import ROOT


def test_a_gated_model_ends_with_2_and_a_reason_on_standard_output_alone_and_asks_nobody(tmp_path: Path) -> None:
    with fake_hub({"gated/model": config(model_type="llama")}) as hub:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        done = subprocess.run(
            [sys.executable, "manage.py", "size", "gated/model", "--json"],
            cwd=ROOT,
            env=environment | {"DATA": str(tmp_path), "HF_ENDPOINT": hub.url, "HF_HOME": str(tmp_path / "home")},
            input="y\n",
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 2, done.stderr
    assert set(json.loads(done.stdout)["error"]) == {"code", "message", "hint"}
    assert json.loads(done.stdout)["error"]["code"] == "gated"
    assert "Traceback" not in done.stderr
