// Writing a task: its files as a tree with an editor each, and beside them what the server would refuse of them while one
// types, and the page that they make. Without this each file is a folded box, and buttons check, preview and save.
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
const pause = 500; // ms after the last letter

// A box of a file becomes a pane and a line of the tree. What is in it stays the form's.
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

// The editor is fetched when a file is seen first.
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

// A line of the tree says its file's name and how many of its problems are known.
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

// A deleted file can be brought back until the page is left.
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
  file.line = line; // the editor may not be there yet
  if (!file.view) return file.area.focus();
  const { doc } = file.view.state;
  if (line) file.view.dispatch({ selection: { anchor: doc.line(Math.min(line, doc.lines)).from }, scrollIntoView: true });
  file.view.focus();
  file.line = 0;
}

const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;

// What a check found, as a sentence that is announced, a list that leads to each place, and marks at files and lines.
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

// A newer question makes the answer to an older one worthless.
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

// What is typed stays in this browser until it is saved. A draft of other files than those that the site has now is offered, not shown.
const draftKey = `draft task ${form.dataset.taskDraft}`;
const notes = { restored: document.querySelector("[data-draft-restored]"), offered: document.querySelector("[data-draft-offered]") };
const fields = ["title", "slug"]; // each where the page has it
const typed = () => JSON.stringify([fields.map((name) => form.elements[name]?.value ?? ""), files.map(({ path, area }) => [path.value, area.value])]);
let served; // what the site has
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

// fill shows other files in place of all.
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
const blank = boxes.pop(); // to be copied for each file that is added
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
  sending = true; // what is sent from here on is the site's, unless it does not arrive
  stored(() => unsaved() && localStorage.setItem(draftKey, JSON.stringify({ of: "", now: typed() })));
  stored(() => sessionStorage.setItem("sent task", draftKey));
});
addEventListener("pageshow", () => (sending = false));
addEventListener("beforeunload", (event) => !sending && unsaved() && event.preventDefault());
addEventListener("focus", () => failed && check()); // one comes back from another tab, where one signed in
check();
