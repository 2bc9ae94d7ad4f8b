"""What of a run is taken away as a file: its measurements, all of it, the settings for transformers."""

import json
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from jobs.exports.generation_config import FILE_NAME, generation_config_text
from jobs.exports.measurements import measurements_csv, measurements_json
from jobs.exports.run_json import run_json
from jobs.models import Run
from jobs.selectors.permission import Act
from jobs.selectors.run import measurements_of, run_get
from jobs.web.found import found_or_404
from jobs.web.permission import needs

CSV, JSON = "text/csv; charset=utf-8", "application/json"
MOST_NAME = 60


@require_safe
@never_cache
@needs(Act.READ)
def measurements_as_csv(request: HttpRequest, pk: int) -> HttpResponse:
    run = _found(pk)
    return download(measurements_csv(measurements_of(run)), f"{run_file_name(run)}-measurements.csv", CSV)


@require_safe
@never_cache
@needs(Act.READ)
def measurements_as_json(request: HttpRequest, pk: int) -> HttpResponse:
    run = _found(pk)
    return download(_text(measurements_json(measurements_of(run))), f"{run_file_name(run)}-measurements.json", JSON)


@require_safe
@never_cache
@needs(Act.READ)
def whole(request: HttpRequest, pk: int) -> HttpResponse:
    run = _found(pk)
    return download(_text(run_json(run, measurements_of(run))), f"{run_file_name(run)}.json", JSON)


@require_safe
@never_cache
@needs(Act.READ)
def generation_config(request: HttpRequest, pk: int) -> HttpResponse:
    """Under the name by which transformers finds it in a folder; 404 where the run has no settings to give."""
    run = _found(pk)
    text = generation_config_text(run.stages.get("limit") or {}, run.environment)
    if text is None:
        raise Http404
    return download(text, FILE_NAME, JSON)


def run_file_name(run: Run) -> str:
    """“nightly-summaries-run-12”: whatever the profile is called, a name that every file system takes."""
    return f"{slugify(run.profile.name)[:MOST_NAME].strip('-')}-run-{run.pk}".strip("-")


def download(text: str, name: str, content_type: str) -> HttpResponse:
    answer = HttpResponse(text, content_type=content_type)
    answer["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    return answer


def _text(told: Any) -> str:
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def _found(pk: int) -> Run:
    return found_or_404(run_get, pk)
