import csv
from io import StringIO

import pytest

from jobs.exports.table import csv_text


@pytest.mark.parametrize("formula", ["=1+1", "+1", "-2+3", "@SUM(A1)", "\tx", "\rx"])
def test_a_text_that_a_spreadsheet_would_run_begins_with_an_apostrophe(formula: str) -> None:
    rows = list(csv.reader(StringIO(csv_text(["name"], [[formula]]), newline="")))
    assert rows == [["name"], [f"'{formula}"]]


def test_numbers_are_plain_and_nothing_is_an_empty_cell() -> None:
    assert csv_text(["a", "b", "c", "d", "e"], [[-3, -0.5, None, True, "x"]]) == "a,b,c,d,e\r\n-3,-0.5,,true,x\r\n"


def test_what_has_commas_quotes_and_lines_is_read_back_as_it_was() -> None:
    text = 'He said "4,096 tokens"\nand left'
    assert list(csv.reader(StringIO(csv_text(["say"], [[text]]), newline="")))[1] == [text]
