"""Wake-ups to a broker that is not there: the caller goes on at once, and the sweep rings again."""

from time import monotonic

import pytest
from celery import Celery

from jobs.services import wake
from kvportal import celery
from kvportal.env import celery_broker
from tests.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(params=["unix:///nowhere/valkey.sock?db=0", "redis://127.0.0.1:1/0"])
def dead_broker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    app = Celery(broker=celery_broker(request.param), set_as_current=False)
    app.conf.broker_transport_options = celery.app.conf.broker_transport_options
    monkeypatch.setattr(wake, "app", app)


def test_an_unreachable_broker_is_told_within_seconds(dead_broker: None, caplog: pytest.LogCaptureFixture) -> None:
    run = make_run()
    entry = run.profile.model_entry
    began = monotonic()
    assert wake.run_wake_send(run_id=run.pk, queue=run.queue) is False
    assert wake.model_inspect_send(entry_id=entry.pk) is False
    assert monotonic() - began < 5
    assert caplog.text.count("was not sent") == 2
    run.refresh_from_db()
    entry.refresh_from_db()
    assert run.woken_at is not None and entry.woken_at is not None


def test_a_request_s_thread_finds_the_portal_s_app() -> None:
    from tests.services.threads import at_once

    def app_name() -> str:
        from celery import current_app

        return str(current_app.main)

    assert at_once(app_name) == ["kvportal"]
