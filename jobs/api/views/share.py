"""Sharing an answer with whoever has a link."""

from django.conf import settings
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.permission import refuse_unless
from jobs.api.serializers.share import ShareAsked, ShareTold
from jobs.api.views.run import found as run_found
from jobs.models import Share
from jobs.selectors.permission import Act
from jobs.selectors.share import share_get
from jobs.services.share import share_make, share_revoke, title_proposed


class RunShares(APIView):
    @extend_schema(
        summary="Make a link to the answer, for people without an account",
        request=ShareAsked,
        responses={201: ShareTold},
        tags=["shares"],
    )
    def post(self, request: Request, pk: int) -> Response:
        refuse_unless(request, Act.ASK)
        run = run_found(pk)
        body = ShareAsked(data=request.data)
        body.is_valid(raise_exception=True)
        given = body.validated_data
        share, token = share_make(
            run=run,
            user=request.user,
            title=given.get("title") or title_proposed(run),
            sentence=given["sentence"],
            expires_days=given["expires_days"],
        )
        told = {
            "id": share.pk,
            "run": run.pk,
            "title": share.title,
            "sentence": share.sentence,
            "expires_at": share.expires_at,
            "url": f"{settings.PUBLIC_URL.rstrip('/')}/s/{token}/",
        }
        return Response(ShareTold(told).data, status=201)


class ShareOne(APIView):
    @extend_schema(summary="Revoke it: the link then leads nowhere", responses={204: None}, tags=["shares"])
    def delete(self, request: Request, pk: int) -> Response:
        try:
            share = share_get(pk)
        except Share.DoesNotExist as missing:
            raise Http404 from missing
        refuse_unless(request, Act.CHANGE, owners=[share.shared_by_id])
        share_revoke(share=share, user=request.user)
        return Response(status=204)
