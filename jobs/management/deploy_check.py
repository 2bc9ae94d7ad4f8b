"""The check-deploy command: the settings about to be deployed against what was measured."""

import json
import sys
from typing import Any

from django.core.management.base import CommandParser

from jobs.management.answering_command import AnsweringCommand
from jobs.management.deploy_text import deploy_text
from jobs.management.portal_database import portal_database
from jobs.management.settings_file import read_settings_file
from jobs.procedure.deploy import check_deploy
from jobs.procedure.deploy_verdict import EXIT_CODES
from jobs.procedure.deployed import read_deployed
from jobs.selectors.deploy import measured_of, profile_named


class CheckDeploy(AnsweringCommand):
    help = "Say whether settings are covered by a profile's answer: exit 0 ok, 3 stale, 4 not covered, 2 refused."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --settings makes way; manage.py calls this one --deployed, before Django sees it."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("profile", help="a profile's id, or its exact name")
        parser.add_argument(
            "--settings", "--deployed", required=True, metavar="FILE", dest="deployed", help="JSON; - is standard input"
        )
        parser.set_defaults(settings=None)

    def handle(self, *args: Any, **options: Any) -> None:
        deployed = read_deployed(read_settings_file(options["deployed"]))
        with portal_database():
            profile = profile_named(options["profile"])
            checked = check_deploy(deployed, measured_of(profile))
        answer = {"profile": profile.pk} | checked.as_json()
        self.stdout.write(json.dumps(answer) if options["json"] else deploy_text(checked))
        sys.exit(EXIT_CODES[checked.verdict])
