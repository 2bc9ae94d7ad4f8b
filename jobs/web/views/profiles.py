"""All profiles, as the address asks for them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from jobs.web.profile_list import profile_list


@require_safe
def profiles(request: HttpRequest) -> HttpResponse:
    return render(request, "profiles/list.html", {"nav": "home", **profile_list(request)})
