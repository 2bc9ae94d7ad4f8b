"""The interface's own description: valid OpenAPI, complete, without a warning; and the interface keeps to it."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.conf import LazySettings
from django.core.management import call_command
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections
from drf_spectacular.validation import validate_schema
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jobs.api.schema import description
from jobs.api.urls import urlpatterns
from jobs.models import Run
from jobs.services.share import share_make
from tests.api.conftest import Program

CONTRACT = {
    ("/api/v1/profiles/", "get"),
    ("/api/v1/profiles/", "post"),
    ("/api/v1/profiles/{id}/", "get"),
    ("/api/v1/profiles/{id}/runs/", "post"),
    ("/api/v1/profiles/{id}/limit/", "get"),
    ("/api/v1/profiles/{id}/check/", "post"),
    ("/api/v1/runs/{id}/", "get"),
    ("/api/v1/runs/{id}/events/", "get"),
    ("/api/v1/runs/{id}/cancel/", "post"),
    ("/api/v1/runs/{id}/shares/", "post"),
    ("/api/v1/shares/{id}/", "delete"),
    ("/api/v1/workers/", "get"),
    ("/api/v1/size/", "post"),
    ("/api/v1/schema/", "get"),
}


def test_it_is_made_without_a_warning(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))
    assert capsys.readouterr().err == ""


def test_it_is_served_as_valid_openapi_3_with_every_address(program: Program) -> None:
    answer = program.get("schema/")
    schema = answer.json()
    validate_schema(schema)
    assert schema["openapi"].startswith("3.")
    assert {(path, method) for path, operations in schema["paths"].items() for method in operations} == CONTRACT
    assert len(urlpatterns) == len(schema["paths"]) + 1  # and the one for addresses that are none


def test_every_operation_says_what_may_go_wrong_in_the_one_shape() -> None:
    for operations in description()["paths"].values():
        for operation in operations.values():
            assert {"401", "403", "429", "500"} <= set(operation["responses"])
            for code, response in operation["responses"].items():
                if code >= "400":
                    schema = response["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Error"}
            assert operation["summary"]


BOUNDED = hypothesis_settings(
    max_examples=8,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]


@pytest.fixture
def served(program: Program) -> Iterator[Any]:
    """The portal as a server runs it, within the test's transaction: requests leave its connection open."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield get_wsgi_application()
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
def test_whatever_is_sent_gets_an_answer_that_is_described(
    program: Program, served: Any, answered: int, asking: int, settings: LazySettings, mode: GenerationMode
) -> None:
    settings.API_RATE = "1000000/minute"
    schema = schemathesis.openapi.from_dict(description())
    schema.app = served
    asked: list[schemathesis.Case] = []
    share, _ = share_make(run=Run.objects.get(pk=answered), user=program.user, title="x")
    known = {"runs": answered, "profiles": share.run.profile_id, "shares": share.pk}
    for found in schema.get_all_operations():
        operation = found.ok()
        takes_nothing = not {"parameters", "requestBody"} & set(operation.definition.raw)
        if mode is GenerationMode.NEGATIVE and takes_nothing:
            continue

        @seed(1)
        @BOUNDED
        @given(case=operation.as_strategy(generation_mode=mode))
        def keeps_to_it(case: schemathesis.Case) -> None:
            asked.append(case)
            if "id" in (case.path_parameters or {}) and len(asked) % 4:  # the others ask for what is not there
                case.path_parameters["id"] = known[case.path.split("/")[3]]
            case.call_and_validate(headers={"Authorization": f"Token {program.token}"}, checks=CHECKS)

        keeps_to_it()
    assert len(asked) > 50
