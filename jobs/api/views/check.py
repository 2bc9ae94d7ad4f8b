"""The settings about to be deployed against what was measured."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.serializers.check import Checked, DeployAsked
from jobs.api.views.profile import found
from jobs.procedure.deploy import check_deploy
from jobs.procedure.deployed import read_deployed
from jobs.selectors.deploy import measured_of


class ProfileCheck(APIView):
    """A token that reads is good for it: nothing is changed, and a pipeline should hold no more."""

    only_reads = True

    @extend_schema(
        summary="ok, stale or not_covered, as manage.py check-deploy --json",
        request=DeployAsked,
        responses=Checked,
        tags=["profiles"],
    )
    def post(self, request: Request, pk: int) -> Response:
        profile = found(pk)
        checked = check_deploy(read_deployed(request.data), measured_of(profile))
        return Response({"profile": profile.pk} | checked.as_json())
