"""The web server's command, and the key it signs with."""

from pathlib import Path

import pytest

from kvportal.env import secret_key
from kvportal.supervisor import service


def test_a_forwarded_address_is_believed_of_named_proxies_alone() -> None:
    alone, behind = service.web("::1", 1).argv, service.web("::1", 1, trusted_proxies="10.0.0.1").argv
    assert "--no-proxy-headers" in alone and "--proxy-headers" not in alone
    assert "--no-proxy-headers" not in behind
    assert behind[behind.index("--forwarded-allow-ips") + 1] == "10.0.0.1"


@pytest.mark.parametrize("left", ["", "\n"])
def test_an_empty_secret_key_file_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    (tmp_path / "secret-key").write_text(left)
    made = secret_key(tmp_path)
    assert len(made) >= 50
    assert secret_key(tmp_path) == made
    assert (tmp_path / "secret-key").stat().st_mode & 0o077 == 0
