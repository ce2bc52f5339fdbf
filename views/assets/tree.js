// tree shows the files of a task as a tree: folders open and close, a button selects its file, and arrow keys move between rows.
export function tree(list, choose) {
  const closed = new Set(); // paths of the closed folders

  function folder(path, name) {
    const item = document.createElement("li");
    const details = document.createElement("details");
    const summary = document.createElement("summary");
    const inside = document.createElement("ul");
    summary.textContent = name;
    details.open = !closed.has(path);
    details.addEventListener("toggle", () => (details.open ? closed.delete(path) : closed.add(path)));
    details.append(summary, inside);
    item.append(details);
    return { item, inside, folders: new Map() };
  }

  // draw shows the files of a folder above its subfolders, in the order of the form.
  function draw(files) {
    const focused = document.activeElement;
    const root = { inside: list, folders: new Map() };
    list.replaceChildren();
    for (const { button, path } of files) {
      const parts = path.value.trim().split("/");
      let at = root;
      let whole = "";
      for (const name of parts.slice(0, -1)) {
        whole += `${name}/`;
        if (!at.folders.has(name)) at.folders.set(name, folder(whole, name));
        at = at.folders.get(name);
      }
      const item = document.createElement("li");
      item.append(button);
      at.inside.append(item);
    }
    const hang = (at) => at.folders.forEach((inner) => (hang(inner), at.inside.append(inner.item)));
    hang(root);
    if (list.contains(focused)) focused.focus();
  }

  function chosen(button) {
    for (const other of list.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    button.setAttribute("aria-current", "true");
    for (let up = button.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
  }

  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const lines = [...list.querySelectorAll("button, summary")].filter((line) => line.checkVisibility());
    lines[lines.indexOf(document.activeElement) + step]?.focus();
  });
  list.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) choose(button);
  });
  return { draw, chosen };
}
