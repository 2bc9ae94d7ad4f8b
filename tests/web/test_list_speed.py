import time

from django.test import Client

from tests.bench.lists import LIST_TARGET_MS, addresses
from tests.bench.many import make_many

TIMES_SLOWER = 5  # than the benchmark's target, which is of ten times as many


def test_every_list_of_many_answers_is_served_in_time(signed_in: Client) -> None:
    make_many(50, 400)
    slow = {}
    for name, path in addresses().items():
        began_s = time.perf_counter()
        answer = signed_in.get(path)
        served_ms = (time.perf_counter() - began_s) * 1000
        assert answer.status_code == 200, name
        if served_ms > TIMES_SLOWER * LIST_TARGET_MS:
            slow[name] = served_ms
    assert slow == {}
