"""Addresses whose last part is a secret (an invitation, a share, a link for a password) are logged without it."""

import logging
import re

SECRET = re.compile(r"/(join|s|setup|reset)/[^\s\"'?#]+")


class WithoutSecrets(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        text = record.getMessage()
        hidden = SECRET.sub(r"/\1/…", text)
        if hidden != text:
            record.msg, record.args = hidden, ()
        return True
