# ruff: noqa: N999 (a command is called by its module's name)
"""`manage.py check-deploy PROFILE --settings FILE`."""

from jobs.management.deploy_check import CheckDeploy as Command

__all__ = ["Command"]
