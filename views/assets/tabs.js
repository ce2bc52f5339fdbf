// Tabs as screen readers know them: one panel is seen at a time, and the arrows, Home and End go through them.
// Whoever adds a tab marks it by `tabs.add`; the panel is the element that aria-controls names.
export function tabs(list) {
  const all = () => [...list.querySelectorAll("[role=tab]")];
  const choose = (chosen) => {
    for (const tab of all()) {
      tab.setAttribute("aria-selected", String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = tab !== chosen;
    }
    list.scrollLeft = Math.min(list.scrollLeft, chosen.offsetLeft - list.offsetLeft);
    list.scrollLeft = Math.max(list.scrollLeft, chosen.offsetLeft - list.offsetLeft + chosen.offsetWidth - list.clientWidth);
  };
  const add = (tab) => {
    document.getElementById(tab.getAttribute("aria-controls")).setAttribute("role", "tabpanel");
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
