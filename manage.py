#!/usr/bin/env python
import json
import os
import sys

from jobs.sizing.refusal import Refusal


def arguments(given: list[str]) -> list[str]:
    """Django takes any command's --settings for the module of its own settings; check-deploy's is the file to check."""
    if given[1:2] != ["check-deploy"]:
        return given
    return ["--deployed" + part[10:] if part.partition("=")[0] == "--settings" else part for part in given]


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kvportal.settings")
    try:
        from django.core.management import execute_from_command_line

        execute_from_command_line(arguments(sys.argv))
    except Refusal as refusal:  # a setting of the environment that cannot be used
        if "--json" in sys.argv:
            sys.stdout.write(json.dumps({"error": refusal.as_json()}) + "\n")
        else:
            sys.stderr.write(f"{refusal.message} {refusal.hint}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
