"""Functions for throughput-check's part batch: it runs a worker as a separate process, evaluates a batch during which
this worker is killed, and checks the results."""

import datetime
import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

SILENCE = 60  # seconds without data after which a connection counts as broken; the site sends a heartbeat every 15 s
TRIES = 10  # connections in a row that may end without a result


def credential(site, name, device):
    """Creates a worker on the site, and returns its secret. Only web pages can do that, so it signs in by the link in
    the log and sends their forms."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    link = re.search(r'link="?([^"\s]+)', site.tail(None))[1]

    def get(path):
        with browser.open(urllib.parse.urljoin(site.url, path), timeout=60) as page:
            return page.read().decode()

    def send(page, path, **fields):
        fields["_csrf"] = re.search(r'name="_csrf" value="([^"]*)"', get(page))[1]
        with browser.open(site.url + path, urllib.parse.urlencode(fields).encode(), timeout=60) as answer:
            return answer.read().decode()

    get(link)
    send("/sign-in", "/auth/developer", name="gpu-check", role="admin", next="/")
    return re.search(r'id="new-secret"[^>]*>([^<]+)<', send("/devices", "/workers", name=name, devices=device))[1]


class Worker:
    """A worker of a site, as a separate process."""

    def __init__(self, binary, site, device, extra=()):
        data = tempfile.mkdtemp(prefix="gpu-check-worker-")
        self.command = [binary, "work", "--site", site.url, "--worker-name", "batch", "--data", data, "--cpu-slots", str(int(device == "CPU")), *extra]
        self.secret = credential(site, "batch", device)
        self.log = open(os.path.join(data, "worker.log"), "w+b")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=subprocess.STDOUT, env=os.environ | {"WARPBOARD_WORKER_SECRET": self.secret})

    def kill(self):
        """Kills the worker with SIGKILL. Returns False if it had already ended by itself."""
        self.process.kill()
        return self.process.wait(60) == -9

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def run(site, worker, bodies, end, until):
    """Evaluates requests as one batch. After end results, kills the worker in the middle of an evaluation, and starts
    it again. Returns (results, texts of faults, time when the worker was killed)."""
    batch = send(site, bodies)
    found, wrong, killed, last, gaps = [], [], "", time.monotonic(), []
    if "id" not in batch:
        return found, faults(batch["entries"], found), killed
    for line in lines(site, batch["id"], until):
        found.append(line)
        gaps.append(time.monotonic() - last)
        last += gaps[-1]
        if len(found) == end:
            time.sleep(statistics.median(gaps) / 2)
            killed = datetime.datetime.now(datetime.timezone.utc).strftime("%FT%T.%fZ")
            if not worker.kill():
                wrong.append("the worker had ended before it was killed")
            worker.start()
    if not killed:
        wrong.append("the worker was not killed")
    if time.monotonic() < until and (reread := list(lines(site, batch["id"], until))) != found:
        wrong.append(f"read again, the batch has other results: {len(reread)}, not {len(found)}")
    return found, wrong + faults(batch["entries"], found), killed


def send(site, bodies):
    """Sends a batch, and returns the site's answer."""
    request = urllib.request.Request(
        site.url + "/api/v1/evaluations/batch", json.dumps({"requests": bodies}).encode(),
        {"Authorization": f"Bearer {site.token}", "Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"the batch: {error} {error.read().decode(errors='replace')}")


def lines(site, batch, until):
    """Yields the results of a batch, until its end or the time until. After a broken connection, it resumes where it
    broke."""
    after, left = 0, TRIES
    while left:
        left -= 1
        request = urllib.request.Request(f"{site.url}/api/v1/evaluations/batch/{batch}/results?after={after}",
                                         headers={"Authorization": f"Bearer {site.token}"})
        try:
            with urllib.request.urlopen(request, timeout=SILENCE) as stream:
                for line in stream:
                    found = json.loads(line.strip() or "null")  # a heartbeat is empty
                    if time.monotonic() > until or found and found.get("end"):
                        return
                    if found:
                        after, left = found["number"], TRIES
                        yield found
        except (OSError, http.client.HTTPException, ValueError) as error:
            print("the stream broke:", error, flush=True)
        time.sleep(1)
    sys.exit(f"the stream of batch {batch} brought nothing in {TRIES} connections")


def faults(entries, found):
    """Returns a list of texts about faults in the results of a batch. entries are the site's answers to its
    requests."""
    wrong = [f"request {index} was refused: {json.dumps(entry)[:300]}" for index, entry in enumerate(entries) if "id" not in entry]
    by_index = {}
    for line in found:
        by_index.setdefault(line["index"], []).append(line["evaluation"])
    for index in sorted({*range(len(entries)), *by_index}):
        results = by_index.get(index, [])
        if len(results) != 1:
            wrong.append(f"request {index} has {len(results)} results")
        for evaluation in results:
            if index >= len(entries) or evaluation["id"] != entries[index].get("id"):
                wrong.append(f"request {index} has the result of another evaluation, {evaluation['id']}")
            outcome = (evaluation.get("result") or {}).get("kernel_exec_result") or {}
            if evaluation["state"] != "completed" or not outcome.get("correctness"):
                wrong.append(f"request {index} {evaluation['state']}: {evaluation.get('failure', '')} {json.dumps(outcome)[:300]}")
    return wrong


def again(site):
    """Returns the number of evaluations that the site took back from a lost worker and queued again."""
    return sum("attempt taken back" in line and "retried=true" in line for line in site.tail(None).splitlines())
