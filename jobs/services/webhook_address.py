"""Which addresses a webhook may have: https, and never into a network that only the portal's machine can reach."""

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from jobs.sizing.refusal import Refusal

MOST_CHARACTERS = 500
HTTPS_PORT = 443
LEAST_OTHER_PORT = 1024  # below it others than web servers listen
ADDRESS = re.compile(
    r"(?i:https)://(?P<host>[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?(?P<path>(?:/[!$-;=?-\[\]_a-z|~]*)?)"
)
PUBLIC_V6 = IPv6Network("2000::/3")
NOT_PUBLIC = tuple(map(ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2001:db8::/32", "3fff::/20")))


@dataclass(frozen=True, kw_only=True)
class Target:
    """host as it is resolved and as its certificate names it; path with its query, which is a secret."""

    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == HTTPS_PORT else f"{host}:{self.port}"


def webhook_target(address: str) -> Target:
    """Raises Refusal("bad_webhook") for what is none: no user or password, no fragment, no space."""
    found = ADDRESS.fullmatch(address)
    if found is None or len(address) > MOST_CHARACTERS:
        raise _refusal("A webhook’s address begins with https:// and has no user name, fragment or space in it.")
    port = int(found["port"] or HTTPS_PORT)
    if port != HTTPS_PORT and not LEAST_OTHER_PORT <= port <= 65_535:
        raise _refusal(f"A webhook’s port is {HTTPS_PORT}, or {LEAST_OTHER_PORT} to 65535.")
    target = Target(host=found["host"].strip("[]").rstrip(".").lower(), port=port, path=found["path"] or "/")
    if _is_number(target.host) and not is_public(target.host):
        raise _refusal("This address is not public: a webhook must lead to a public address.")
    return target


def webhook_host(address: str) -> str:
    """All of an address that may be shown; empty for none."""
    found = ADDRESS.fullmatch(address)
    return found["host"].lower() if found else ""


def is_public(address: str) -> bool:
    """Of an address as it was resolved: reachable from anywhere, and in no form that stands for another address."""
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        if ip.ipv4_mapped is not None:
            ip = ip.ipv4_mapped
        elif ip not in PUBLIC_V6 or ip.sixtofour is not None or ip.teredo is not None:
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved and not _is_listed(ip)


def _is_listed(ip: IPv4Address | IPv6Address) -> bool:
    return any(ip.version == network.version and ip in network for network in NOT_PUBLIC)


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _refusal(sentence: str) -> Refusal:
    return Refusal("bad_webhook", sentence, "Write it as https://hooks.example.org/….")
