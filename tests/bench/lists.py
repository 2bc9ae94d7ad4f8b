"""Every list and search of a portal with 500 profiles and 10,000 runs, served warm."""

from collections.abc import Iterator
from urllib.parse import urlencode

from tests.bench.row import Row, benchmark, median_at_most
from tests.bench.seeded_portal import seeded_portal
from tests.bench.web import TIMES, WARM_UP, served_ms

LIST_TARGET_MS = 150.0
PROFILES, RUNS = 500, 10_000
QUERIES = {
    "words": {"q": "profile 7"},
    "words in tags": {"q": "tag 3"},
    "words found nowhere": {"q": "zzz"},
    "stale": {"freshness": "stale"},
    "adopted": {"adopted": "yes"},
    "not adopted": {"adopted": "no"},
    "of a device": {"device": "AMD EPYC 9454P"},
    "with a tag": {"tag": "tag 3"},
    "done": {"state": "done"},
    "mine": {"whose": "mine"},
    "archived": {"archived": "yes"},
    "oldest first": {"sort": "date"},
    "by name": {"sort": "name"},
    "by model": {"sort": "model"},
    "longest context first": {"sort": "-context"},
    "fastest first": {"sort": "-speed"},
    "the last page": {"page": "99"},
    "all at once": {"q": "profile", "freshness": "fresh", "whose": "mine", "state": "done", "sort": "-speed"},
}


@benchmark("web")
def lists() -> Iterator[Row]:
    portal = seeded_portal()
    from tests.bench.many import make_many

    make_many(PROFILES, RUNS)
    for name, path in addresses().items():
        times_ms = [served_ms(portal, path) for _ in range(WARM_UP + TIMES)][WARM_UP:]
        yield median_at_most("web", f"{name}, of {PROFILES} profiles", times_ms, "ms", LIST_TARGET_MS)


def addresses() -> dict[str, str]:
    """By what is asked for."""
    from jobs.models import Profile

    one = Profile.objects.order_by("-pk").values_list("pk", flat=True)[0]
    found = {f"home, {name}": f"/?{urlencode(query)}" for name, query in QUERIES.items()}
    found |= {"home": "/", "profiles": "/profiles/", "profiles, words": "/profiles/?q=profile+7"}
    return found | {
        "profiles that the address names": f"/profiles/?profile={one}&profile={one - 1}",
        "a profile’s page": f"/profiles/{one}/",
        "workloads": "/workloads/",
        "runs to compare": "/compare/",
        "runs to compare, words": "/compare/?q=profile+7",
        "activity": "/activity/",
        "shares": "/shares/",
    }
