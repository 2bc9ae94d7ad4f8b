"""`python -m tests.browser.hand`: does to the database what it is told on its standard input."""

import json
import sys

import django


def main() -> None:
    django.setup()
    from tests.browser import demo

    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        asked = json.loads(line)
        result = getattr(demo, asked["call"])(**asked["with"])
        answers.write(json.dumps(result) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
