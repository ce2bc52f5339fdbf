// Writing a task: its files as tabs with an editor each, and what the server would refuse of them while one types. Without
// this each file is a folded box, and "Try it" says what is wrong.
import { named, tabs } from "./tabs.js";

const form = document.querySelector("[data-files]");
const strip = form.querySelector("[data-file-tabs]");
const said = form.querySelector("[data-checked]");
const list = strip.querySelector("[role=tablist]");
const row = tabs(list);
const files = [];
const pause = 500; // ms after the last letter

// A box of a file becomes a panel and its tab. What is in it stays the form's.
function open(box) {
  const number = files.length;
  const pane = document.createElement("div");
  pane.id = `file-${number}`;
  pane.className = "file-pane";
  pane.append(box.querySelector("summary + div"));
  pane.firstElementChild.classList.remove("px-5", "pb-5"); // they are the box's
  const [path, area] = [pane.querySelector("input"), pane.querySelector("textarea")];
  for (const [field, name] of [[path, "path"], [area, "text"]]) {
    pane.querySelector(`label[for^=${name}]`).htmlFor = field.id = `${name}-${number}`;
  }
  const tab = document.createElement("button");
  Object.assign(tab, { type: "button", id: `file-tab-${number}`, role: "tab" });
  tab.setAttribute("aria-controls", pane.id);
  pane.setAttribute("aria-labelledby", tab.id);
  list.append(tab);
  const file = { tab, pane, path, area, remarks: [] };
  files.push(file);
  return file;
}

// The editor is fetched when a file is seen first.
function watch(file) {
  const seen = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    const { edit } = await import(file.area.dataset.module);
    edit(file.area);
  });
  file.area.addEventListener("editor", ({ detail }) => {
    file.view = detail;
    marked(file);
    if (file.line) goTo(file, file.line);
  });
  seen.observe(file.area);
  file.path.addEventListener("input", () => titled(file));
  titled(file);
}

// A tab says its file's name and how many of its problems are known.
function titled(file) {
  const name = file.path.value.trim() || "Without a path";
  file.area.setAttribute("aria-label", `Text of ${name}`);
  named(file.tab, name, file.remarks.filter((remark) => !remark.note).length, "problem");
}

function marked(file) {
  const marks = file.remarks.filter(({ line }) => line).map(({ line, note, text }) => ({ at: line, severity: note ? "warning" : "error", message: text }));
  file.area.dispatchEvent(new CustomEvent("remarks", { detail: marks }));
}

function goTo(file, line) {
  row.choose(file.tab);
  file.line = line; // the editor may not be there yet
  if (!file.view) return file.area.focus();
  const { doc } = file.view.state;
  if (line) file.view.dispatch({ selection: { anchor: doc.line(Math.min(line, doc.lines)).from }, scrollIntoView: true });
  file.view.focus();
}

const counted = (n, one, many) => `${n} ${n === 1 ? one : many}`;

// What a check found, as a sentence that is announced, a list that leads to each place, and marks at tabs and lines.
function show(remarks) {
  const notes = remarks.filter((remark) => remark.note).length;
  const wrong = remarks.length - notes;
  const parts = [wrong ? counted(wrong, "problem", "problems") : "No problems"];
  if (notes) parts.push(counted(notes, "note", "notes"));
  say(`${parts.join(" and ")} in these files.`, wrong > 0);
  const items = said.querySelector("ul");
  items.hidden = !remarks.length;
  items.replaceChildren(...remarks.map(item));
  for (const file of files) {
    file.remarks = remarks.filter((remark) => remark.file && remark.file === file.path.value.trim());
    titled(file);
    marked(file);
  }
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

function say(sentence, bad) {
  const status = said.querySelector("p");
  said.hidden = false;
  said.classList.toggle("callout-fail", bad);
  if (status.textContent !== sentence) status.textContent = sentence;
}

let timer, asked;

function later(wait) {
  clearTimeout(timer);
  timer = setTimeout(check, wait);
}

// A newer question makes the answer to an older one worthless.
async function check() {
  asked?.abort();
  asked = new AbortController();
  try {
    const answer = await fetch(form.dataset.check, { method: "POST", body: new FormData(form), signal: asked.signal });
    if (answer.status === 429) return later(1000 * (Number(answer.headers.get("Retry-After")) || 5));
    if (answer.ok) return show((await answer.json()).remarks);
    say(answer.status === 413 ? "These files are too large to be checked while you type; “Try it” checks them." : "The check failed; “Try it” says what is wrong.", false);
  } catch (error) {
    if (error.name !== "AbortError") say("The server does not answer: what stands here may be old.", false);
  }
}

const boxes = [...form.querySelectorAll("[data-file]")];
const blank = boxes.pop(); // to be copied for each file that is added
const panes = document.createElement("div");
strip.after(panes);
panes.after(said);
for (const box of boxes) {
  panes.append(open(box).pane);
  box.remove();
}
blank.remove();
for (const file of files) row.add(file.tab), watch(file);
row.choose(files[0].tab);
strip.hidden = false;

strip.querySelector("[data-add-file]").addEventListener("click", () => {
  const file = open(blank.cloneNode(true));
  panes.append(file.pane);
  row.add(file.tab);
  watch(file);
  row.choose(file.tab);
  file.path.focus();
});
form.addEventListener("input", () => later(pause));
check();
