"""The file of settings that a command is given: JSON, bounded; `-` is standard input."""

import json
import os
import sys
from pathlib import Path
from typing import Any

from jobs.sizing.refusal import Refusal

MOST_BYTES = 2**20
STDIN = "-"


def read_settings_file(name: str) -> Any:
    """Raises Refusal("bad_settings") for what is no readable JSON."""
    try:
        if name == STDIN:
            raw = sys.stdin.buffer.read(MOST_BYTES + 1)
        elif not Path(name).is_file():
            raise Refusal("bad_settings", f"There is no file {name[:200]}.", "Give its path, or - for standard input.")
        else:
            with Path(name).open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise Refusal("bad_settings", "The settings are larger than 1 MiB.", "Give the settings alone.")
        return json.loads(raw)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise Refusal("bad_settings", f"{name[:200]} cannot be read: {reason}.", "Give a file that can.") from None
    except (ValueError, RecursionError):
        raise Refusal("bad_settings", "The settings are no JSON.", "See docs/check-deploy.md for an example.") from None
