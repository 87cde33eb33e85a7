"""One limiter and one budget for all that a process asks of a model, whatever the seed.

Runs under several seeds are one expense: each with a budget of its own would cost so many times what a person allowed.
"""

from functools import lru_cache

from hcg_pipeline.backends.llm.budget import Budget
from hcg_pipeline.backends.llm.limiter import Limiter
from hcg_pipeline.backends.llm.settings import EndpointSettings


def bounds_of(settings: EndpointSettings) -> tuple[Limiter, Budget]:
    """The limiter and the budget of the model and endpoint of `settings`, the same at every call.

    Raises `SettingsError` for a budget in USD on a model without a price.
    """
    return _bounds(settings.model_copy(update={"seed": 0}))


@lru_cache
def _bounds(settings: EndpointSettings) -> tuple[Limiter, Budget]:
    return Limiter(settings.rate), Budget(settings.budget, settings.model)
