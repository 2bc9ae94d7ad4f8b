"""`manage.py token USER --scope read|write`: a token for the portal's REST interface, alone on standard output."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandParser

from jobs.management.answering_command import AnsweringCommand
from jobs.management.portal_database import portal_database
from jobs.models import TokenScope
from jobs.services.api_token import api_token_make
from jobs.sizing.refusal import Refusal


class Command(AnsweringCommand):
    help = "Print an API token of a user, told this once; it is revoked on the portal's page of tokens."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the name that the user signs in with")
        parser.add_argument("--scope", required=True, choices=TokenScope.values, help="what may be done with it")
        parser.add_argument("--name", default="manage.py token", help="to know it by (%(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        with portal_database():
            user = User.objects.filter(username=options["user"].replace("\0", ""), is_active=True).first()
            if user is None:
                raise Refusal(
                    "unknown_user",
                    f"There is no user “{options['user'][:80]}” who can sign in.",
                    "Write the name that they sign in with; the portal's page of the team lists them.",
                )
            text = api_token_make(user=user, name=options["name"], scope=TokenScope(options["scope"]), by=None)
        self.stdout.write(json.dumps({"token": text}) if options["json"] else text)
