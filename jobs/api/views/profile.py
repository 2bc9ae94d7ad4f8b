"""Profiles: listed, asked for, told, run again."""

from typing import Any

from django.db import transaction
from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.pages import Pages
from jobs.api.permission import refuse_unless
from jobs.api.question_form import asked_form
from jobs.api.serializers.profile import Limit, ProfileAsked, ProfilePage, ProfileTold, RunAsked
from jobs.api.serializers.profile_query import ProfileQuery
from jobs.api.serializers.run import RunTold
from jobs.api.views.run import told as run_told
from jobs.asking.waiting import entry_read
from jobs.models import Profile, Run
from jobs.selectors.deploy import limits_of
from jobs.selectors.model_entry import record_of
from jobs.selectors.permission import Act
from jobs.selectors.profile_told import profile_told, profiles_narrowed, profiles_told
from jobs.services.recheck import run_recheck
from jobs.services.run import run_again, run_submit
from jobs.sizing.refusal import Refusal


class Profiles(APIView):
    @extend_schema(
        operation_id="profiles_list",
        summary="Profiles, a page at a time",
        parameters=[ProfileQuery],
        responses=ProfilePage,
        tags=["profiles"],
    )
    def get(self, request: Request) -> Response:
        pages = Pages()
        query = ProfileQuery(data=request.query_params, context={"user": request.user})
        query.is_valid(raise_exception=True)
        ids = pages.paginate_queryset(profiles_narrowed(**query.conditions), request, view=self)
        return pages.get_paginated_response(ProfileTold(profiles_told(ids), many=True).data)

    @extend_schema(
        summary="Ask a question: a profile, and its first run",
        description="Held to the rules of the page's form. A model that nobody asked about is read first, which is "
        "waited for some seconds; if it takes longer, nothing is made and the answer is 409 `still_reading`.",
        request=ProfileAsked,
        responses={201: ProfileTold},
        tags=["profiles"],
    )
    def post(self, request: Request) -> Response:
        refuse_unless(request, Act.ASK)
        body = ProfileAsked(data=request.data)
        body.is_valid(raise_exception=True)
        run = _submit(request, body.validated_data)
        address = request.build_absolute_uri(reverse("api-profile", args=[run.profile_id]))
        return Response(ProfileTold(profile_told(run.profile_id)).data, status=201, headers={"Location": address})


class ProfileOne(APIView):
    @extend_schema(summary="A profile", responses=ProfileTold, tags=["profiles"])
    def get(self, request: Request, pk: int) -> Response:
        return Response(ProfileTold(found(pk)).data)


class ProfileRuns(APIView):
    @extend_schema(
        summary="Run it again, or recheck its answer", request=RunAsked, responses={201: RunTold}, tags=["profiles"]
    )
    def post(self, request: Request, pk: int) -> Response:
        refuse_unless(request, Act.ASK)
        profile = found(pk)
        body = RunAsked(data=request.data)
        body.is_valid(raise_exception=True)
        again = run_recheck if body.validated_data["recheck"] else run_again
        run = again(profile=profile, user=request.user)
        address = request.build_absolute_uri(reverse("api-run", args=[run.pk]))
        return Response(run_told(run), status=201, headers={"Location": address})


class ProfileLimit(APIView):
    @extend_schema(summary="The current answer, and whether it still holds", responses=Limit, tags=["profiles"])
    def get(self, request: Request, pk: int) -> Response:
        profile = found(pk)
        run = profile.answer_run
        told = {
            "profile": profile.pk,
            "run": run and run.pk,
            "answered_at": run and run.finished_at,
            "limit": run and run.stages.get("limit"),
            "by_strategy": limits_of(run.stages) if run else {},
            "adopted": profile.adoption,
            "freshness": profile.freshness or None,
            "differences": profile.differences,
        }
        return Response(Limit(told).data)


def found(pk: int) -> Profile:
    try:
        return profile_told(pk)
    except Profile.DoesNotExist as missing:
        raise Http404 from missing


def _submit(request: Request, given: dict[str, Any]) -> Run:
    """Raises Faults, Refusal."""
    form = asked_form(given)
    form.refuse_faults()
    entry = entry_read(text=form.cleaned_data["model"], revision=None, user=request.user)
    record = record_of(entry)
    if record is None:
        raise Refusal("not_inspected", f"There is no record of {entry}.", "Ask again.")
    form.check_record(record)
    form.refuse_faults()
    with transaction.atomic():
        return run_submit(
            user=request.user,
            name=form.cleaned_data["name"],
            entry=entry,
            question=form.question(entry.name),
            worker=form.cleaned_data["worker"],
            tags=given.get("tags") or (),
            notes=given.get("notes") or "",
        )
