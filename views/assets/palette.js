// Actions of the keyboard shortcuts in site.js: Ctrl+K searches for pages by name; on a board, j and k move down and up, and c
// marks an entry, or compares it with the marked one.

const root = document.documentElement.dataset.root; // path of the site: "/", or "/path/"
let dialog;

// palette opens or closes the search. The focus stays in the search field; screen readers announce the selected result.
export function palette() {
  dialog ??= make();
  if (dialog.open) return dialog.close();
  dialog.showModal();
  const field = dialog.querySelector("input");
  field.select();
  find(field.value);
}

function make() {
  const made = document.createElement("dialog");
  made.className = "palette";
  made.setAttribute("aria-label", "Go to");
  made.innerHTML = `<input class="input" type="search" role="combobox" aria-expanded="true" aria-controls="palette-list" aria-autocomplete="list"
    aria-label="Search" placeholder="Task, board, person, #57, page, docs" autocomplete="off" spellcheck="false" maxlength="100">
    <ul id="palette-list" role="listbox" aria-label="Results"></ul><p class="palette-said" role="status"></p>`;
  const field = made.querySelector("input");
  let waits;
  field.addEventListener("input", () => (clearTimeout(waits), (waits = setTimeout(() => find(field.value), 120))));
  field.addEventListener("keydown", keys);
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}

let asked = 0; // number of the newest request; older answers are dropped

async function find(text) {
  const number = ++asked;
  const answer = await fetch(`${root}find?q=${encodeURIComponent(text)}`).catch(() => null);
  if (number !== asked) return;
  const places = answer?.ok ? await answer.json() : null;
  dialog.querySelector("ul").replaceChildren(...(places ?? []).map(option));
  const said = dialog.querySelector("[role=status]");
  said.textContent = places ? `${places.length} ${places.length === 1 ? "result" : "results"}` : "The site does not answer. Try again.";
  if (places?.length === 0) said.textContent = `Nothing found for “${text.trim()}”. Search for a task, a board, a person, a page, a heading of the docs, or a submission by its number, as #57.`;
  said.classList.toggle("sr-only", places?.length > 0);
  choose(0);
}

function option({ kind, title, note, url }, i) {
  const item = document.createElement("li");
  item.id = `place-${i}`;
  item.setAttribute("role", "option");
  item.dataset.url = url;
  for (const [name, text] of [["kind", kind], ["title", title], ["note", note ?? ""]]) {
    const part = document.createElement("span");
    part.className = `palette-${name}`;
    part.textContent = text;
    item.append(part);
  }
  item.addEventListener("click", () => (location.href = url));
  return item;
}

function choose(at) {
  const all = [...dialog.querySelectorAll("[role=option]")];
  const chosen = all[(at + all.length) % all.length];
  for (const item of all) item.setAttribute("aria-selected", String(item === chosen));
  chosen?.scrollIntoView({ block: "nearest" });
  dialog.querySelector("input").setAttribute("aria-activedescendant", chosen?.id ?? "");
}

function keys(event) {
  const all = [...dialog.querySelectorAll("[role=option]")];
  const at = all.findIndex((item) => item.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) choose(at + step);
  else if (event.key === "Enter" && all[at]) location.href = all[at].dataset.url;
  else if (event.key === "Escape") dialog.close(); // by default Escape only clears a search field
  else return;
  event.preventDefault();
}

let keyList;

// shortcuts opens or closes the list of the page's keyboard shortcuts.
export function shortcuts(keys) {
  if (keyList?.open) return keyList.close();
  keyList?.remove(); // the page's buttons may have changed
  keyList = makeKeys(keys);
  keyList.showModal();
}

function makeKeys(keys) {
  const made = document.createElement("dialog");
  made.className = "palette";
  made.setAttribute("aria-labelledby", "keys-title");
  made.innerHTML = `<h2 id="keys-title">Keyboard shortcuts</h2><dl class="facts mt-3"></dl>`;
  for (const { key, does } of keys) {
    const [term, detail, name] = ["dt", "dd", "kbd"].map((tag) => document.createElement(tag));
    name.textContent = key.replace("Control", "Ctrl");
    term.append(name);
    detail.textContent = does;
    made.querySelector("dl").append(term, detail);
  }
  made.addEventListener("click", (event) => event.target === made && made.close());
  document.body.append(made);
  return made;
}

let marked; // run of the marked entry

export function row(key) {
  const rows = [...document.querySelectorAll("#board tbody tr[data-entry]")];
  const at = rows.indexOf(document.activeElement.closest("#board tr"));
  if (key !== "c") {
    const next = rows[at < 0 ? 0 : Math.min(Math.max(at + (key === "j" ? 1 : -1), 0), rows.length - 1)];
    return next?.querySelector("td.r a")?.focus();
  }
  const run = rows[at]?.dataset.entry;
  if (!run || run === marked) marked = undefined;
  else if (marked) location.href = `${root}compare?a=${marked}&b=${run}`;
  else marked = run;
  const status = document.querySelector("#connection");
  if (status) status.textContent = marked ? "Marked. Press c on another entry to compare the two." : "";
  for (const entry of rows) entry.toggleAttribute("data-marked", entry.dataset.entry === marked);
}
