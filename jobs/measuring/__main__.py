"""`python -m jobs.measuring [--parent PID]`: answers JSON lines until `quit` or the end of its input."""

import argparse
import faulthandler
import os
import sys
import warnings
from typing import TextIO

from jobs.measuring.parent import die_with_parent
from jobs.measuring.protocol import Answers, requests_in, take_standard_streams
from jobs.sizing.refusal import Refusal


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--parent", type=int, default=None)
    die_with_parent(options.parse_args().parent)
    lines, out = take_standard_streams()
    faulthandler.enable(file=sys.stderr)
    answer(lines, Answers(out))


def answer(lines: TextIO, answers: Answers) -> None:
    """torch and transformers are imported here: after the parent is bound and the streams are apart."""
    from jobs.measuring.cuda_cards import CudaCards
    from jobs.measuring.devices import devices
    from jobs.measuring.environment import cuda_versions
    from jobs.measuring.libraries import versions

    answers.hello({"pid": os.getpid(), "versions": versions() | cuda_versions(), "devices": devices()})
    be_quiet()
    from jobs.measuring.nvml import Nvml
    from jobs.measuring.requests import Requests

    requests = Requests(answers, CudaCards(Nvml.opened()))
    for request in requests_in(lines):
        answers.begin(request.get("id"))
        try:
            if requests.do(request):
                return
        except Refusal as refusal:
            answers.refuse(refusal)


def be_quiet() -> None:
    """Warnings and progress bars tell nobody anything here; errors still reach standard error."""
    import transformers

    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


if __name__ == "__main__":
    main()
