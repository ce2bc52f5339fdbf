// Turns a text area into a code editor. The text area stays the form's field. Languages, key bindings, and comparisons are
// loaded when they are needed.
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

// mark shows remarks as marks in the editor, which move with the text.
function mark(view, said) {
  const { doc } = view.state;
  const marks = said.filter(({ at }) => at <= doc.lines).map(({ at, ...mark }) => ({ from: doc.line(at).from, to: doc.line(at).to, ...mark }));
  view.dispatch(setDiagnostics(view.state, marks));
}

// difference returns the smallest change from old to text, so that the cursor and marks outside it stay.
function difference(old, text) {
  let from = 0;
  const most = Math.min(old.length, text.length);
  while (from < most && old[from] === text[from]) from++;
  let same = 0;
  while (same < most - from && old[old.length - 1 - same] === text[text.length - 1 - same]) same++;
  return { from, to: old.length - same, insert: text.slice(from, text.length - same) };
}

const languages = { py: () => import("./editor-python.js"), yaml: () => import("./editor-yaml.js"), text: null };
const wrapped = ["yaml", "text"]; // only prose is wrapped

// dress adds the editor's styles to the page, which has them only with an editor.
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
      line.keys, // before basicSetup, so that Vim's bindings take precedence
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
  const main = area.name === "source"; // otherwise an additional file
  if (main) mark(view, remarksIn(form.querySelectorAll("[data-line]:not([data-file]), [data-line][data-file='']")));
  // A separate step for undo: undoing later input must not undo it, too.
  const fill = (text) => view.dispatch({ changes: difference(view.state.doc.toString(), text), annotations: isolateHistory.of("full") });
  area.hidden = true;
  area.after(view.dom);
  area.labels.forEach((label) => label.addEventListener("click", () => view.focus()));
  // A script has changed the text area.
  area.addEventListener("change", () => area.value !== view.state.doc.toString() && fill(area.value));
  form.querySelectorAll("[data-keys]").forEach((hint) => (hint.hidden = false));
  area.addEventListener("remarks", (event) => mark(view, event.detail));
  area.dispatchEvent(new CustomEvent("editor", { bubbles: true, detail: view }));

  // A chosen file is loaded into the editor, so that the person can read and change it. The form then sends the text with
  // the file's name instead of the file.
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
