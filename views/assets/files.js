// The files of a submission as tabs. The editor of a file is created when its tab is first chosen.
import { adopt, noteDraft, stored } from "./drafts.js";
import { remarksIn } from "./remarks.js";
import { named, panelOf, tabs as asTabs } from "./tabs.js";

const box = document.querySelector("[data-files]");
const form = box.closest("form");
const area = form.querySelector("#source");
const bar = box.querySelector("[data-file-tabs]");
const list = bar.querySelector("[role=tablist]");
const adder = bar.querySelector("[data-add-file]");
const note = box.querySelector("[data-files-note]");
const takes = box.dataset.takes.split(" ");
const most = Number(box.dataset.most);
let number = 0; // number of the newest tab
let marks = []; // compiler messages about all files

const rows = () => [...box.querySelectorAll("[data-further]")];
const nameOf = (row) => row.querySelector("[name=further_name]");
const textOf = (row) => row.querySelector("[name=further_text]");
const tabs = () => [...list.querySelectorAll("[role=tab]")];
const tabOf = (row) => list.querySelector(`[aria-controls="${row.id}"]`);
const fits = (name) => takes.some((pattern) => new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`).test(name));

const { add: wire, choose } = asTabs(list, (panel) => "further" in panel.dataset && edited(panel));

// edited creates the editor of an additional file, unless it exists.
async function edited(row) {
  const text = textOf(row);
  if ("edited" in text.dataset) return;
  text.dataset.edited = "";
  const { edit } = await import(text.dataset.module);
  edit(text);
  marked(row);
}

const wrongIn = (file) => marks.filter((mark) => (mark.file ?? "") === file && mark.severity === "error").length;

function marked(row) {
  const file = nameOf(row).value.trim();
  named(tabOf(row), file || "no name yet", wrongIn(file), "error");
  textOf(row).dispatchEvent(new CustomEvent("remarks", { detail: marks.filter((mark) => mark.file === file) }));
}

// The main tab shows its number of errors only if there are other tabs.
function markAll() {
  const [main] = tabs();
  named(main, main.dataset.name, rows().length ? wrongIn("") : 0, "error");
  rows().forEach(marked);
}

// add makes a tab for a row, a file that is on the page. Without a row it creates a file.
function add(row, name, text) {
  if (!row) {
    row = box.querySelector("[data-new-file]").content.firstElementChild.cloneNode(true);
    box.insertBefore(row, box.querySelector("[data-new-file]"));
    nameOf(row).value = name;
    textOf(row).value = text;
  }
  number++;
  row.id = `file-${number}`;
  const tab = document.createElement("button");
  Object.assign(tab, { type: "button", id: `tab-file-${number}`, className: "font-mono small" });
  tab.setAttribute("role", "tab");
  tab.setAttribute("aria-controls", row.id);
  row.setAttribute("aria-labelledby", tab.id);
  list.append(tab);
  wire(tab);
  nameOf(row).addEventListener("input", () => (markAll(), check(row)));
  const remove = row.querySelector("[data-remove-file]");
  remove.hidden = false;
  remove.addEventListener("click", () => (drop(row), choose(tabs()[0]), tabs()[0].focus(), keep()));
  named(tab, nameOf(row).value.trim() || "no name yet", 0);
  adder.hidden = rows().length >= most;
  return tab;
}

// check shows a message if the task accepts no file with that name, as the server would.
function check(row) {
  const name = nameOf(row).value.trim();
  const twice = rows().filter((other) => nameOf(other).value.trim() === name).length > 1;
  const why = name && !fits(name) ? `${name}: the task takes ${takes.join(", ")}` : twice ? `Two files are called ${name}` : "";
  nameOf(row).setAttribute("aria-invalid", String(why !== ""));
  note.textContent = why;
}

function drop(row) {
  tabOf(row).remove();
  row.remove();
  adder.hidden = false;
  note.textContent = "";
}

// free returns an unused file name that the task accepts, or "".
function free() {
  const taken = rows().map((row) => nameOf(row).value.trim());
  const [pattern] = takes.filter((name) => name.includes("*"));
  const numbered = pattern ? Array.from({ length: most }, (_, i) => pattern.replaceAll("*", i ? `kernels${i + 1}` : "kernels")) : [];
  return [...takes.filter((name) => !name.includes("*")), ...numbered].find((name) => !taken.includes(name)) ?? "";
}

// Additional files have a separate draft, stored next to that of the main file.
const key = (person) => `draft files ${person}`;
const store = () => ("from" in area.dataset ? sessionStorage : localStorage);
const all = () => JSON.stringify(rows().map((row) => [nameOf(row).value, textOf(row).value]));

function keep() {
  const now = all();
  noteDraft(area);
  stored(() => (now === first ? store().removeItem(key(area.dataset.draft)) : store().setItem(key(area.dataset.draft), now)));
}

function restore(files) {
  rows().forEach(drop);
  for (const [name, text] of files) add(null, name, text);
  choose(tabs()[0]);
}

box.querySelectorAll("[data-without-script]").forEach((part) => part.remove());
bar.hidden = false;
const [main] = tabs();
main.dataset.name = main.textContent;
panelOf(main).setAttribute("aria-labelledby", main.id);
rows().forEach((row) => add(row));
const first = all(); // files as the server sent them
adopt(key(area.dataset.visitorsDraft), key(area.dataset.draft));
const kept = "refused" in area.dataset ? null : stored(() => JSON.parse(store().getItem(key(area.dataset.draft))));
if (kept) {
  restore(kept);
  form.querySelector("[data-kept]").hidden = false;
} else choose(main);

adder.addEventListener("click", () => {
  const tab = add(null, free(), "");
  choose(tab);
  nameOf(panelOf(tab)).select();
  keep();
});
box.addEventListener("input", (event) => event.target.closest("[data-further]") && keep());
form.querySelector("[data-discard]").addEventListener("click", () => (restore(JSON.parse(first)), keep()));

// Compiler messages about all files: first from the page, later from runs on the workbench.
form.addEventListener("files-remarks", ({ detail }) => ((marks = detail), markAll()));
marks = remarksIn(form.querySelectorAll("[data-line]"));
markAll();

// Several chosen files are loaded into tabs. At most one may be the main file; the task must accept the names of the others.
form.addEventListener("files-chosen", async ({ detail }) => {
  const texts = await Promise.all(detail.map(async (file) => [file.name, await file.text()]));
  const others = texts.filter(([name]) => name === main.dataset.name || !fits(name));
  if (others.length > 1) {
    note.textContent = `Which of ${others.map(([name]) => name).join(", ")} is the main one? Choose one, and files that the task takes: ${takes.join(", ")}.`;
    return;
  }
  for (const [name, text] of texts) {
    if (others[0]?.[0] === name) {
      area.value = text;
      area.dispatchEvent(new Event("change"));
      area.dispatchEvent(new Event("input", { bubbles: true }));
      form.querySelector("[name=filename]").value = name;
      continue;
    }
    rows().filter((row) => nameOf(row).value.trim() === name).forEach(drop);
    add(null, name, text);
  }
  choose(main);
  keep();
  markAll();
});
