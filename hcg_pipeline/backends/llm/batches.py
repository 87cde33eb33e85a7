"""The batch endpoint: a stage's calls at half the price, for whoever can wait.

It is no layer of the chain but fills the cache before the chain is asked: the requests that the cache lacks go to the
endpoint as a file, and the replies that come back are kept as if they had been asked for one by one. Then the stage
runs as always. Replies are validated, repaired and quarantined as ever, and what the batch did not answer (refused
lines, an expired or cancelled job) is asked in the normal way.
"""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from hcg_pipeline.backends.llm.batch_endpoint import BatchEndpoint, BatchState, batch_lines
from hcg_pipeline.backends.llm.batch_jobs import Job, JobBook
from hcg_pipeline.backends.llm.budget import Budget
from hcg_pipeline.backends.llm.cache import CachedChat
from hcg_pipeline.backends.llm.chat import CallError, ChatRequest, estimate_input_tokens
from hcg_pipeline.backends.llm.dialect import Dialect
from hcg_pipeline.backends.llm.ledger import Ledger
from hcg_pipeline.backends.llm.settings import BatchSettings
from hcg_pipeline.errors import BackendError
from hcg_pipeline.progress import Progress


class Speaking(Protocol):
    """Who knows how the endpoint wants to be asked: the HTTP layer."""

    @property
    def dialect(self) -> Dialect | None:
        """What the endpoint turned out to understand; None before it has answered anything."""


class Batches:
    """Sends requests through the Batch API into the cache. One thread at a time."""

    def __init__(
        self,
        endpoint: BatchEndpoint,
        book: JobBook,
        chat: CachedChat,
        http: Speaking,
        budget: Budget,
        settings: BatchSettings,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._endpoint = endpoint
        self._book = book
        self._chat = chat
        self._http = http
        self._budget = budget
        self._settings = settings
        self._sleep = sleep

    def fill(self, requests: Sequence[ChatRequest], ledger: Ledger, progress: Progress) -> None:
        """Have the cache hold replies to `requests`, as far as the Batch API gives any; waits for its jobs.

        Jobs of an earlier run that hold any of them are waited for and not created again. Fewer than `fewest` new
        requests, and those beyond the budget, are left to the chain. Raises `BackendError` when the endpoint has no
        Batch API, refuses a job, or cannot be reached; jobs that were begun are found again by the next call.
        """
        lacking = self._chat.lacking(requests)
        jobs = self._begun(lacking)
        promised = {key for job in jobs for key in job.keys}
        fresh = {key: request for key, request in lacking.items() if key not in promised}
        if len(fresh) >= self._settings.fewest:
            jobs += self._submit(self._within_budget(fresh))
        self._collect(jobs, lacking, ledger, progress)

    def _begun(self, lacking: Mapping[str, ChatRequest]) -> list[Job]:
        """The open jobs that hold any of the requests. One that the endpoint never heard of is struck off."""
        found = []
        for job in self._book.open_jobs():
            if not lacking.keys() & set(job.keys):
                continue
            if job.batch_id:
                found.append(job)
            elif (state := self._endpoint.find(job.mark)) is not None:
                found.append(self._book.name(job, state.batch_id))
            else:
                self._book.close(job)
        return found

    def _within_budget(self, fresh: Mapping[str, ChatRequest]) -> dict[str, ChatRequest]:
        tokens = [estimate_input_tokens(request) for request in fresh.values()]
        return dict(list(fresh.items())[: self._budget.affordable(tokens, self._budget.batch_share)])

    def _submit(self, fresh: dict[str, ChatRequest]) -> list[Job]:
        dialect = self._http.dialect
        if dialect is None and fresh:
            # One goes ahead at the full price, so that the file speaks as the endpoint wants to be spoken to.
            key, request = next(iter(fresh.items()))
            # A request that is at fault itself fails again in the stage's own run, where failures are reported.
            with suppress(CallError):
                self._chat.complete(request)
            del fresh[key]
            dialect = self._http.dialect
        if dialect is None:
            return []
        jobs = []
        for keys, lines in self._parts(fresh, dialect):
            job = self._book.begin(uuid.uuid4().hex, keys)
            jobs.append(self._book.name(job, self._endpoint.create(lines, job.mark).batch_id))
        return jobs

    def _parts(self, fresh: Mapping[str, ChatRequest], dialect: Dialect) -> Iterator[tuple[list[str], bytes]]:
        """The keys and the file of each job, within the limits of a job."""
        keys: list[str] = []
        file = bytearray()
        for key, line in zip(fresh, batch_lines(fresh, dialect), strict=True):
            full = len(file) + len(line) > self._settings.bytes_per_job or len(keys) >= self._settings.requests_per_job
            if keys and full:
                yield keys, bytes(file)
                keys, file = [], bytearray()
            keys.append(key)
            file += line
        if keys:
            yield keys, bytes(file)

    def _collect(self, jobs: list[Job], lacking: Mapping[str, ChatRequest], ledger: Ledger, progress: Progress) -> None:
        stage = next(iter(lacking.values())).stage if lacking else ""
        total = sum(len(job.keys) for job in jobs)
        done: dict[str, int] = {}
        waiting = list(jobs)
        while waiting:
            for job in list(waiting):
                state = self._endpoint.state(job.batch_id)
                done[job.mark] = len(job.keys) if state.over else min(state.done, len(job.keys))
                if state.over:
                    self._take(job, state, lacking, ledger)
                    waiting.remove(job)
            progress.advance(f"{stage} (batch)", sum(done.values()), total)
            if waiting:
                self._sleep(self._settings.poll)

    def _take(self, job: Job, state: BatchState, lacking: Mapping[str, ChatRequest], ledger: Ledger) -> None:
        """Keep what came of a job, then strike it off. A kill in between collects it again; nothing counts twice."""
        if state.status == "failed":
            self._book.close(job)
            raise BackendError(
                f"{self._endpoint.url} refused the batch job {state.batch_id} ({state.problem or 'it does not say why'}"
                "): run again, with fewer calls in a job (HCG_LLM_BATCH_CALLS) if it was too much at once, or without "
                "--batch"
            )
        # What a former run asked for and this one does not need is paid for, too: it is kept by its key alone.
        other = replace(next(iter(lacking.values())), messages=(), key="")
        for key, reply in self._endpoint.replies(state).items():
            request = lacking.get(key, other)
            if key in job.keys and self._chat.keep(key, request, reply):
                self._budget.charge(request, reply, self._budget.batch_share)
                ledger.replied(request, reply, "batch")
        self._book.close(job)
