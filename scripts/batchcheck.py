"""What throughput-check needs for one batch of evaluations under which the worker is killed: a worker as a process of its own,
the batch's results, and what is wrong with them."""

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

SILENCE = 60  # seconds; a stream has a heartbeat every 15
TRIES = 10  # connections in a row that may bring nothing


def credential(site, name, device):
    """The secret of a new worker. Only the pages make one, so this signs in by the link in the log and sends their forms."""
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
    """A worker of a site, as a process of its own."""

    def __init__(self, binary, site, device, extra=()):
        data = tempfile.mkdtemp(prefix="gpu-check-worker-")
        self.command = [binary, "work", "--site", site.url, "--worker-name", "batch", "--data", data, "--cpu-slots", str(int(device == "CPU")), *extra]
        self.secret = credential(site, "batch", device)
        self.log = open(os.path.join(data, "worker.log"), "w+b")
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=subprocess.STDOUT, env=os.environ | {"WARPBOARD_WORKER_SECRET": self.secret})

    def kill(self):
        """Kills it with SIGKILL; returns whether that is what ended it."""
        self.process.kill()
        return self.process.wait(60) == -9

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def run(site, worker, bodies, end, until):
    """Evaluates requests as one batch, and kills the worker in the middle of an evaluation after so many results. Returns the
    results, what is wrong, and when the worker was killed."""
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
    """Sends a batch; returns the site's answer."""
    request = urllib.request.Request(
        site.url + "/api/v1/evaluations/batch", json.dumps({"requests": bodies}).encode(),
        {"Authorization": f"Bearer {site.token}", "Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"the batch: {error} {error.read().decode(errors='replace')}")


def lines(site, batch, until):
    """The results of a batch, to its end or to the time. Resumes where a connection broke."""
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
    """What is wrong with the results of a batch, whose requests have these entries: a list of texts."""
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
    """How many evaluations the site took back from a worker and queued again."""
    return sum("attempt taken back" in line and "retried=true" in line for line in site.tail(None).splitlines())
