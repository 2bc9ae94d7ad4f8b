"""Rows as CSV that a spreadsheet opens without running anything."""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO

Cell = str | int | float | bool | None
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    """With lines as RFC 4180 has them. Numbers are plain, true and false are words, None is an empty cell; a text that
    a spreadsheet would take for a formula begins with an apostrophe.
    """
    out = StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value: Cell) -> str | int | float:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value.lstrip(" \n").startswith(FORMULA_STARTS):
        return f"'{value}"
    return value
