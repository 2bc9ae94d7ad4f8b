"""The interface's own description, OpenAPI 3."""

from functools import lru_cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.serializers.error import Error

ERRORS = {
    "400": "Something in the request is refused; `fields` names each field that is.",
    "401": "No token, or one that is unknown or revoked, or whose account ended.",
    "403": "The token's scope, or its user's role, does not allow it.",
    "404": "There is no such thing.",
    "406": "JSON is all that is answered.",
    "409": "Refused for how things stand; with `still_reading`, ask again after Retry-After seconds.",
    "413": "The body is larger than 1 MiB.",
    "415": "The body is not application/json.",
    "429": "More requests than API_RATE allows; Retry-After has the seconds to wait.",
    "500": "Unforeseen; the web server's log has the details.",
}
ALWAYS = ("401", "403", "406", "429", "500")
WITH_BODY = ("400", "409", "413", "415")
REFERENCE = {"$ref": "#/components/schemas/Error"}
RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "description": "seconds"}}


class Described(APIView):
    @extend_schema(
        operation_id="schema", summary="This description", responses={200: OpenApiTypes.OBJECT}, tags=["schema"]
    )
    def get(self, request: Request) -> Response:
        return Response(description())


@lru_cache(maxsize=1)
def description() -> dict[str, Any]:
    """The same for everybody, and made once for a process."""
    found: dict[str, Any] = SchemaGenerator().get_schema(request=None, public=True)
    return found


def with_errors(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A hook of drf-spectacular: what every operation may answer beside what its view says."""
    for operations in result["paths"].values():
        for operation in operations.values():
            places = {parameter["in"] for parameter in operation.get("parameters", [])}
            codes = {*ALWAYS, *(WITH_BODY if "requestBody" in operation else ())}
            codes |= {"404"} if places else set()
            codes |= {"400"} if "query" in places else set()
            for code in codes:
                operation["responses"].setdefault(code, _error(code))
            operation["responses"] = dict(sorted(operation["responses"].items()))
    return result


def _error(code: str) -> dict[str, Any]:
    told: dict[str, Any] = {"description": ERRORS[code], "content": {"application/json": {"schema": REFERENCE}}}
    return told | ({"headers": RETRY_AFTER} if code in {"409", "429"} else {})


__all__ = ["Described", "Error", "description", "with_errors"]
