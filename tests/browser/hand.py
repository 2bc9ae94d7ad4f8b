"""`python -m tests.browser.hand`: does to the database what it is told on its standard input."""

import json
import sys
from importlib import import_module

import django


def main() -> None:
    django.setup()
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        module, _, name = asked["call"].rpartition(".")
        result = getattr(import_module(f"tests.browser.{module or 'demo'}"), name)(**asked["with"])
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
