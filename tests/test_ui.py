"""The UI in a real browser: documents and questions are dropped into folders, and what follows is seen on its pages."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from tiny_corpus import write_tiny_corpus

from resources.places import CHECKOUT

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync", "--force-color-profile=srgb"]
PICTURES = CHECKOUT / "artifacts"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("ui"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (Debian: apt-get install chromium)"),
]


@pytest.fixture
def ui(data, tmp_path):
    """`hcg ui` on the data folder; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (data / "corpora").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    log = (tmp_path / "ui.log").open("wb")
    process = subprocess.Popen(
        [str(Path(sys.executable).parent / "hcg"), "ui", "--port", str(port)],
        env=os.environ | {"HCG_DATA": str(data), "HOME": str(home), "HCG_SECONDS_BETWEEN_LOOKS": "2"},
        stdout=log,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _until(lambda: _answers(url), 60, (tmp_path / "ui.log").read_text)
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)
        log.close()


def test_what_is_dropped_into_a_folder_is_seen_in_the_browser(ui, data):
    sync_api = pytest.importorskip("playwright.sync_api")
    write_tiny_corpus(data)
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1800, "height": 620})
        page.set_default_timeout(30_000)
        expect = sync_api.expect
        expect.set_options(timeout=30_000)

        # The sensors see the folders, build the graph, and then answer the questions.
        _until(
            lambda: _runs(ui) == [("answer_questions", "SUCCESS"), ("build_graph", "SUCCESS")], 120, lambda: _runs(ui)
        )
        page.goto(f"{ui}/assets/graph?view=partitions&partition=infections", wait_until="commit")
        expect(page.get_by_text("Materialized", exact=True).first).to_be_visible()
        expect(page.get_by_text("share_with_evidence").first).to_be_visible()
        page.get_by_role("row", name="picture").get_by_text("[Show Markdown]").click()
        expect(page.get_by_role("img", name="graph", exact=True).first).to_be_visible()
        page.keyboard.press("Escape")

        page.goto(f"{ui}/assets/rejected?view=checks", wait_until="commit")
        expect(page.get_by_text("no_rejected_files").first).to_be_visible()
        expect(page.get_by_text("Every file of the corpus folder could be read.").first).to_be_visible()
        expect(page.get_by_text("broken.pdf").first).to_be_visible()  # the rows of the check that warns

        page.goto(f"{ui}/assets/answers?view=partitions&partition=infections", wait_until="commit")
        expect(page.get_by_text("small.json").first).to_be_visible()

        page.locator('a[href="/runs"]').first.click()
        for job in ("build_graph", "answer_questions"):
            expect(page.get_by_text(job).first).to_be_visible()
        expect(page.get_by_text("Success").first).to_be_visible()

        page.locator('a[href="/asset-groups"]').first.click()
        for group in ("corpus", "embedding", "specification", "graph", "answering", "evaluation"):
            expect(page.get_by_text(group, exact=True).last).to_be_visible()
        PICTURES.mkdir(exist_ok=True)
        expect(page.get_by_text("fetching statuses")).to_have_count(0)
        page.screenshot(path=PICTURES / "lineage.png")
        browser.close()
    assert (PICTURES / "lineage.png").stat().st_size > 10_000


def _answers(url):
    try:
        with urllib.request.urlopen(f"{url}/server_info", timeout=5) as reply:
            return reply.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def _runs(url):
    """Job and status of every run, the newest first."""
    query = json.dumps({"query": "{runsOrError {... on Runs {results {jobName status}}}}"}).encode()
    request = urllib.request.Request(f"{url}/graphql", query, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        found = json.load(reply)["data"]["runsOrError"]["results"]
    return [(run["jobName"], run["status"]) for run in found]


def _until(true, seconds, about):
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            pytest.fail(f"not after {seconds} s: {about()}")
        time.sleep(0.5)
