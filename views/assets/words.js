// Completion from lists: names that a language's package does not know. Each line of a list is a name, what it is, and in
// a few words what it does: "name|type|detail|info".

export const entries = (list) =>
  list.trim().split("\n").map((line) => {
    const [label, type, detail, info] = line.split("|");
    return { label, type, detail: detail || undefined, info: info || undefined };
  });

const mostNames = 2000;

// The names in a text that are long enough to be worth completing.
function names(text, known) {
  for (const [name] of text.matchAll(/[A-Za-z_]\w{2,}/g)) {
    if (known.size >= mostNames) return;
    known.add(name);
  }
}

// What the page shows of the task beside the editor: its reference, and other files that are being written.
function beside(area) {
  const texts = [...document.querySelectorAll(".source .line")].slice(0, 5000).map((line) => line.textContent);
  for (const other of area.form.querySelectorAll("textarea[name=text], textarea[name=further_text]")) if (other !== area) texts.push(other.value);
  return texts.join("\n");
}

// source completes from the lists, the names of the task, and the names in the texts beside the editor; own adds those of
// the text itself, where the language's package has none.
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
