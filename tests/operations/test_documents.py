"""What the documents promise: every setting is documented, every link leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.operations.portal_process import ROOT

READERS = r"env\.\w+|number|rate|hours|time_zone|environ\.get"
READ = re.compile(rf"""(?:{READERS})\(\s*"([A-Z][A-Z_]+)"|environ\[\s*"([A-Z][A-Z_]+)"\]""")
SYSTEM = {
    "PATH",
    "HOME",
    "DJANGO_SETTINGS_MODULE",
    "MALLOC_MMAP_THRESHOLD_",
}  # the last is set for the measuring process
DOCUMENTED = (ROOT / "docs" / "settings.md").read_text()
REFUSALS = (ROOT / "docs" / "refusals.md").read_text()
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


def codes_in(source: str) -> set[str]:
    """Codes that the source refuses or fails with; `bad_{name}` stands for a whole family."""
    patterns = (
        r"""Refusal\(\s*f?"([a-z_{}]+)\"""",
        r"""\bcode(?:=|: str = )"([a-z_]+)\"""",
        r"""_failed\(\s*ask,\s*"([a-z_]+)\"""",
    )
    return {code for pattern in patterns for code in re.findall(pattern, source)}


def test_every_code_of_a_refusal_is_documented() -> None:
    codes = {code for path in (ROOT / "jobs").rglob("*.py") for code in codes_in(path.read_text())}
    assert {"gated", "killed", "out_of_memory", "bad_{name}", "not_inspected", "outside_models"} <= codes
    documented = set(re.findall(r"`([a-z_]+…?)`", REFUSALS))
    assert {code for code in codes if code not in documented and not code.startswith("bad_")} == set()
    assert "bad_…" in documented


def test_every_documented_code_is_used() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "jobs").rglob("*.py"))
    cells = "".join(re.findall(r"^\| (`[a-z_`, ]+`) \|", REFUSALS, re.MULTILINE))
    codes = set(re.findall(r"[a-z_]+", cells))
    assert len(codes) > 40
    assert {code for code in codes if f'"{code}"' not in sources} == set()


@pytest.mark.parametrize("document", PAGES, ids=lambda path: path.name)
def test_every_link_within_the_repository_leads_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", document.read_text()):
        assert "://" in target or (document.parent / target).exists(), target


def test_every_target_of_the_makefile_is_told_by_make_help() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    for target in set(phony.split()) - {"help"}:
        assert f'"make {target} ' in makefile, target
