"""The Batch API of `FakeOpenAI`: files, and batches that go on by one step each time somebody looks at them.

    fake.batches.line_fault = lambda body: SERVER_ERROR if "smoking" in str(body) else None   # partial failures
    fake.batches.end = "expired"                                                             # or cancelled, failed
    fake.batches.share = 0.5                                                                 # of the lines get done

A batch is `validating` when it is created, then `in_progress` for `looks` looks, `finalizing`, and over. What its lines
came to is only made when it is over, as chat completions are.
"""

import json
import threading
from collections.abc import Callable
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qs, urlsplit


class FakeBatches:
    """The state of all files and batches. `complete` makes the completion of one body under a fault."""

    def __init__(self, complete: Callable[[dict[str, Any], Any], dict[str, Any]]) -> None:
        self._complete = complete
        self._lock = threading.RLock()
        self.looks = 2
        self.end = "completed"
        self.share = 1.0
        self.problem = "the file is too large"
        self.line_fault: Callable[[dict[str, Any]], Any] = lambda _body: None
        self.there = True
        """Whether the server has the Batch API at all."""
        self.faulty = False
        """Whether its calls meet the server's faults."""
        self.files: dict[str, bytes] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.seen: dict[str, int] = {}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The request lines of all batches, in order."""
        uploads = [self.files[job["input_file_id"]] for job in self.jobs.values()]
        return [json.loads(line) for upload in uploads for line in upload.splitlines()]

    def answer(self, method: str, path: str, body: Any) -> tuple[int, bytes]:
        """Status and body of a call."""
        parts = urlsplit(path)
        names = parts.path.strip("/").split("/")[1:]
        with self._lock:
            if not self.there:
                return 404, _error("Not Found")
            if names[0] == "files":
                return self._file(method, names, body)
            if method == "POST":
                return self._create(body) if len(names) == 1 else self._cancel(names[1])
            if len(names) == 1:
                return self._list(parse_qs(parts.query))
            return (200, self._look(names[1])) if names[1] in self.jobs else (404, _error("no such batch"))

    def _file(self, method: str, names: list[str], body: Any) -> tuple[int, bytes]:
        if method == "POST":
            name = self._store(body["file"])
            return 200, json.dumps({"id": name, "object": "file", "purpose": body["purpose"].decode()}).encode()
        if names[1] not in self.files:
            return 404, _error("no such file")
        return 200, self.files[names[1]]

    def _store(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _create(self, body: dict[str, Any]) -> tuple[int, bytes]:
        if body["completion_window"] != "24h" or body["endpoint"] != "/v1/chat/completions":
            return 400, _error("unsupported window or endpoint")
        name = f"batch_{len(self.jobs) + 1}"
        total = len(self.files[body["input_file_id"]].splitlines())
        self.jobs[name] = {
            "id": name,
            "object": "batch",
            "endpoint": body["endpoint"],
            "input_file_id": body["input_file_id"],
            "completion_window": "24h",
            "status": "validating",
            "metadata": body.get("metadata"),
            "created_at": 0,
            "request_counts": {"total": total, "completed": 0, "failed": 0},
        }
        self.seen[name] = 0
        return 200, json.dumps(self.jobs[name]).encode()

    def _cancel(self, name: str) -> tuple[int, bytes]:
        self.jobs[name]["status"] = "cancelled"
        return 200, json.dumps(self.jobs[name]).encode()

    def _list(self, query: dict[str, list[str]]) -> tuple[int, bytes]:
        """Pages of the jobs, the latest first."""
        jobs = list(reversed(self.jobs.values()))
        after = query.get("after", [""])[0]
        start = next((place + 1 for place, job in enumerate(jobs) if job["id"] == after), 0)
        page = jobs[start : start + int(query.get("limit", ["20"])[0])]
        more = start + len(page) < len(jobs)
        return 200, json.dumps({"object": "list", "data": page, "has_more": more}).encode()

    def _look(self, name: str) -> bytes:
        job = self.jobs[name]
        if job["status"] in ("validating", "in_progress", "finalizing"):
            self.seen[name] += 1
            if self.seen[name] <= self.looks:
                job["status"] = "in_progress"
            else:
                self._finish(job)
        return json.dumps(job).encode()

    def _finish(self, job: dict[str, Any]) -> None:
        job["status"] = self.end
        if self.end == "failed":
            job["errors"] = {"object": "list", "data": [{"code": "invalid", "message": self.problem, "line": None}]}
            return
        lines = [json.loads(line) for line in self.files[job["input_file_id"]].splitlines()]
        done = lines[: round(len(lines) * self.share)]
        good, bad = [], []
        for line in done:
            fault = self.line_fault(line["body"])
            if fault is not None and fault.status != 200:
                body = {"error": {"message": fault.message}}
                bad.append({"custom_id": line["custom_id"], "response": {"status_code": fault.status, "body": body}})
            else:
                body = self._complete(line["body"], fault or _Fine())
                good.append({"custom_id": line["custom_id"], "response": {"status_code": 200, "body": body}})
        late = {"code": f"batch_{self.end}", "message": "not executed"}
        bad += [{"custom_id": line["custom_id"], "response": None, "error": late} for line in lines[len(done) :]]
        # the API promises no order
        for field, found in (("output_file_id", good[::-1]), ("error_file_id", bad)):
            if found:
                rows = [{"id": f"r{place}", "error": None, **row} for place, row in enumerate(found)]
                job[field] = self._store("".join(json.dumps(row) + "\n" for row in rows).encode())
        job["request_counts"] |= {"completed": len(good), "failed": len(bad)}


class _Fine:
    """A fault that is none, in the shape of `fake_openai.Fault`."""

    content = edit = refusal = context = None
    finish_reason = "stop"
    usage = True


def parse_upload(raw: bytes, content_type: str) -> dict[str, bytes]:
    """The fields of a multipart form."""
    message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + raw)
    fields = {}
    for part in message.iter_parts():
        fields[str(part.get_param("name", header="content-disposition"))] = part.get_payload(decode=True)
    return fields


def _error(message: str) -> bytes:
    return json.dumps({"error": {"message": message}}).encode()
