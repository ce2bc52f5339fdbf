// The page for writing a task: a tree of its files with an editor for each, and beside them the problems that the server finds
// while a person types, and a preview. Without this script each file is in a folded box, and buttons check, preview, and save.
import { ask, waitOf, whyNot } from "./asking.js";
import { stored } from "./drafts.js";
import { preview } from "./preview.js";
import { named, tabs } from "./tabs.js";
import { tree } from "./tree.js";

const form = document.querySelector("[data-files]");
const panes = form.querySelector("[data-panes]");
const nav = form.querySelector("[data-tree]");
const said = form.querySelector("[data-checked]");
const previewed = form.querySelector("[data-previewed]");
const files = [];
const pause = 500; // ms after the last input, until the check

// open turns a file's folded box into a pane and a row of the tree. Its fields stay in the form.
let made = 0;
function open(box) {
  const number = made++;
  const pane = document.createElement("div");
  pane.className = "file-pane";
  pane.append(...box.querySelector("summary + div").children);
  const [path, area, remove] = [pane.querySelector("input"), pane.querySelector("textarea"), pane.querySelector("[data-delete-file]")];
  for (const [field, name] of [[path, "path"], [area, "text"]]) {
    pane.querySelector(`label[for^=${name}]`).htmlFor = field.id = `${name}-${number}`;
  }
  const button = document.createElement("button");
  button.type = "button";
  remove.hidden = false;
  const file = { button, pane, path, area, remarks: [] };
  remove.addEventListener("click", () => drop(file));
  files.push(file);
  panes.append(pane);
  return file;
}

// watch loads the editor when the file's pane first comes into view.
function watch(file) {
  const seen = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    const { edit } = await import(file.area.dataset.module);
    edit(file.area);
  }, { rootMargin: "400px" });
  file.area.addEventListener("editor", ({ detail }) => {
    file.view = detail;
    marked(file);
    if (file.line) goTo(file, file.line);
  });
  seen.observe(file.area);
  file.path.addEventListener("input", () => (titled(file), shown.draw(files)));
  titled(file);
}

// titled sets the label of a file's row in the tree: the file's name and the number of its problems.
function titled(file) {
  const path = file.path.value.trim();
  file.area.setAttribute("aria-label", `Text of ${path || "a file without a path"}`);
  file.button.title = path;
  named(file.button, path.split("/").at(-1) || "Without a path", file.remarks.filter((remark) => !remark.note).length, "problem");
}

function choose(file) {
  for (const { pane } of files) pane.hidden = pane !== file.pane;
  shown.chosen(file.button);
}

// drop removes a file, and adds a button that restores it as long as the page is open.
function drop(file) {
  const at = files.indexOf(file);
  files.splice(at, 1);
  file.pane.remove();
  shown.draw(files);
  if (files.length) choose(files[Math.max(at - 1, 0)]);
  const back = document.createElement("button");
  Object.assign(back, { type: "button", className: "link small", textContent: `Bring back ${file.path.value.trim() || "the deleted file"}` });
  back.addEventListener("click", () => {
    back.remove();
    files.splice(at, 0, file);
    panes.append(file.pane);
    shown.draw(files);
    choose(file);
    changed(0);
  });
  nav.append(back);
  changed(0);
}

function marked(file) {
  const marks = file.remarks.filter(({ line }) => line).map(({ line, note, text }) => ({ at: line, severity: note ? "warning" : "error", message: text }));
  file.area.dispatchEvent(new CustomEvent("remarks", { detail: marks }));
}

function goTo(file, line) {
  choose(file);
  file.line = line; // kept for the editor, if it is not loaded yet
  if (!file.view) return file.area.focus();
  const { doc } = file.view.state;
  if (line) file.view.dispatch({ selection: { anchor: doc.line(Math.min(line, doc.lines)).from }, scrollIntoView: true });
  file.view.focus();
  file.line = 0;
}

const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;

// show shows the result of a check: a sentence for screen readers, a list with links, and marks at files and lines.
function show(remarks) {
  const notes = remarks.filter((remark) => remark.note).length;
  const wrong = remarks.length - notes;
  const parts = [wrong ? counted(wrong, "problem", "problems") : "No problems"];
  if (notes) parts.push(counted(notes, "note", "notes"));
  say(`${parts.join(" and ")} in these files.`, wrong ? "fail" : "");
  const inOrder = remarks.toSorted((a, b) => (a.file || "").localeCompare(b.file || "") || (a.line || 0) - (b.line || 0));
  said.querySelector("ul").replaceChildren(...inOrder.map(item));
  named(document.getElementById("tab-problems"), "Problems", wrong, "problem");
  for (const file of files) {
    file.remarks = remarks.filter((remark) => remark.file && remark.file === file.path.value.trim());
    titled(file);
    marked(file);
  }
  return wrong;
}

function item(remark) {
  const entry = document.createElement("li");
  const file = files.find(({ path }) => path.value.trim() === remark.file);
  if (remark.file) {
    const place = document.createElement(file ? "button" : "strong");
    place.textContent = remark.line ? `${remark.file}, line ${remark.line}` : remark.file;
    if (file) Object.assign(place, { type: "button", className: "link", onclick: () => goTo(file, remark.line) });
    entry.append(place, ": ");
  }
  entry.append(remark.text);
  return entry;
}

