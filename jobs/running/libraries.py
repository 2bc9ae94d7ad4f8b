"""Which libraries the measuring Python has, told in a moment: nothing is imported there."""

import json
import os
import subprocess
from functools import cache

from jobs.running.environment import measuring_environment
from jobs.running.process import ROOT
from jobs.sizing.refusal import Refusal

MODULE = "jobs.measuring.libraries"
PATIENCE_S = 30


@cache
def library_versions(python: str) -> dict[str, str]:
    """Name -> version; raises Refusal("measuring_died") where that Python does not answer."""
    try:
        asked = subprocess.run(
            [python, "-m", MODULE],
            cwd=ROOT,
            env=measuring_environment(os.environ, python=python),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=PATIENCE_S,
        )
        return {str(name): str(found) for name, found in json.loads(asked.stdout).items()}
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise Refusal(
            "measuring_died",
            f"The Python that measures, {python}, does not answer ({type(error).__name__}).",
            "Check MEASURING_PYTHON: it needs this project's folder and its measuring requirements.",
        ) from error
