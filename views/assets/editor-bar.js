// The bar above an editor: the cursor's position, the key bindings, the font size, and the text to compare with. The browser
// stores key bindings and font size for all editors.
import { Compartment } from "@codemirror/state";
import { openSearchPanel } from "@codemirror/search";
import { EditorView, showPanel } from "@codemirror/view";
import { stored } from "./drafts.js";

const schemes = { standard: "Standard", vscode: "VS Code", vim: "Vim" };
const sizes = [11, 12, 13, 14, 16, 18, 20];

const settings = () => ({ keys: "standard", size: 13, ...stored(() => JSON.parse(localStorage.getItem("editor"))) });

function change(part) {
  stored(() => localStorage.setItem("editor", JSON.stringify({ ...settings(), ...part })));
  document.dispatchEvent(new CustomEvent("editor-settings", { detail: { ...settings(), ...part } }));
}

async function keysOf(scheme) {
  if (scheme === "vim") return (await import("./editor-vim.js")).keys();
  if (scheme === "vscode") return (await import("./editor-vscode.js")).keys();
  return [];
}

function choice(label, options, chosen, choose) {
  const box = document.createElement("label");
  const select = document.createElement("select");
  for (const [value, text] of options) select.add(new Option(text, value, false, value === String(chosen)));
  select.addEventListener("change", () => choose(select.value, select));
  box.append(label, select);
  return box;
}

// textOf fetches the submission that a person chose for the comparison: their last or their best.
async function textOf(versions, which) {
  const list = new DOMParser().parseFromString(await (await fetch(versions, { headers: { "HX-Request": "true" } })).text(), "text/html");
  const link = list.querySelector(`[data-version="${which}"]`);
  if (!link) throw new Error("There is nothing to compare with yet.");
  const answer = await fetch(link.getAttribute("href"));
  if (!answer.ok) throw new Error("The server does not give the source. Try again.");
  return (await answer.json()).text;
}

function report(select, text) {
  select.setCustomValidity(text);
  select.reportValidity();
  select.setCustomValidity(""); // a field with a message would prevent sending the form
}

export function bar(area) {
  const [keys, size, diff] = [new Compartment(), new Compartment(), new Compartment()];
  const sized = ({ size: letters }) => EditorView.theme({ "& .cm-scroller": { fontSize: `${letters}px` } });

  async function compare(view, which, select) {
    let text;
    try {
      if (which) text = await textOf(area.dataset.versions, which);
    } catch (error) {
      report(select, error.message);
      select.value = "";
    }
    view.dispatch({ effects: diff.reconfigure([]) }); // otherwise the comparison would keep its first text
    if (text === undefined) return;
    const { against } = await import("./editor-diff.js");
    view.dispatch({ effects: diff.reconfigure(against(text, text === view.state.doc.toString())) });
    if (text === view.state.doc.toString()) report(select, "The two texts are equal.");
  }

  function panel(view) {
    const dom = document.createElement("div");
    dom.className = "cm-bar";
    const place = document.createElement("span");
    const find = document.createElement("button");
    Object.assign(find, { type: "button", className: "link", textContent: "Find" });
    find.addEventListener("click", () => openSearchPanel(view));
    const kept = settings();
    const scheme = choice("Keys", Object.entries(schemes), kept.keys, (keys) => change({ keys }));
    const letters = choice("Size", sizes.map((n) => [String(n), `${n} px`]), kept.size, (n) => change({ size: Number(n) }));
    dom.append(place, find, scheme, letters);
    if (area.dataset.versions) {
      dom.append(choice("Compare with", [["", "nothing"], ["previous", "last submission"], ["best", "best submission"]], "", (which, select) => compare(view, which, select)));
    }
    const at = ({ state }) => {
      const { head } = state.selection.main;
      const line = state.doc.lineAt(head);
      place.textContent = `Line ${line.number}, column ${head - line.from + 1}`;
    };
    at(view);
    const changed = async ({ detail }) => {
      scheme.querySelector("select").value = detail.keys;
      letters.querySelector("select").value = detail.size;
      view.dispatch({ effects: [keys.reconfigure(await keysOf(detail.keys)), size.reconfigure(sized(detail))] });
    };
    document.addEventListener("editor-settings", changed);
    if (kept.keys !== "standard") keysOf(kept.keys).then((found) => view.dispatch({ effects: keys.reconfigure(found) }));
    return { dom, top: true, update: at, destroy: () => document.removeEventListener("editor-settings", changed) };
  }
  return { keys: keys.of([]), rest: [size.of(sized(settings())), diff.of([]), showPanel.of(panel)] };
}
