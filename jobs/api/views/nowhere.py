"""Addresses that are none."""

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


@extend_schema(exclude=True)
class Nowhere(APIView):
    only_reads = True

    def initial(self, request: Request, *args: object, **given: object) -> None:
        super().initial(request, *args, **given)
        raise Http404

    def get(self, request: Request) -> Response:
        raise Http404
