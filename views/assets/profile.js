// Source and instructions of a profile scroll together: the pane that the reader moves leads, and the other follows to the same
// line of source. The line under the pointer is marked on both sides. Without this, both scroll alone.
export function together(both) {
  if (both.led !== undefined) return;
  both.led = null;
  const panes = [...both.querySelectorAll("[data-pane]")];
  if (panes.length < 2) return;
  const head = (pane) => pane.getBoundingClientRect().top + pane.querySelector("thead").offsetHeight;
  const rows = (pane) => [...pane.querySelectorAll("[data-line]")];
  const rowOf = (pane, line) => rows(pane).find((row) => row.dataset.line === line);
  const other = (pane) => panes[1 - panes.indexOf(pane)];

  // The other pane moves only where it does not show the line already.
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

// A step of the roofline's zoom changes the page in place, and its address with it. Without this, it loads the page again.
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
