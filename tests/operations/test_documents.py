"""What the documents promise: every setting is documented, every link leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.operations.portal_process import ROOT

READ = re.compile(r"""(?:env\.\w+|number|environ\.get)\(\s*"([A-Z][A-Z_]+)"|environ\[\s*"([A-Z][A-Z_]+)"\]""")
SYSTEM = {"PATH", "HOME", "DJANGO_SETTINGS_MODULE"}
DOCUMENTED = (ROOT / "docs" / "settings.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def read_names() -> set[str]:
    sources = [path for folder in ("kvportal", "jobs") for path in (ROOT / folder).rglob("*.py")]
    return {name for path in sources for pair in READ.findall(path.read_text()) for name in pair if name} - SYSTEM


def test_every_setting_that_is_read_is_documented() -> None:
    names = read_names()
    assert {"DATA", "PORT", "DATABASE_URL", "REDIS_URL", "CXX"} <= names
    assert {name for name in names if f"`{name}`" not in DOCUMENTED} == set()


def test_every_documented_setting_is_read() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)`", DOCUMENTED, re.MULTILINE)
    assert len(rows) >= 15
    assert set(rows) <= read_names()


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_every_link_within_the_repository_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        assert "://" in target or (document.parent / target).exists(), target


def test_every_target_of_the_makefile_is_told_by_make_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    for target in set(phony.split()) - {"help"}:
        assert f'"make {target} ' in makefile, target
