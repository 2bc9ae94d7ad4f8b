"""Pages, served warm by a real server over a seeded SQLite."""

import time
import urllib.request
from collections.abc import Iterator

from jobs.asking.choices import FIRST_STRATEGIES
from tests.bench.row import Row, benchmark, median_at_most
from tests.bench.seeded_portal import SeededPortal, seeded_portal

PAGE_TARGET_MS = 100.0
ESTIMATE_TARGET_MS = 50.0
WHAT_IF_TARGET_MS = 50.0
ESTIMATE = "/profiles/new/estimate/?model=SmolLM2-135M&prompt_tokens={prompt}&answer_tokens=256&capacity=600MiB"
TICKED = "".join(f"&strategies={name}" for name in FIRST_STRATEGIES)
WARM_UP = 3
TIMES = 30


@benchmark("web")
def pages() -> Iterator[Row]:
    portal = seeded_portal()
    from tests.browser import demo

    runs = demo.team()
    addresses = {
        "the form's page": "/profiles/new/",
        "a finished run's page": f"/runs/{runs['saved']}/",
        "a going run's page": f"/runs/{runs['running']}/",
        "the home page": "/",
    }
    for name, path in addresses.items():
        served_ms = [served_ms(portal, path) for _ in range(WARM_UP + TIMES)][WARM_UP:]
        yield median_at_most("web", f"{name} served", served_ms, "ms", PAGE_TARGET_MS)


@benchmark("web")
def estimates() -> Iterator[Row]:
    """Each for another prompt, as while somebody types, over a record with every strategy offered."""
    portal = seeded_portal()
    from tests.browser import demo

    demo.know_every_strategy()
    paths = [ESTIMATE.format(prompt=1000 + 100 * place) + TICKED for place in range(WARM_UP + TIMES)]
    served_ms = [served_ms(portal, path) for path in paths][WARM_UP:]
    yield median_at_most("web", "the estimate served", served_ms, "ms", ESTIMATE_TARGET_MS)


@benchmark("web")
def what_if() -> Iterator[Row]:
    """Each for another capacity, as while a slider is moved: the map, its table and every strategy's reach."""
    portal = seeded_portal()
    from tests.browser import demo

    run = demo.begin("What if")
    demo.finish(run)
    paths = [
        f"/runs/{run}/what-if/grid/?capacity={300 + place}MiB&headroom_percent=8" for place in range(WARM_UP + TIMES)
    ]
    served_ms = [served_ms(portal, path) for path in paths][WARM_UP:]
    yield median_at_most("web", "what if answered", served_ms, "ms", WHAT_IF_TARGET_MS)


def served_ms(portal: SeededPortal, path: str) -> float:
    """Of one request of a member, from sending it to the answer's end."""
    request = urllib.request.Request(portal.address + path, headers={"Cookie": portal.cookie})  # noqa: S310
    began_s = time.perf_counter()
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  (the portal's own address)
        answer.read()
        assert answer.status == 200
        assert answer.url == portal.address + path
    return (time.perf_counter() - began_s) * 1000
