from jobs.models import ACTIVE_STATES, TERMINAL_STATES, TRANSITIONS, RunState


def test_every_state_is_active_or_terminal_and_never_both() -> None:
    assert set(RunState) == ACTIVE_STATES | TERMINAL_STATES
    assert not ACTIVE_STATES & TERMINAL_STATES


def test_the_table_knows_every_state() -> None:
    assert set(TRANSITIONS) == set(RunState)


def test_a_terminal_state_is_left_for_nothing() -> None:
    assert not any(TRANSITIONS[state] for state in TERMINAL_STATES)


def test_every_active_state_can_end() -> None:
    assert all(TRANSITIONS[state] & TERMINAL_STATES for state in ACTIVE_STATES)
