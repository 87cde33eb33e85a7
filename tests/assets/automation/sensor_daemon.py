"""Dagster's daemon as far as sensors are concerned, and a clock that tests set."""

import dagster as dg
import pytest

from assets.watching import QUIET_SECONDS


class Daemon:
    """Dagster's daemon, as far as one sensor is concerned: it keeps the cursor, and drops run keys that it had."""

    def __init__(self, sensor, instance, clock, resources):
        self._sensor, self._instance, self._clock, self._resources = sensor, instance, clock, resources
        self._run_keys = set()
        self.cursor = None
        self.said = ""

    def tick(self, after=QUIET_SECONDS):
        """One tick so many seconds later: the corpora for which runs are started."""
        self._clock.now += after
        context = dg.build_sensor_context(instance=self._instance, cursor=self.cursor, resources=self._resources)
        self.result = self._sensor(context)
        self.cursor = self.result.cursor
        self.said = self.result.skip_reason.skip_message if self.result.skip_reason else ""
        for request in self.result.dynamic_partitions_requests or []:
            self._instance.add_dynamic_partitions("corpora", list(request.partition_keys))
        for event in self.result.asset_events:
            self._instance.report_runless_asset_event(event)
        new = [request for request in self.result.run_requests or [] if request.run_key not in self._run_keys]
        self._run_keys |= {request.run_key for request in new}
        return [request.partition_key for request in new]

    def settle(self):
        """Two ticks, the second after the folders were left alone for long enough."""
        return self.tick() + self.tick()


class Clock:
    now = 1_800_000_000.0


ANYWHERE = pytest.mark.parametrize("data", ["here", "on S3"], indirect=True)
"""For tests that hold on this machine and on S3."""
