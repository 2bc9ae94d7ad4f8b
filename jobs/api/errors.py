"""Whatever goes wrong has one shape: {"error": {"code", "message", "hint"[, "fields"]}}."""

import logging
from collections.abc import Mapping
from math import ceil
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response

from jobs.sizing.refusal import Refusal

logger = logging.getLogger(__name__)
RETRY_AFTER_S = 5
LATER = frozenset({"still_reading"})  # refused now, and to be asked again
CONFLICTS = LATER | {
    "no_worker",
    "wrong_device",
    "prompts_gone",
    "no_answer",
    "nothing_to_recheck",
    "archived",
    "not_inspected",
    "inspection_lost",
}
"""Refused for how things stand, not for what was asked."""
KINDS: dict[type[Exception], tuple[str, str]] = {
    exceptions.NotAuthenticated: ("no_token", "Send the header “Authorization: Token kvp_…”."),
    exceptions.AuthenticationFailed: ("token_void", "Make another on the page of tokens, or with manage.py token."),
    exceptions.PermissionDenied: ("role_forbids", "Ask its owner, or an administrator of the team."),
    PermissionDenied: ("role_forbids", "Ask its owner, or an administrator of the team."),
    exceptions.NotFound: ("not_found", "Addresses end with a slash; GET the list for what there is."),
    Http404: ("not_found", "Addresses end with a slash; GET the list for what there is."),
    SuspiciousOperation: ("bad_request", "Send fewer and shorter parameters."),
    exceptions.ParseError: ("bad_json", "Send a JSON object in UTF-8."),
    exceptions.UnsupportedMediaType: ("unsupported_media_type", "Send JSON, with Content-Type: application/json."),
    exceptions.NotAcceptable: ("not_acceptable", "Accept application/json."),
    exceptions.MethodNotAllowed: ("method_not_allowed", "GET /api/v1/schema/ says what each address takes."),
    exceptions.Throttled: ("rate_limited", "Wait as long as Retry-After says."),
    exceptions.ValidationError: ("invalid", "Change the fields that are named, and send it again."),
}


class Faults(exceptions.APIException):
    """What a body's fields are refused for, each by its name; code: of all of them, where they share one."""

    status_code = status.HTTP_400_BAD_REQUEST

    def __init__(self, fields: Mapping[str, str], code: str = "invalid") -> None:
        super().__init__(_summary(fields))
        self.fields = dict(fields)
        self.code = code


def answer_error(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's handler of exceptions; an unforeseen one is logged, and told without its reason."""
    if isinstance(error, Refusal):
        conflict = error.code in CONFLICTS
        answer = _told(status.HTTP_409_CONFLICT if conflict else status.HTTP_400_BAD_REQUEST, **error.as_json())
        if error.code in LATER:
            answer["Retry-After"] = str(RETRY_AFTER_S)
        return answer
    if isinstance(error, Faults):
        return _told(
            error.status_code,
            error.code,
            str(error.detail),
            "Change what is named, and send it again.",
            fields=error.fields,
        )
    kind = next((KINDS[one] for one in type(error).__mro__ if one in KINDS), None)
    if isinstance(error, exceptions.APIException):
        return _api_error(error, kind)
    if kind is None:
        logger.error("%s failed", context["request"].path, exc_info=error)
        hint = "The web server's log has the details."
        return _told(500, "internal", "The portal failed for a reason that was not foreseen.", hint)
    if isinstance(error, SuspiciousOperation):
        return _told(400, kind[0], "The request is not one that the portal takes.", kind[1])
    missing = isinstance(error, Http404)
    sentence = "There is nothing at this address." if missing else "Your role does not allow this."
    return _told(404 if missing else 403, kind[0], sentence, kind[1])


def _api_error(error: exceptions.APIException, kind: tuple[str, str] | None) -> Response:
    code, hint = kind or (str(error.default_code), "Send less.")
    if isinstance(error, exceptions.ValidationError):
        fields = flat(error.detail)
        return _told(error.status_code, code, _summary(fields), hint, fields=fields)
    if isinstance(error, exceptions.PermissionDenied) and error.get_codes() == "scope_forbids":
        code, hint = "scope_forbids", "Make a token with the scope write."
    answer = _told(error.status_code, code, str(error.detail), hint)
    if isinstance(error, exceptions.Throttled):
        answer["Retry-After"] = str(ceil(error.wait or 1))
    if (header := getattr(error, "auth_header", None)) is not None:
        answer["WWW-Authenticate"] = header
    return answer


def flat(detail: Any, name: str = "") -> dict[str, str]:
    """A serializer's errors as a sentence a field; of a list's items by their place: `strategies.2`."""
    if isinstance(detail, Mapping):
        pairs = [flat(value, f"{name}.{key}".strip(".")) for key, value in detail.items()]
        return {key: text for pair in pairs for key, text in pair.items()}
    sentences = detail if isinstance(detail, list) else [detail]
    return {name.removesuffix("non_field_errors").strip(".") or "body": " ".join(str(one) for one in sentences)}


def _summary(fields: Mapping[str, str]) -> str:
    return " ".join(f"{name}: {sentence}" for name, sentence in fields.items())[:1000]


def _told(status_code: int, code: str, message: str, hint: str, **more: Any) -> Response:
    return Response({"error": {"code": code, "message": message, "hint": hint, **more}}, status=status_code)
