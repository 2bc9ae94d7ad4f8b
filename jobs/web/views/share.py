"""A shared answer's page and its picture, for whoever has the link. Neither asks who is looking."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_safe

from jobs.exports.share_card import HEIGHT_PX, WIDTH_PX, share_card
from jobs.selectors.share import share_open
from jobs.selectors.share_since import share_since
from jobs.services.share import share_viewed
from jobs.web.presenters.share_page import share_page

HEADERS = {
    "X-Robots-Tag": "noindex, nofollow",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@login_not_required
@require_safe
def share(request: HttpRequest, token: str) -> HttpResponse:
    found = share_open(token)
    if found is None:
        return _gone()
    context = {
        "page": share_page(found, share_since(found)),
        "card": share_address("share-card", token),
        "card_width": WIDTH_PX,
        "card_height": HEIGHT_PX,
    }
    answer = HttpResponse(render_to_string("share/page.html", context), headers=HEADERS)
    if request.method == "GET":
        share_viewed(share_id=found.pk)
    return answer


@login_not_required
@require_safe
def card(_: HttpRequest, token: str) -> HttpResponse:
    """The picture beside the link where it is posted; looking at it is no view of the page."""
    found = share_open(token)
    if found is None:
        return _gone()
    return HttpResponse(share_card(found.title, found.snapshot), content_type="image/png", headers=HEADERS)


def share_address(name: str, token: str) -> str:
    """As others reach it."""
    return f"{settings.PUBLIC_URL}{reverse(name, args=[token])}"


def _gone() -> HttpResponse:
    """Unknown, expired and revoked links get the same answer, byte by byte, and so does one that never was a link."""
    return HttpResponse(render_to_string("share/gone.html"), status=404, headers=HEADERS)
