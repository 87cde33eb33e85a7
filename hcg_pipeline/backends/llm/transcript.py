"""A transcript of what is asked and answered, for whoever asks for one: by default no prompt is logged anywhere.

It holds the documents' own words, so it lies in a file that only its owner can read. Replies from the cache, and those
of the Batch API, were not asked through the chain and are not in it. No key comes near it.
"""

import json
import os
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hcg_pipeline.backends.llm.chat import ChatCall, ChatReply, ChatRequest
from hcg_pipeline.errors import HcgError, SettingsError


class TranscribedChat:
    """Beside the chain, below the cache: each call that is made becomes a JSON line of `file` once it is over."""

    def __init__(self, inner: ChatCall, file: Path) -> None:
        self._inner = inner
        self._file = file
        self._lock = threading.Lock()

    def complete(self, request: ChatRequest) -> ChatReply:
        """See `ChatCall.complete`. Raises `SettingsError` where the file cannot be written."""
        try:
            reply = self._inner.complete(request)
        except HcgError as error:
            self._write(request, {"error": str(error)})
            raise
        self._write(request, {"reply": reply.text, "refusal": reply.refusal, "finish_reason": reply.finish_reason})
        return reply

    def _write(self, request: ChatRequest, outcome: dict[str, Any]) -> None:
        line = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "stage": request.stage,
            "key": request.key,
            "model": request.model,
            "messages": [{"role": message.role, "content": message.content} for message in request.messages],
            **outcome,
        }
        text = json.dumps(line, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        try:
            with (
                self._lock,
                os.fdopen(os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file,
            ):
                file.write(text)
        except OSError as error:
            raise SettingsError(
                f"{self._file}: the transcript of prompts cannot be written ({error.strerror}): name another file in "
                "HCG_LLM_TRANSCRIPT, or leave it unset"
            ) from error
