"""Who asks: a program by its token, or a browser that is signed in, which may look only."""

from django.contrib.auth.models import User
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from jobs.models import ApiToken
from jobs.selectors.api_token import api_token_find
from jobs.services.api_token import api_token_used

KEYWORD = "Token"
MOST_CHARACTERS = 200


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Token kvp_…`. Unknown, revoked, and of an account that ended: one answer for all."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts:
            return None
        try:
            (keyword, text) = (part.decode("ascii") for part in parts)
        except (ValueError, UnicodeDecodeError):
            raise self._void() from None
        token = api_token_find(text) if keyword == KEYWORD and len(text) <= MOST_CHARACTERS else None
        if token is None:
            raise self._void()
        api_token_used(token=token)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD

    @staticmethod
    def _void() -> AuthenticationFailed:
        return AuthenticationFailed("This token is unknown or was revoked, or its account ended.")


class SessionAuthentication(BaseAuthentication):
    """A browser's session, for what only looks: nothing that another page could have it send is done."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        user = getattr(request._request, "user", None)
        if request.method not in SAFE_METHODS or not isinstance(user, User) or not user.is_active:
            return None
        return user, None


class TokenScheme(OpenApiAuthenticationExtension):
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "apiKey",
            "in": "header",
            "name": "Authorization",
            "description": "`Token kvp_…`, made on the page of tokens or by `manage.py token`. Its scope is read or "
            "write, and it can do no more than its user may.",
        }


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = SessionAuthentication
    name = "session"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": "sessionid", "description": "A browser's, for GET alone."}
