// Turns a text area into a code editor; the text area stays the form's field.
import { cpp } from "@codemirror/lang-cpp";
import { python } from "@codemirror/lang-python";
import { indentUnit, syntaxHighlighting } from "@codemirror/language";
import { keymap } from "@codemirror/view";
import { indentWithTab } from "@codemirror/commands";
import { classHighlighter } from "@lezer/highlight";
import { EditorView, basicSetup } from "codemirror";

export function edit(area) {
  const form = area.form;
  const submit = () => (form.requestSubmit(), true);
  const view = new EditorView({
    doc: area.value,
    extensions: [
      // Before basicSetup, so that Mod-Enter submits; Escape then Tab leaves the editor by keyboard.
      keymap.of([{ key: "Mod-Enter", run: submit }, indentWithTab]),
      basicSetup,
      area.dataset.lang === "py" ? python() : cpp(),
      indentUnit.of("    "),
      syntaxHighlighting(classHighlighter),
      EditorView.cspNonce.of(area.dataset.nonce),
      EditorView.contentAttributes.of({ "aria-label": area.getAttribute("aria-label") }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) area.value = update.state.doc.toString();
      }),
    ],
  });
  area.hidden = true;
  area.after(view.dom);
  area.dispatchEvent(new CustomEvent("editor", { bubbles: true, detail: view }));

  // A chosen file fills the editor, so that it can be read and changed before it is sent.
  form.querySelector("input[type=file][data-into-editor]")?.addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (!file) return;
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: await file.text() } });
  });
}
