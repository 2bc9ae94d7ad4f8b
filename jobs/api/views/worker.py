"""The devices that can be measured on."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.serializers.worker import WorkerList
from jobs.selectors.worker import workers_list


class Workers(APIView):
    @extend_schema(
        operation_id="workers_list", summary="All workers, with their devices", responses=WorkerList, tags=["workers"]
    )
    def get(self, request: Request) -> Response:
        workers = workers_list()
        return Response(WorkerList({"count": len(workers), "results": workers}).data)
