export const panelOf = (tab) => document.getElementById(tab.getAttribute("aria-controls"));

// tabs implements the ARIA pattern for tabs: one panel is visible at a time, and arrow keys, Home, and End select a tab. The
// returned add registers a new tab. aria-controls names a tab's panel, which several tabs may share. tabs calls seen with the
// panel and the tab after each selection.
export function tabs(list, seen = () => {}) {
  const all = () => [...list.querySelectorAll("[role=tab]")];
  const choose = (chosen) => {
    for (const tab of all()) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      panelOf(tab).hidden = panelOf(tab) !== panelOf(chosen);
    }
    list.scrollLeft = Math.min(list.scrollLeft, chosen.offsetLeft - list.offsetLeft);
    list.scrollLeft = Math.max(list.scrollLeft, chosen.offsetLeft - list.offsetLeft + chosen.offsetWidth - list.clientWidth);
    seen(panelOf(chosen), chosen);
  };
  const add = (tab) => {
    panelOf(tab).setAttribute("role", "tabpanel");
    tab.addEventListener("click", () => choose(tab));
  };
  list.addEventListener("keydown", (event) => {
    const tabs = all();
    const at = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined || at < 0) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
  all().forEach(add);
  return { add, choose };
}

// named sets the label of a tab: its name, and a count of a kind such as "error" unless it is 0.
export function named(tab, name, count, kind) {
  tab.replaceChildren(name);
  if (!count) return;
  const number = document.createElement("span");
  number.className = "tab-count ml-1";
  const unit = document.createElement("span");
  unit.className = "sr-only";
  unit.textContent = ` ${kind}${count === 1 ? "" : "s"}`;
  number.textContent = count;
  tab.append(number, unit);
}
