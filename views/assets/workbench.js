// The workbench: what is read beside the editor as tabs, its keys, and the run below as marks in the text.
import { remarksIn } from "./remarks.js";
import { tabs } from "./tabs.js";

const bench = document.querySelector("[data-bench]");
const form = bench.querySelector("[data-bench-form]");
const area = form.querySelector("textarea");
const drawer = bench.querySelector("#bench-run");
const pin = bench.querySelector("#bench-pin");

// The keys count everywhere on the page; the editor has them, too, and says that it took them.
function keys(event) {
  if (event.defaultPrevented || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  form.querySelector(`[data-key="${event.shiftKey ? "shift-enter" : "enter"}"]`)?.click();
}

const text = (element) => element?.textContent.trim() ?? "";

// The line of a failure that names none: where the kernel begins.
function entryLine() {
  const at = area.value.split("\n").findIndex((line) => /\bcustom_kernel\s*\(/.test(line));
  return Math.max(at, 0) + 1;
}

// What the ended runs say of the text: their compilers' remarks, else why they failed.
function said() {
  const marks = [];
  for (const run of drawer.querySelectorAll("[data-run]")) {
    const lines = [...run.querySelectorAll("[data-run-remarks] [data-line]")];
    marks.push(...remarksIn(lines));
    const why = run.querySelector("[data-failure] p");
    if (why && !lines.some((line) => line.dataset.kind === "error")) marks.push({ at: entryLine(), severity: "error", message: text(why) });
  }
  return marks;
}

// The first case that failed stays above the editor until a run passes.
function pinned() {
  const bad = drawer.querySelector("[data-run] tr[data-status]:not([data-status=pass], [data-status=cancelled])");
  if (bad) {
    const why = bad.nextElementSibling?.matches(".said") ? text(bad.nextElementSibling) : "";
    const number = document.createElement("b");
    number.textContent = `Case ${bad.dataset.case} `;
    const spec = document.createElement("code");
    spec.textContent = text(bad.querySelector("code"));
    pin.replaceChildren(number, spec, ` ${why}`);
  }
  pin.hidden = !bad;
}

let shown = ""; // what the editor's marks were made of

// A part of the page is new. Only how runs ended changes the marks.
function renewed() {
  const runs = [...drawer.querySelectorAll("[data-run]")];
  const over = runs.filter((run) => ["done", "failed"].includes(run.dataset.state) && !run.matches("[hx-trigger=load]")); // that one is asked for once more
  const submission = drawer.querySelector("[data-submission]")?.dataset.submission;
  if (submission) {
    const address = new URL(location);
    address.searchParams.set("run", submission);
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }
  if (!over.length) return;
  const marks = said();
  const now = JSON.stringify([submission, over.map((run) => run.dataset.run), marks]);
  if (now === shown) return;
  shown = now;
  pinned();
  area.dispatchEvent(new CustomEvent("remarks", { detail: marks.filter((mark) => !mark.file) }));
  form.dispatchEvent(new CustomEvent("files-remarks", { detail: marks })); // each file takes its own
  // Scroll to the failure, unless the user is typing.
  if (!document.activeElement.closest(".cm-editor")) drawer.querySelector("[data-failure]")?.scrollIntoView({ block: "nearest" });
  if (over.length === runs.length) document.body.dispatchEvent(new Event("mine"));
}

const parts = bench.querySelector("[data-tabs] > [role=tablist]"); // without this they stand below each other
tabs(parts).choose(parts.firstElementChild);
parts.hidden = false;
document.addEventListener("keydown", keys);
area.addEventListener("editor", () => ((shown = ""), renewed()));
document.addEventListener("htmx:after:swap", renewed);
renewed();
