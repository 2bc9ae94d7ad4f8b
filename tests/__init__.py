"""The tools installed beside this Python come first, as in a measuring process: another ninja than the one that
compiled quanto's extension would compile it again, for minutes.

Threads that wait for one another soon sleep instead of spinning: where several processes compute on few cores, as in a
test run, spinning makes each of them many times slower."""

import os
import sys
from pathlib import Path

os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
