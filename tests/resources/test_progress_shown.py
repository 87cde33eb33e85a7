"""Progress reaches the run's log now and then, and every listener of this process at once."""

import io
import logging

from rich.console import Console

from resources.run_progress import LISTENED, Listened, RunProgress
from resources.stage_bars import StageBars


class _Log:
    def __init__(self):
        self.lines = []

    def info(self, line):
        self.lines.append(line)


def test_a_pipe_gets_a_line_at_the_end_of_each_stage():
    out = io.StringIO()
    with StageBars(Console(file=out)):
        for done in range(1, 501):
            Listened().advance("reading", done, 500)
        Listened().advance("edges", 3, 3)
        Listened().advance("edges", 3, 3)
        Listened().advance("reading", 1, 2)
        Listened().advance("reading", 2, 2)
    assert out.getvalue() == "reading: 500 of 500\nedges: 3 of 3\nreading: 2 of 2\n"


def test_a_pipe_hears_of_a_slow_stage_in_between(monkeypatch):
    clock = iter([0.0, 2.0, 6.0, 7.0, 12.0])
    monkeypatch.setattr("resources.stage_bars.time.monotonic", lambda: next(clock))
    out = io.StringIO()
    with StageBars(Console(file=out)):
        for done in range(1, 6):
            Listened().advance("reading", done, 9)
    assert out.getvalue() == "reading: 3 of 9\nreading: 5 of 9\n"


def test_nobody_hears_after_the_bars_are_gone():
    out = io.StringIO()
    with StageBars(Console(file=out)):
        pass
    Listened().advance("reading", 1, 1)
    assert out.getvalue() == ""
    assert LISTENED.handlers == [] and LISTENED.level == logging.NOTSET


def test_a_run_logs_how_far_it_is_and_how_long_it_will_take(monkeypatch):
    clock = iter([100.0, 103.0, 110.0, 112.0, 130.0])
    monkeypatch.setattr("resources.run_progress.time.monotonic", lambda: next(clock))
    log = _Log()
    progress = RunProgress(log)
    for done in (0, 10, 25, 30, 75):
        progress.advance("reading", done, 100)
    assert log.lines == ["reading: 25 of 100, about 30 s left", "reading: 75 of 100, about 10 s left"]


def test_a_run_logs_what_it_has_cost_and_the_end_of_a_stage_that_took_long(monkeypatch):
    clock = iter([100.0, 106.0, 108.0, 200.0, 201.0])
    monkeypatch.setattr("resources.run_progress.time.monotonic", lambda: next(clock))
    spent = iter(["5 calls so far", "9 calls so far"])
    log = _Log()
    progress = RunProgress(log, lambda: next(spent))
    for done in (0, 5, 10):
        progress.advance("reading", done, 10)
    for done in (0, 3):
        progress.advance("edges", done, 3)  # over in a second: nothing to follow
    assert log.lines == ["reading: 5 of 10, about 6 s left; 5 calls so far", "reading: 10 of 10 in 8 s; 9 calls so far"]
