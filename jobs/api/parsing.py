"""A request's body: JSON of bounded size that a database can hold."""

import json
from collections.abc import Iterator
from typing import IO, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

MOST_BYTES = 2**20


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "body_too_large"
    default_detail = "The body is larger than 1 MiB."


class JSONParser(BaseParser):
    """An object, in UTF-8 without NUL or halves of characters; numbers that JSON has."""

    media_type = "application/json"

    def parse(self, stream: IO[bytes], media_type: str | None = None, parser_context: Any = None) -> Any:
        raw = stream.read(MOST_BYTES + 1)
        if len(raw) > MOST_BYTES:
            raise BodyTooLarge
        try:
            data = json.loads(raw.decode("utf-8"), parse_constant=_no_number)
            if not isinstance(data, dict):
                raise ValueError("it is not an object")
            for text in _texts(data):
                text.encode("utf-8")
                if "\0" in text:
                    raise ValueError("it has a NUL character")
        except (ValueError, RecursionError) as error:
            reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
            raise ParseError(f"The body cannot be read as JSON: {reason[:200]}.", code="bad_json") from error
        return data


def _no_number(name: str) -> Any:
    raise ValueError(f"JSON has no {name}")


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
    elif isinstance(data, dict):
        for key, value in data.items():
            yield key
            yield from _texts(value)
