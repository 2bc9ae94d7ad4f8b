"""Secrets in links and of programs: only their hash is kept, and found again."""

import hashlib


def token_hash(token: str) -> str:
    """SHA-256, 64 hex digits."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()
