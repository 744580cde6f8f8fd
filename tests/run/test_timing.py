"""The timer, on a clock of its own: what is called in which order, and what is made of the laps."""

import time

import pytest

from gatewise.run import timing


class Clock:
    """Stands still, but for calls that let it go on; half of the time passes on the processor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 0.0
        self.called: list[str] = []
        self.busy_of_others = 0.0
        monkeypatch.setattr(time, "perf_counter", lambda: self.now)
        monkeypatch.setattr(time, "process_time", lambda: self.now / 2)
        monkeypatch.setattr(timing, "busy_seconds", lambda: self.now / 2 + self.busy_of_others)
        monkeypatch.setattr(timing, "n_cores", lambda: 2)

    def call(self, name: str, *seconds: float) -> None:
        """Take the first of the seconds, next time the second, and then the last one for ever."""
        self.now += seconds[min(self.called.count(name), len(seconds) - 1)]
        self.called.append(name)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_the_first_call_is_not_timed(clock: Clock) -> None:
    measured = timing.time_call(lambda: clock.call("a", 100.0, 3.0, 1.0, 2.0), seconds=0.0, min_calls=4)
    assert (measured.median, measured.least, measured.n_calls) == (2.0, 1.0, 4)
    assert measured.cpu == pytest.approx(1.0)  # half of (3 + 1 + 2 + 2) / 4


def test_calls_go_on_until_their_time_is_up(clock: Clock) -> None:
    assert timing.time_call(lambda: clock.call("a", 0.5), seconds=10.0, min_calls=3).n_calls == 20
    assert timing.time_call(lambda: clock.call("b", 50.0), seconds=10.0, min_calls=3).n_calls == 3


def test_calls_take_turns_until_the_shortest_has_its_time(clock: Clock) -> None:
    calls = {"a": lambda: clock.call("a", 1.0), "b": lambda: clock.call("b", 2.0)}
    measured = timing.time_in_turns(calls, seconds=4.0, min_calls=1)
    assert clock.called == ["a", "b"] * 5  # one round is not timed
    assert {name: each.median for name, each in measured.items()} == {"a": 1.0, "b": 2.0}


def test_what_others_take_of_the_cores_is_told(clock: Clock) -> None:
    def disturbed() -> None:
        clock.call("a", 1.0)
        clock.busy_of_others += 0.5

    assert timing.time_call(lambda: clock.call("quiet", 1.0)).free == pytest.approx(1.0)
    assert timing.time_call(disturbed).free == pytest.approx(0.75)  # half a core of two


def test_cores_are_busy_while_this_process_works() -> None:
    start = timing.busy_seconds()
    end = time.process_time() + 0.1
    while time.process_time() < end:
        pass
    assert timing.busy_seconds() - start >= 0.05
