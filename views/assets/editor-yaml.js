import { yaml, yamlLanguage } from "@codemirror/lang-yaml";

// keys returns the keys of task.yml. The page lists them with their meaning, and with their values if there are only a few.
function keys() {
  return [...document.querySelectorAll("[data-task-keys] [data-key-name]")].map((item) => ({
    path: item.dataset.keyName,
    detail: item.dataset.required ? "required" : item.dataset.default,
    info: item.textContent,
    values: item.dataset.values?.split(" ").filter(Boolean) ?? [],
  }));
}

// above returns the parent key of a line, such as "roofline" or "files[]"; empty at the top level.
function above(state, number, indent) {
  let list = false;
  for (let n = number; n > 0; n--) {
    const { text } = state.doc.line(n);
    const [, space, dash] = /^(\s*)(- *)?/.exec(text);
    if (n === number) list = Boolean(dash);
    if (n === number || !text.trim() || text.trim().startsWith("#")) continue;
    if (dash) {
      list = true;
      indent = Math.min(indent, space.length);
      continue;
    }
    const key = /^(\s*)([\w.]+):/.exec(text);
    if (key && (key[1].length < indent || (list && key[1].length <= indent))) return key[2] + (list ? "[]" : "");
  }
  return "";
}

// Ranges that an argument of a case may have instead of a value.
const ranges = ["uniform 1000..5000", "uniform 1000..5000 step 8", "choice 64|128|256"].map((label) => ({ label, type: "text", detail: "drawn" }));

function complete(context) {
  const line = context.state.doc.lineAt(context.pos);
  const before = line.text.slice(0, context.pos - line.from);
  const value = /^\s*(?:- *\{?|\{)?\s*([\w.]+):\s+([\w.]*)$/.exec(before);
  const inside = /[{,]\s*([\w]*)$/.exec(before);
  const word = /([\w]*)$/.exec(before)[1];
  if (!word && !context.explicit) return null;
  const from = context.pos - word.length;
  const argument = /(?:[{,]|^\s*(?:- )?)\s*(\w+):\s+\w*$/.exec(before);
  if (argument && argument[1] !== "devices" && /^(tests|benchmarks)\[\]$/.test(above(context.state, line.number, /^\s*/.exec(before)[0].length)))
    return { from, options: ranges, validFor: /^\w*$/ };
  const all = keys();
  if (value && !inside) {
    const known = all.find(({ path }) => path === value[1]);
    return known?.values.length ? { from, options: known.values.map((label) => ({ label, type: "constant" })), validFor: /^\w*$/ } : null;
  }
  if (!inside && !/^\s*(?:- *)?[\w]*$/.test(before)) return null;
  const own = /^\s*(\w+):\s*\{/.exec(before);
  const parent = inside && own ? own[1] : above(context.state, line.number, /^\s*/.exec(before)[0].length);
  const prefix = parent ? `${parent}.` : "";
  const options = all.filter(({ path }) => path.startsWith(prefix) && !/[.[]/.test(path.slice(prefix.length)));
  return {
    from,
    options: options.map(({ path, detail, info }) => ({ label: path.slice(prefix.length), type: "property", detail, info, apply: `${path.slice(prefix.length)}: ` })),
    validFor: /^\w*$/,
  };
}

export const language = () => [yaml(), yamlLanguage.data.of({ autocomplete: complete })];
