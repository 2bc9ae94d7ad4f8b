"""A command that answers on standard output, and refuses there too: with a code, a sentence and a hint."""

import json
import sys
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser

from jobs.sizing.refusal import Refusal

REFUSED = 2
FAILED = 1
INTERRUPTED = 130


class AnsweringCommand(BaseCommand):
    """`--json` puts JSON, and nothing else, on standard output. Exit 0: answered; 1: failed; 2: refused."""

    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.add_argument("--json", action="store_true", help="print JSON on standard output")

        def refuse(message: str) -> NoReturn:
            raise Refusal(
                "bad_arguments", f"{message[:1].upper()}{message[1:]}.", f"See manage.py {subcommand} --help."
            )

        parser.error = refuse  # type: ignore[method-assign]
        return parser

    def run_from_argv(self, argv: list[str]) -> None:
        try:
            super().run_from_argv(argv)
        except Refusal as refusal:
            self.say_refusal(refusal, as_json="--json" in argv)
            sys.exit(REFUSED)

    def say_refusal(self, refusal: Refusal, *, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps({"error": refusal.as_json()}))
        else:
            self.stderr.write(f"{refusal.message} {refusal.hint}".rstrip())
