"""What a model takes, from its config alone."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.permission import refuse_unless
from jobs.api.serializers.size import SizeAsked, SizeTold
from jobs.asking.waiting import entry_read
from jobs.models import ModelEntry
from jobs.procedure.defaults import OFFERED
from jobs.selectors.model_entry import record_of
from jobs.selectors.permission import Act
from jobs.services.model_reading import model_entry_read_on
from jobs.sizing.coverage import missing
from jobs.sizing.record import InspectionRecord
from jobs.sizing.refusal import Refusal
from jobs.sizing.size_question import SizeQuestion, size_answer, size_question


class Sizes(APIView):
    @extend_schema(
        operation_id="size",
        summary="Weights, KV cache and peak memory, as manage.py size --json",
        description="Nothing is loaded or downloaded but the config. A model that nobody asked about is read first, "
        "which is waited for some seconds; then, `still_reading`.",
        request=SizeAsked,
        responses=SizeTold,
        tags=["size"],
    )
    def post(self, request: Request) -> Response:
        refuse_unless(request, Act.ASK)
        body = SizeAsked(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        asked = size_question(given)
        entry = entry_read(text=asked.model, revision=given.get("revision") or None, user=request.user)
        return Response(size_answer(_record(entry, asked), asked))


def _record(entry: ModelEntry, asked: SizeQuestion) -> InspectionRecord:
    """What is kept of the model, where it was read for all that is asked; what is offered is read on for."""
    record = record_of(entry)
    unread = (
        (asked.strategy,)
        if record is None
        else missing(
            record, dtype=asked.dtype, strategies=[asked.strategy], attention=asked.attention, padded=asked.padded
        )
    )
    if record is not None and not unread:
        return record
    if asked.strategy in OFFERED and asked.attention == "sdpa" and not asked.padded:
        model_entry_read_on(entry=entry, dtype=asked.dtype)
        raise Refusal("still_reading", f"{entry} is still being read for this.", "Ask again in a moment.")
    raise Refusal(
        "not_inspected",
        f"The portal does not read {entry} for this combination.",
        "manage.py size does.",
    )
