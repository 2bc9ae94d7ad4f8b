"""A run, its events, and cancelling it."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.permission import refuse_unless
from jobs.api.serializers.run import After, Cancelled, Events, RunTold
from jobs.exports.run_json import run_json
from jobs.models import Run
from jobs.selectors.permission import Act
from jobs.selectors.run import measurements_of, run_get, run_progress
from jobs.services.run import run_cancel

MOST_EVENTS = 500


class RunOne(APIView):
    @extend_schema(summary="A run, whole, at any moment of it", responses=RunTold, tags=["runs"])
    def get(self, request: Request, pk: int) -> Response:
        return Response(told(found(pk)))


class RunEvents(APIView):
    @extend_schema(
        summary=f"What it told after an event, at most {MOST_EVENTS}: ask again with the last number",
        parameters=[After],
        responses=Events,
        tags=["runs"],
    )
    def get(self, request: Request, pk: int) -> Response:
        asked = After(data=request.query_params)
        asked.is_valid(raise_exception=True)
        return Response(run_progress(found(pk), asked.validated_data["after"], MOST_EVENTS))


class RunCancel(APIView):
    @extend_schema(
        summary="Stop it; one that has ended stays as it is", request=None, responses=Cancelled, tags=["runs"]
    )
    def post(self, request: Request, pk: int) -> Response:
        run = found(pk)
        refuse_unless(request, Act.CHANGE, owners=[run.submitted_by_id, run.profile.owner_id])
        return Response(Cancelled(run_cancel(run=run, user=request.user)).data)


def found(pk: int) -> Run:
    try:
        return run_get(pk)
    except Run.DoesNotExist as missing:
        raise Http404 from missing


def told(run: Run) -> dict[str, object]:
    return run_json(run, measurements_of(run)) | {"profile": run.profile_id}
