"""An S3 of the tests' own on loopback (moto's), and the variables that make everything use it."""

import logging
import urllib.request
from functools import cache
from typing import Any

import pytest

BUCKET = "hcg-test"


def empty_bucket(patch: pytest.MonkeyPatch) -> Any:
    """A bucket (boto3's) that Amazon's usual variables lead to, on an S3 that holds nothing else.

    Skips where moto is not installed. The server lives as long as the process: clients are kept by their settings.
    """
    pytest.importorskip("moto.server")
    boto3 = pytest.importorskip("boto3")
    url = _server()
    urllib.request.urlopen(urllib.request.Request(f"{url}/moto-api/reset", method="POST")).close()
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "test"),
        ("AWS_SECRET_ACCESS_KEY", "test"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", url),
    ):
        patch.setenv(name, value)
    bucket = boto3.resource("s3").Bucket(BUCKET)
    bucket.create()
    return bucket


@cache
def _server() -> str:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    return "http://{}:{}".format(*server.get_host_and_port())
