// The workbench: its panes and tabs, and marks in the editor from the result of the run below it.
import { stored } from "./drafts.js";
import { remarksIn } from "./remarks.js";
import { tabs } from "./tabs.js";

const bench = document.querySelector("[data-bench]");
const form = bench.querySelector("[data-bench-form]");
const area = form.querySelector("textarea");
const panel = bench.querySelector("#bench-panel");
const drawer = panel.querySelector("#bench-run");
const nothing = bench.querySelector(".bench-nothing");

const text = (element) => element?.textContent.trim() ?? "";

// entryLine returns the line for a failure without a line number: the first line of custom_kernel, or 1.
function entryLine() {
  const at = area.value.split("\n").findIndex((line) => /\bcustom_kernel\s*\(/.test(line));
  return Math.max(at, 0) + 1;
}

// said returns marks for the source from the ended runs: compiler messages, or the reason of a failure.
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

let shown = ""; // data of the current marks, as JSON
let view = "verdict"; // name of the visible part of a run
const submission = () => drawer.querySelector("[data-submission]")?.dataset.submission;
// ID of a submission whose result must not make marks, because the text has been changed or sent again since. Parts of the
// page may be swapped before the next submission replaces it.
let past = area.value !== area.defaultValue ? submission() : undefined;

// offers highlights the button for the next step: Rank after a passed test of the unchanged text, otherwise Test.
let edited = false;
function offers(rank) {
  for (const button of form.querySelectorAll(".bench-bar > [data-key]")) button.classList.toggle("btn-main", (button.dataset.key === "shift-enter") === rank);
}

function mark(marks) {
  area.dispatchEvent(new CustomEvent("remarks", { detail: marks.filter((mark) => !mark.file) }));
  form.dispatchEvent(new CustomEvent("files-remarks", { detail: marks })); // files.js selects the marks of each file
}

// On small screens the page scrolls to the result when a run begins or ends, unless the person has scrolled since it began. On a
// large screen the panel is always visible.
let scrolled = false;
for (const kind of ["wheel", "touchmove"]) addEventListener(kind, () => (scrolled = true), { passive: true });
const small = matchMedia("(max-width: 63.99rem)");

// started removes the results of the previous run, because a new one starts.
function started() {
  past = submission();
  shown = "";
  edited = false;
  offers(false);
  form.querySelector(".bench-more")?.removeAttribute("open");
  form.querySelectorAll("[role=alert]").forEach((refusal) => refusal.remove());
  drawer.querySelectorAll("[data-failure], [role=alert]").forEach((old) => old.remove());
  mark([]);
  results.choose(document.getElementById("tab-verdict"));
  scrolled = false;
  if (small.matches) panel.scrollIntoView({ block: "start" });
}

function filled() {
  nothing.textContent = nothing.dataset[view] ?? "";
  nothing.hidden = drawer.hidden || view === "verdict" || !drawer.querySelector("[data-run]") || drawer.querySelector(`[data-part="${view}"] > *`) !== null;
}

// renewed handles a swapped part of the page. It changes the marks only if the results of ended runs have changed.
function renewed() {
  const runs = [...drawer.querySelectorAll("[data-run]")];
  const over = runs.filter((run) => ["done", "failed"].includes(run.dataset.state) && !run.matches("[hx-trigger=load]")); // such a card will be loaded once more
  const current = submission();
  filled();
  if (current && !drawer.querySelector("[data-mode=compile]")) {
    const address = new URL(location);
    address.searchParams.set("run", current);
    if (address.href !== location.href) history.replaceState(history.state, "", address);
  }
  if (!over.length || current === past) return;
  offers(!edited && drawer.querySelector("[data-mode=test]") !== null && runs.every((run) => run.dataset.state === "done"));
  const marks = said();
  const now = JSON.stringify([current, over.map((run) => run.dataset.run), marks]);
  if (now === shown) return;
  shown = now;
  mark(marks);
  if (small.matches && !scrolled && !document.activeElement.closest(".cm-editor")) panel.scrollIntoView({ block: "nearest" });
  if (over.length === runs.length) document.body.dispatchEvent(new Event("mine"));
}

// split makes a bar between two panes movable. The browser stores each person's sizes, in percent of the panes' parent.
function split(bar) {
  const name = bar.dataset.split;
  const kept = `bench ${area.dataset.draft.split(" ")[1]} ${name}`;
  const across = bar.getAttribute("aria-orientation") === "vertical";
  const set = (percent) => {
    const size = Math.min(80, Math.max(15, percent));
    bench.style.setProperty(`--${name}`, `${size}%`);
    bar.setAttribute("aria-valuenow", Math.round(size));
  };
  const keep = () => stored(() => localStorage.setItem(kept, bar.getAttribute("aria-valuenow")));
  const at = ({ clientX, clientY }) => {
    const box = bar.parentElement.getBoundingClientRect();
    return across ? ((clientX - box.left) / box.width) * 100 : ((box.bottom - clientY) / box.height) * 100;
  };
  bar.hidden = false;
  const chosen = Number(stored(() => localStorage.getItem(kept)));
  if (chosen) set(chosen);
  else bar.setAttribute("aria-valuenow", across ? 40 : 50); // default size in workbench.css
  bar.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.onpointermove = (move) => set(at(move));
  });
  bar.addEventListener("lostpointercapture", () => {
    bar.onpointermove = null;
    keep();
  });
  bar.addEventListener("keydown", ({ key }) => {
    const step = { ArrowLeft: -2, ArrowRight: 2, ArrowUp: 2, ArrowDown: -2 }[key];
    if (!step) return;
    set(Number(bar.getAttribute("aria-valuenow")) + step);
    keep();
  });
}

// Without this script the tabs stay hidden, and all parts are visible below each other.
const [reading, results] = [...bench.querySelectorAll("[data-tabs]")].map((list) => {
  list.hidden = false;
  return tabs(list, (shown, tab) => {
    (list.closest("#bench-left") ?? shown).scrollTop = 0;
    if (list.closest("#bench-left")) return;
    view = tab.id.replace("tab-", "");
    drawer.dataset.view = view;
    filled();
  });
});
for (const [group, first] of [[reading, "tab-task"], [results, "tab-verdict"]]) group.choose(document.getElementById(first));
bench.querySelectorAll("[data-split]").forEach(split);
form.addEventListener("submit", started);
area.addEventListener("input", () => {
  edited = true;
  offers(false);
});
area.addEventListener("editor", () => ((shown = ""), renewed()));
document.addEventListener("htmx:after:swap", renewed);
renewed();
