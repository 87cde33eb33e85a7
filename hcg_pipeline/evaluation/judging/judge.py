"""One judge: a model under its own settings, asked through the same chain as the LLM backend's model."""

import hashlib
import json
from collections.abc import Sequence
from copy import copy
from typing import TypeVar

import sqlalchemy as sa
from pydantic import BaseModel

from hcg_pipeline.backends.llm.asking import Asked, ask
from hcg_pipeline.backends.llm.assembling import build_chat
from hcg_pipeline.backends.llm.budget import Budget, BudgetError
from hcg_pipeline.backends.llm.chat import KeptChat
from hcg_pipeline.backends.llm.ledger import Ledger, Unrecorded
from hcg_pipeline.backends.llm.limiter import Limiter
from hcg_pipeline.backends.llm.mapping import CANARY, ask_all
from hcg_pipeline.backends.llm.prompt import Prompt, Sampling
from hcg_pipeline.backends.llm.settings import EndpointSettings, SettingNames
from hcg_pipeline.errors import BackendError
from hcg_pipeline.evaluation.judging.prompts.instructions import TASKS, instructions
from hcg_pipeline.evaluation.judging.prompts.statements import StatementsReply
from hcg_pipeline.evaluation.judging.prompts.verdicts import VerdictsReply
from hcg_pipeline.progress import Progress

R = TypeVar("R", bound=BaseModel)

CODE_VERSION = 1
"""Raise it when this package's code makes other prompts of the same answers, or other scores of the same replies."""


class Judge:
    """Asks a chat model. `name` tells judges apart in scores; `chat` is the whole chain; `workers` ask at a time.

    `names` is what a person sets to have another judge, for error messages.
    """

    def __init__(self, name: str, chat: KeptChat, sampling: Sampling, *, names: SettingNames, workers: int = 8) -> None:
        self.name = name
        self._chat = chat
        self._sampling = sampling
        self._workers = workers
        self._names = names
        self._ledger: Ledger = Unrecorded()

    def recording(self, ledger: Ledger) -> "Judge":
        """This judge, with the same chain, whose calls `ledger` takes note of."""
        other = copy(self)
        other._ledger = ledger
        return other

    @property
    def version(self) -> str:
        """The model's name and a hash of everything else that decides what the same answers score."""
        content = {
            "code": CODE_VERSION,
            "sampling": [self._sampling.temperature, self._sampling.seed, self._sampling.max_tokens],
            "prompts": [instructions(task) for task in TASKS],
            "replies": [reply.model_json_schema() for reply in (StatementsReply, VerdictsReply)],
        }
        digest = hashlib.blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=6).hexdigest()
        return f"{self._sampling.model}/{digest}"

    def ask(self, prompts: Sequence[Prompt[R]], progress: Progress) -> list[Asked[R]]:
        """What came of each prompt, in order: a valid reply, or a failure after one repair.

        Raises `BackendError` when the judge as a whole cannot work, as `mapping.ask_all` does, and `BudgetError`. Fewer
        prompts than a canary has say nothing about the judge as a whole: there, bad replies are only failures.
        """
        way_out = f"Set {self._names.model} to a more capable model"
        try:
            if len(prompts) >= CANARY:
                return ask_all(self._ask_one, prompts, self._workers, progress, way_out=way_out)
            return self._ask_few(prompts, progress)
        except BudgetError as error:
            raise BudgetError(f"judge {self.name}: {error} (HCG_JUDGE_MAX_CALLS, …_MAX_TOKENS, …_MAX_USD)") from error
        except BackendError as error:
            raise BackendError(f"judge {self.name}: {error}") from error

    def _ask_few(self, prompts: Sequence[Prompt[R]], progress: Progress) -> list[Asked[R]]:
        results = []
        for done, prompt in enumerate(prompts, start=1):
            results.append(self._ask_one(prompt))
            progress.advance(prompt.stage, done, len(prompts))
        return results

    def _ask_one(self, prompt: Prompt[R]) -> Asked[R]:
        return ask(self._chat, self._sampling, prompt, self._ledger)


def build_judge(
    settings: EndpointSettings,
    cache_engine: sa.Engine,
    *,
    name: str | None = None,
    limiter: Limiter | None = None,
    budget: Budget | None = None,
) -> Judge:
    """A judge at the endpoint of `settings`, with its replies kept in `cache_engine`'s database.

    `name` is the model's unless given; give one to tell apart two judges of one model, such as runs with other seeds.
    Opens no connection, but makes the cache's table. Share a `limiter` with whatever else talks to the endpoint and a
    `budget` with whatever else it bounds; by default the judge has its own. Raises `SettingsError` for a budget in USD
    on a model without a price.
    """
    budget = budget or Budget(settings.budget, settings.model)
    return Judge(
        name or settings.model,
        build_chat(settings, cache_engine, limiter or Limiter(settings.rate), budget),
        Sampling(settings.model, settings.temperature, settings.seed, settings.max_tokens),
        workers=settings.rate.concurrency,
        names=settings.names,
    )
