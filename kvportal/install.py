"""Makes .venv with everything the portal needs: `python3 kvportal/install.py`.

Standard library alone, and written so that Python 3.6 can still read it and say what is wrong.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

LEAST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "installed.json"
LOG = VENV / "install.log"
REQUIREMENTS = ("torch", "measuring", "portal", "dev")  # torch first and alone: nothing else may choose its build
GIB = 2**30
FRESH_BYTES = int(2.5 * GIB)
CHANGED_BYTES = GIB // 2
COMPILE_PATIENCE_S = 600
WARM_QUANTO = (
    "import torch; import optimum.quanto; "
    "torch.ops.quanto.unpack(torch.arange(16, dtype=torch.uint8), 4)"
)  # fmt: skip
NO_SPACE = re.compile(r"No space left on device|Errno 28")
NO_NETWORK = re.compile(
    r"name resolution|NewConnectionError|ConnectTimeout|Connection refused|Network is unreachable|Name or service"
    r"|No matching distribution found|Read timed out|ProxyError"
)


class CannotInstall(Exception):
    """One sentence for whoever typed the command."""


def main() -> int:
    try:
        check_python(sys.version_info[:2], str(sys.executable))
        install()
    except CannotInstall as reason:
        say(str(reason))
        return 1
    except KeyboardInterrupt:
        say("Stopped. make install goes on where it was.")
        return 130
    return 0


def say(sentence: str) -> None:
    sys.stderr.write(sentence + "\n")
    sys.stderr.flush()


def check_python(version: "tuple[int, ...]", executable: str) -> None:
    if version >= LEAST_PYTHON:
        return
    found = newer_python()
    raise CannotInstall(
        "KV Portal needs Python 3.11 or newer and this is {} ({}): run make with PYTHON={}.".format(
            ".".join(map(str, version)), executable, found or "/path/to/python3.11"
        )
    )


def newer_python() -> "str | None":
    """A Python on the PATH that would do, and that starts."""
    for minor in (11, 12, 13):
        found = shutil.which(f"python3.{minor}")
        if found and subprocess.run([found, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0:
            return found
    return None


def install() -> None:
    wanted = fingerprint()
    kept = read_stamp()
    if kept.get("installed") != wanted:
        check_space(FRESH_BYTES if not kept else CHANGED_BYTES)
        make_venv()
        for name in REQUIREMENTS:
            install_requirements(name)
        kept = {"installed": wanted}
        write_stamp(kept)
    if forget_interrupted_compiling() or kept.get("quanto") != "ready":
        warm_quanto(kept)


def fingerprint() -> str:
    """What the virtual environment is made from; a change of any of it means installing again."""
    digest = hashlib.sha256(sys.version.encode())
    for name in REQUIREMENTS:
        digest.update(requirements_file(name).read_bytes())
    return digest.hexdigest()


def requirements_file(name: str) -> Path:
    return ROOT / "requirements" / (name + ".txt")


def read_stamp() -> "dict[str, str]":
    try:
        kept = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return kept if isinstance(kept, dict) else {}


def write_stamp(kept: "dict[str, str]") -> None:
    STAMP.write_text(json.dumps(kept))


def check_space(needed_bytes: int) -> None:
    free_bytes = shutil.disk_usage(str(ROOT)).free
    if free_bytes < needed_bytes:
        raise CannotInstall(
            f"The disk of {ROOT} has {free_bytes / GIB:.1f} GiB free and the installation needs about "
            f"{needed_bytes / GIB:.1f} GiB (several more with the CUDA build of torch): free some space, then run "
            "make install again."
        )


def make_venv() -> None:
    if venv_python().exists():
        return
    say("Making the virtual environment .venv ...")
    made = subprocess.run(
        [sys.executable, "-m", "venv", str(VENV)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if made.returncode:
        shutil.rmtree(str(VENV), ignore_errors=True)
        raise CannotInstall(venv_failure(made.stdout))


def venv_failure(output: str) -> str:
    if NO_SPACE.search(output):
        return "The disk is full: free about 2.5 GiB, then run make install again."
    if "ensurepip" in output:
        return (
            "This Python cannot make virtual environments: install its venv package "
            "(on Debian and Ubuntu apt install python3-venv), then run make install again."
        )
    return f"The virtual environment could not be made: {last_words(output)}"


def venv_python() -> Path:
    return VENV / "bin" / "python"


def install_requirements(name: str) -> None:
    say("Installing {} ...".format("torch (the largest part)" if name == "torch" else "the packages of " + name))
    began_s = time.monotonic()
    # The constraint keeps every later package from choosing another torch.
    command = [str(venv_python()), "-m", "pip", "install", "--retries", "2", "--disable-pip-version-check"]
    command += ["--no-input", "--progress-bar", "off", "-c", str(requirements_file("torch"))]
    command += ["-r", str(requirements_file(name))]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    keep_log(done.stdout)
    if done.returncode:
        raise CannotInstall(pip_failure(name, done.stdout))
    say(f"  done in {time.monotonic() - began_s:.0f} s")


def keep_log(output: str) -> None:
    try:
        with LOG.open("a") as log:
            log.write(output)
    except OSError as reason:
        say(f"The log {LOG} could not be written: {reason.strerror}.")


def pip_failure(name: str, output: str) -> str:
    if NO_SPACE.search(output):
        return (
            f"The disk became full while installing {name}: free some space (about 2.5 GiB in all, several more with "
            "the CUDA build of torch), then run make install again."
        )
    if NO_NETWORK.search(output):
        return (
            f"The packages of requirements/{name}.txt could not be fetched: check the network, or name an index that "
            f"can be reached in PIP_INDEX_URL, then run make install again (pip's whole output: {LOG})."
        )
    return f"pip could not install requirements/{name}.txt: {last_words(output)} (its whole output: {LOG})."


def last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")]
    return (errors or lines or ["it said nothing"])[-1]


def forget_interrupted_compiling() -> bool:
    """A compilation that was killed leaves its lock, and every later use of quanto would wait for it for ever."""
    found = False
    for lock in VENV.glob("lib/python*/site-packages/optimum/quanto/library/extensions/*/build/lock"):
        if time.time() - lock.stat().st_mtime > COMPILE_PATIENCE_S:
            lock.unlink()
            found = True
    return found


def warm_quanto(kept: "dict[str, str]") -> None:
    """quanto compiles its extension at first use; done here, it never falls into a measured call."""
    lacking = compiler_lacking()
    if lacking:
        say(
            f"There is no {lacking} here, so the quanto strategies will be reported as not applicable: install a C++ "
            "compiler and Python's headers (on Debian and Ubuntu apt install g++ python3-dev), then run make install "
            "again."
        )
        return
    say("Compiling quanto's extension (once, two or three minutes) ...")
    began_s = time.monotonic()
    path = str(VENV / "bin") + os.pathsep + os.environ.get("PATH", "")
    try:
        done = subprocess.run(
            [str(venv_python()), "-c", WARM_QUANTO],
            env=dict(os.environ, PATH=path),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMPILE_PATIENCE_S,
        )
    except subprocess.TimeoutExpired:
        say("Compiling took too long and was stopped: the quanto strategies will be reported as not applicable.")
        return
    keep_log(done.stdout)
    if done.returncode:
        say(
            f"quanto's extension could not be compiled ({last_words(done.stdout)}), so the quanto strategies will be "
            f"reported as not applicable; the compiler's whole output is in {LOG}."
        )
        return
    say(f"  done in {time.monotonic() - began_s:.0f} s")
    write_stamp(dict(kept, quanto="ready"))


def compiler_lacking() -> "str | None":
    if not shutil.which(os.environ.get("CXX") or "g++"):
        return "C++ compiler (g++)"
    if not (Path(sysconfig.get_paths()["include"]) / "Python.h").exists():
        return "Python.h"
    return None


if __name__ == "__main__":
    sys.exit(main())
