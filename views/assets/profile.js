// together makes source and instructions of a profile scroll together: when one pane is scrolled, the other shows the same line
// of the source. Both mark the line under the pointer. Without this script each scrolls separately.
export function together(both) {
  if (both.led !== undefined) return;
  both.led = null;
  const panes = [...both.querySelectorAll("[data-pane]")];
  if (panes.length < 2) return;
  const head = (pane) => pane.getBoundingClientRect().top + pane.querySelector("thead").offsetHeight;
  const rows = (pane) => [...pane.querySelectorAll("[data-line]")];
  const rowOf = (pane, line) => rows(pane).find((row) => row.dataset.line === line);
  const other = (pane) => panes[1 - panes.indexOf(pane)];

  // Aligns the line in the other pane with the row.
  const follow = (pane, row) => {
    const beside = row && rowOf(other(pane), row.dataset.line);
    if (!beside) return;
    const wanted = Math.max(0, row.getBoundingClientRect().top - head(pane));
    other(pane).scrollTop += beside.getBoundingClientRect().top - head(other(pane)) - wanted;
  };
  const mark = (line) => both.querySelectorAll("[data-line]").forEach((row) => row.classList.toggle("pf-here", row.dataset.line === line));
  const jumped = () => {
    const row = document.getElementById(location.hash.slice(1)); // :target is not set yet while the page loads
    if (!row?.closest("[data-pane]")) return;
    both.led = row.closest("[data-pane]");
    mark(row.dataset.line);
    follow(both.led, row);
  };
  for (const pane of panes) {
    const lead = () => (both.led = pane);
    for (const type of ["pointerenter", "pointerdown", "touchstart", "wheel", "focusin"]) pane.addEventListener(type, lead, { passive: true });
    pane.addEventListener("pointerover", (event) => mark(event.target.closest("[data-line]")?.dataset.line));
    pane.addEventListener("scroll", () => {
      if (both.led === pane) requestAnimationFrame(() => follow(pane, rows(pane).find((row) => row.getBoundingClientRect().bottom > head(pane))));
    }, { passive: true });
  }
  addEventListener("hashchange", jumped);
  jumped();
}

// zoom makes the links of the roofline's zoom replace the chart without reloading the page. It updates the page's URL.
export function zoom(steps, enhance) {
  steps.addEventListener("click", async (event) => {
    const link = event.target.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    try {
      const page = new DOMParser().parseFromString(await (await fetch(link.href)).text(), "text/html");
      const fresh = document.adoptNode(page.querySelector(".pf"));
      document.querySelector(".pf").replaceWith(fresh);
      history.replaceState(null, "", link.href.split("#")[0]);
      enhance(fresh);
      document.getElementById(link.id)?.focus({ preventScroll: true });
    } catch {
      location.assign(link.href);
    }
  });
}