function say(sentence, kind) {
  const status = said.querySelector("p");
  for (const one of ["fail", "warn"]) status.classList.toggle(`callout-${one}`, one === kind);
  if (status.textContent !== sentence) status.textContent = sentence;
}

let timer, asked;
let failed = false; // the last check did not run

function later(wait) {
  clearTimeout(timer);
  timer = setTimeout(check, wait);
}

// check sends the files to the server. It cancels an earlier check that has no answer yet.
async function check() {
  clearTimeout(timer);
  asked?.abort();
  asked = new AbortController();
  try {
    const answer = await ask(form, form.dataset.check, asked.signal);
    failed = !answer.ok;
    if (failed) return refused(answer.status, waitOf(answer));
    const found = await answer.json();
    if (form.elements.slug) form.elements.slug.placeholder = found.derived;
    if (!show(found.remarks) && !previewed.hidden) look();
  } catch (error) {
    if (error.name === "AbortError") return;
    failed = true;
    refused(0);
  }
}

function refused(status, wait) {
  say(whyNot("The check", status, wait), "warn");
  if (status === 429) later(1000 * wait);
  else if (!previewed.hidden) look();
}

// The browser stores changes as a draft until they are saved. If the site's files have changed since, the draft is only offered.
const draftKey = `draft task ${form.dataset.taskDraft}`;
const notes = { restored: document.querySelector("[data-draft-restored]"), offered: document.querySelector("[data-draft-offered]") };
const fields = ["title", "slug"]; // a page may lack one of them
const typed = () => JSON.stringify([fields.map((name) => form.elements[name]?.value ?? ""), files.map(({ path, area }) => [path.value, area.value])]);
let served; // the files as the site has them
let sending = false;

const unsaved = () => "refused" in form.dataset || typed() !== served;

function keep() {
  const now = typed();
  form.querySelector("[data-unsaved]").hidden = !unsaved();
  stored(() => (now === served ? localStorage.removeItem(draftKey) : localStorage.setItem(draftKey, JSON.stringify({ of: served, now }))));
}

function changed(wait) {
  keep();
  later(wait);
}

// fill replaces all files by those in text, a draft.
function fill(text) {
  const [values, list] = JSON.parse(text);
  fields.forEach((name, i) => form.elements[name] && (form.elements[name].value = values[i] ?? ""));
  const lang = (path) => files.find((file) => file.path.value.split(".").at(-1) === path.split(".").at(-1))?.area.dataset.lang ?? "text";
  const filled = list.map(([path, text]) => {
    const box = blank.cloneNode(true);
    const [name, area] = [box.querySelector("input"), box.querySelector("textarea")];
    [name.value, area.value, area.dataset.lang] = [path, text, lang(path)];
    return box;
  });
  files.splice(0).forEach(({ pane }) => pane.remove());
  filled.forEach((box) => watch(open(box)));
  shown.draw(files);
  choose(files[0]);
}

function restore() {
  served = typed();
  const draft = "refused" in form.dataset ? null : stored(() => JSON.parse(localStorage.getItem(draftKey)));
  const note = draft && draft.now !== served ? notes[draft.of === served ? "restored" : "offered"] : null;
  if (note) note.hidden = false;
  if (note === notes.restored) fill(draft.now);
  if (note !== notes.offered) keep();
  for (const button of document.querySelectorAll("[data-draft-fill]")) {
    button.addEventListener("click", () => {
      button.closest("[role=status]").hidden = true;
      fill(button.dataset.draftFill === "draft" ? draft.now : served);
      changed(0);
    });
  }
}

const shown = tree(nav.querySelector("ul"), (button) => choose(files.find((file) => file.button === button)));
form.querySelectorAll("[data-without-script]").forEach((part) => part.remove());
const boxes = [...form.querySelectorAll("[data-file]")];
const blank = boxes.pop(); // template for added files
for (const box of boxes) {
  open(box);
  box.remove();
}
blank.remove();
files.forEach(watch);
shown.draw(files);
choose(files[0]);
nav.hidden = false;
restore();

const side = form.querySelector("[data-side-tabs]");
side.hidden = false;
const look = preview(previewed, form);
const sides = tabs(side, (pane) => pane === previewed && look());
sides.choose(document.getElementById("tab-problems"));

nav.querySelector("[data-add-file]").addEventListener("click", () => {
  const file = open(blank.cloneNode(true));
  watch(file);
  shown.draw(files);
  choose(file);
  file.path.focus();
});
form.addEventListener("input", () => changed(pause));
form.addEventListener("submit", () => {
  sending = true; // no warning about unsaved changes: they are being saved
  stored(() => unsaved() && localStorage.setItem(draftKey, JSON.stringify({ of: "", now: typed() })));
  stored(() => sessionStorage.setItem("sent task", draftKey));
});
addEventListener("pageshow", () => (sending = false));
addEventListener("beforeunload", (event) => !sending && unsaved() && event.preventDefault());
addEventListener("focus", () => failed && check()); // the person may have signed in in another tab
check();
