// Turns a text area into a code editor; the text area stays the form's field. Languages, keys and comparisons are fetched
// when they are needed.
import { Compartment } from "@codemirror/state";
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, setDiagnostics } from "@codemirror/lint";
import { keymap } from "@codemirror/view";
import { indentWithTab, isolateHistory } from "@codemirror/commands";
import { classHighlighter } from "@lezer/highlight";
import { EditorView, basicSetup } from "codemirror";
import { bar } from "./editor-bar.js";
import look from "./editor.css";
import { remarksIn } from "./remarks.js";

// The same as marks in the editor; they move with what is typed.
function mark(view, said) {
  const { doc } = view.state;
  const marks = said.filter(({ at }) => at <= doc.lines).map(({ at, ...mark }) => ({ from: doc.line(at).from, to: doc.line(at).to, ...mark }));
  view.dispatch(setDiagnostics(view.state, marks));
}

// The one part in which two texts differ, so that the cursor and the marks elsewhere stay.
function difference(old, text) {
  let from = 0;
  const most = Math.min(old.length, text.length);
  while (from < most && old[from] === text[from]) from++;
  let same = 0;
  while (same < most - from && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
  return { from, to: old.length - same, insert: text.slice(from, text.length - same) };
}

const languages = { py: () => import("./editor-python.js"), yaml: () => import("./editor-yaml.js"), text: null };
const wrapped = ["yaml", "text"]; // prose has long lines; code keeps its own

// Pages without an editor do not carry its style.
function dress(nonce) {
  if (document.getElementById("editor-style")) return;
  const style = document.createElement("style");
  Object.assign(style, { id: "editor-style", nonce, textContent: look });
  document.head.append(style);
}

export function edit(area) {
  dress(area.dataset.nonce);
  const language = new Compartment();
  const line = bar(area);
  const form = area.form;
  const submit = (key) => () => {
    form.querySelector(`[data-key="${key}"]`)?.click();
    return true;
  };
  const view = new EditorView({
    doc: area.value,
    extensions: [
      // Before basicSetup, so that Mod-Enter submits; Escape then Tab leaves the editor by keyboard.
      keymap.of([{ key: "Mod-Enter", run: submit("enter"), shift: submit("shift-enter") }]),
      line.keys, // Vim's go before the editor's
      keymap.of([indentWithTab]),
      basicSetup,
      lintGutter(),
      language.of([]),
      wrapped.includes(area.dataset.lang) ? EditorView.lineWrapping : [],
      line.rest,
      indentUnit.of("    "),
      syntaxHighlighting(classHighlighter),
      EditorView.cspNonce.of(area.dataset.nonce),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": area.getAttribute("aria-label") }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        area.value = update.state.doc.toString();
        area.dispatchEvent(new Event("input", { bubbles: true }));
      }),
    ],
  });
  const known = languages[area.dataset.lang];
  const fetched = known === undefined ? import("./editor-cpp.js") : known?.();
  fetched?.then((found) => view.dispatch({ effects: language.reconfigure(found.language(area)) }));
  const main = area.name === "source"; // others are a submission's further files
  if (main) mark(view, remarksIn(form.querySelectorAll("[data-line]:not([data-file]), [data-line][data-file='']")));
  // A step of its own: an undo of what was typed next must not take it back.
  const fill = (text) => view.dispatch({ changes: difference(view.state.doc.toString(), text), annotations: isolateHistory.of("full") });
  area.hidden = true;
  area.after(view.dom);
  area.labels.forEach((label) => label.addEventListener("click", () => view.focus()));
  // The text area behind the editor was changed.
  area.addEventListener("change", () => area.value !== view.state.doc.toString() && fill(area.value));
  form.querySelectorAll("[data-keys]").forEach((hint) => (hint.hidden = false));
  area.addEventListener("remarks", (event) => mark(view, event.detail));
  area.dispatchEvent(new CustomEvent("editor", { bubbles: true, detail: view }));

  // A chosen file fills the editor, so that it can be read and changed before it is sent: what is
  // sent is then the text, under the file's name, and no longer the file.
  const input = main && form.querySelector("input[type=file][data-into-editor]");
  if (!input) return;
  const name = form.querySelector("input[name=filename]");
  const note = form.querySelector("[data-file-note]");
  if (note) note.textContent = input.multiple ? "They go into the editor, where they can still be changed; a zip is sent as it is." : "It goes into the editor, where it can still be changed.";
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    if (file.name.toLowerCase().endsWith(".zip")) {
      if (note) note.textContent = `${file.name} is sent instead of what is in the editor.`;
      return;
    }
    if (form.querySelector("[data-files]")) {
      form.dispatchEvent(new CustomEvent("files-chosen", { detail: [...input.files] }));
      if (note) note.textContent = "In the editor now.";
      input.value = "";
      return;
    }
    fill(await file.text());
    input.value = "";
    if (name) name.value = file.name;
    if (note) note.textContent = `${file.name} is in the editor now.`;
  });
}
