"""`python manage.py up`: the whole portal on this machine, until Ctrl-C."""

import os
import signal
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from jobs.sizing.refusal import Refusal
from kvportal.supervisor.portal import Part, Portal
from kvportal.supervisor.with_parent import die_with


class Command(BaseCommand):
    help = "Starts the web server, the workers and, without REDIS_URL, a private Valkey; Ctrl-C stops all of them."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="the address to listen on (HOST)")
        parser.add_argument("--port", type=int, default=settings.PORT, help="the port to listen on (PORT)")
        parser.add_argument("--only", choices=list(Part), help="start this part alone")
        parser.add_argument("--stop-with-parent", action="store_true", help="stop when the starting process ends")

    def handle(self, *, host: str, port: int, only: str | None, stop_with_parent: bool, **_: Any) -> None:
        if stop_with_parent:
            die_with(os.getppid(), signal.SIGTERM)
        parts = frozenset([Part(only)] if only else Part)
        try:
            Portal(host=host, port=port, parts=parts, say=self._say, announce=self._announce).run()
        except Refusal as refusal:
            self._say(f"{refusal.message} {refusal.hint}")
            sys.exit(2)
        self._say("Stopped.")

    def _say(self, sentence: str) -> None:
        self.stderr.write(sentence)
        self.stderr.flush()

    def _announce(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
