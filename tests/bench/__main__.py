"""`python -m tests.bench [AREA …]`: every benchmark, or those of the areas named."""

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict

from tests.bench import cost, limit, lists, live, operations, peak, quality, sizing, stories, web  # noqa: F401  (they register)
from tests.bench.row import AREAS, REGISTER, Row, print_page
from tests.operations.portal_process import ROOT

TARGET = ROOT / "build" / "bench.json"


def main(areas: list[str]) -> int:
    unknown = set(areas) - set(AREAS)
    if unknown:
        sys.stderr.write(f"There is no area {', '.join(sorted(unknown))}: {', '.join(AREAS)}.\n")
        return 2
    rows = print_page(_rows(areas or list(AREAS)), sys.stdout)
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    missed = sum(not row.holds for row in rows)
    sys.stdout.write(f"{len(rows)} figures, {missed} beyond their target; also in {TARGET}.\n")
    return int(missed > 0)


def _rows(areas: list[str]) -> Iterator[Row]:
    """Start and stop come first, before this process has a portal of its own running beside them."""
    alone_first = sorted(REGISTER, key=lambda registered: registered[1].__module__ != operations.__name__)
    for area, function in alone_first:
        if area in areas:
            yield from function()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
