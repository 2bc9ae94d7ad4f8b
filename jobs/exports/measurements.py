"""A run's measurements, as the page's tables have them."""

from collections.abc import Iterable, Mapping
from typing import Any

from jobs.charts.points import in_page_order
from jobs.exports.table import csv_text
from jobs.procedure.measurement import Measurement

NOT_FLAT = ("error", "settings", "by_device")
COLUMNS = (*(name for name in Measurement.__dataclass_fields__ if name not in NOT_FLAT), "error.code", "error.message")


def measurements_csv(measurements: Iterable[Mapping[str, Any]]) -> str:
    """A row each, in the page's order, under the contract's field names; settings and a card's own figures, which are
    no single cells, are in the JSON.
    """
    return csv_text(
        COLUMNS, ([_of(measurement, name) for name in COLUMNS] for measurement in in_page_order(measurements))
    )


def measurements_json(measurements: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The contract's MEASUREMENTs whole, in the page's order."""
    return [dict(measurement) for measurement in in_page_order(measurements)]


def _of(measurement: Mapping[str, Any], name: str) -> Any:
    field, _, part = name.partition(".")
    value = measurement.get(field)
    return (value or {}).get(part) if part else value
