"""The tools installed beside this Python come first, as in a measuring process: another ninja than the one that
compiled quanto's extension would compile it again, for minutes."""

import os
import sys
from pathlib import Path

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
