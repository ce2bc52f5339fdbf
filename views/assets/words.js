// Completion of names that CodeMirror's language packages do not know. Each line of a list has the form "name|type|detail|info".

export const entries = (list) =>
  list.trim().split("\n").map((line) => {
    const [label, type, detail, info] = line.split("|");
    return { label, type, detail: detail || undefined, info: info || undefined };
  });

const mostNames = 2000;

// names adds the names in a text with at least three letters to known.
function names(text, known) {
  for (const [name] of text.matchAll(/[A-Za-z_]\w{2,}/g)) {
    if (known.size >= mostNames) return;
    known.add(name);
  }
}

// beside returns the other texts on the page: the task's reference, and other files in editors.
function beside(area) {
  const texts = [...document.querySelectorAll(".source .line")].slice(0, 5000).map((line) => line.textContent);
  for (const other of area.form.querySelectorAll("textarea[name=text], textarea[name=further_text]")) if (other !== area) texts.push(other.value);
  return texts.join("\n");
}

// source returns a completion source with the names of the list, of the task, and of other texts on the page. own adds those of
// the edited text, for languages whose package does not complete them.
export function source(area, list, own) {
  const listed = new Set(list.map(({ label }) => label));
  return (context) => {
    const before = context.matchBefore(/[A-Za-z_][\w.]*(?:::\w*)*/);
    if (!before && !context.explicit) return null;
    const from = before?.from ?? context.pos;
    const task = (area.dataset.words ?? "").split(" ").filter((name) => name && !listed.has(name));
    const known = new Set();
    names(beside(area), known);
    if (own) {
      const text = context.state.doc.toString();
      names(`${text.slice(Math.max(0, from - 100_000), from)} ${text.slice(context.pos, context.pos + 100_000)}`, known);
    }
    const found = [...known].filter((name) => !listed.has(name) && !task.includes(name));
    return {
      from,
      options: [...list, ...task.map((label) => ({ label, type: "type", detail: "of the task", boost: 1 })), ...found.map((label) => ({ label, type: "text", boost: -1 }))],
      validFor: /^[\w.:]*$/,
    };
  };
}
