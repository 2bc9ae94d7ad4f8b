import csv
import json
from io import StringIO

from jobs.charts.points import point_rows
from jobs.exports.measurements import COLUMNS, measurements_csv, measurements_json
from jobs.procedure.measurement import Measurement, Outcome
from tests.factories import make_measurement

TOLD = [
    make_measurement("quantized:hqq:4", 320, decode_tokens_per_s=1.25).as_json(),
    make_measurement("default", 640, outcome=Outcome.OUT_OF_MEMORY, peak_bytes=None).as_json()
    | {"error": {"code": "out_of_memory", "message": "=no room"}},
    make_measurement("default", 160).as_json(),
]


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text, newline="")))


def test_the_header_has_the_contracts_field_names() -> None:
    flat = set(Measurement.__dataclass_fields__) - {"settings", "by_device", "error"}
    assert set(COLUMNS) == flat | {"error.code", "error.message"}
    assert measurements_csv([]).split("\r\n")[0].split(",") == list(COLUMNS)


def test_rows_lie_as_the_page_has_them() -> None:
    shown = [(row.strategy, str(row.context)) for row in point_rows(TOLD)]
    assert [(row["strategy"], row["context"]) for row in read(measurements_csv(TOLD))] == shown
    assert [(row["strategy"], str(row["context"])) for row in measurements_json(TOLD)] == shown
    assert shown == [("default", "160"), ("default", "640"), ("quantized:hqq:4", "320")]


def test_a_point_that_ran_out_of_memory_has_no_figure_and_its_reason_is_no_formula() -> None:
    row = read(measurements_csv(TOLD))[1]
    assert (row["outcome"], row["peak_bytes"], row["error.code"]) == ("out_of_memory", "", "out_of_memory")
    assert row["error.message"] == "'=no room"


def test_figures_are_read_back_as_they_were() -> None:
    row = read(measurements_csv(TOLD))[2]
    assert (float(row["decode_tokens_per_s"]), int(row["peak_bytes"])) == (1.25, 5000)


def test_the_json_is_the_contracts_measurements_whole() -> None:
    told = json.loads(json.dumps(measurements_json(TOLD)))
    assert Measurement.from_json(told[0]) == Measurement.from_json(TOLD[2])
    assert told[0]["settings"] == {"do_sample": False}
