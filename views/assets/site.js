// The script that every page loads. Pages also work without it.
import { adopt, lastDraft, noteDraft, stored } from "./drafts.js";
import { together, zoom } from "./profile.js";

const root = document.documentElement;
const each = (selector, within, act) => within.querySelectorAll(selector).forEach(act);

// The chosen theme is stored in a cookie, so that the server sends the page in that theme and the colors do not change on loading.
function themeButton(button) {
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const say = () => button.setAttribute("aria-pressed", String(dark()));
  button.hidden = false;
  say();
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme}; path=${root.dataset.root}; max-age=31536000; samesite=lax`;
    say();
  });
}

// fromNow describes a time relative to now, such as "2 hours ago"; "" if it is at least 30 days away.
function fromNow(when) {
  const seconds = (when - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size >= 30 * 86400) return "";
  const [unit, length] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(([, length]) => size >= length) ?? [];
  if (!unit) return seconds > 0 ? "in a moment" : "just now";
  return new Intl.RelativeTimeFormat("en-GB").format(Math.trunc(seconds / length), unit);
}

// localTime replaces a time that the server wrote in UTC by a relative time or the time in the reader's zone.
function localTime(time) {
  const when = new Date(time.dateTime);
  if (Number.isNaN(when.valueOf())) return;
  const written = (options) => new Intl.DateTimeFormat("en-GB", options).format(when);
  const kind = time.dataset.time;
  const options = {
    day: { dateStyle: "medium" },
    date: { dateStyle: "medium" },
    clock: { timeStyle: "short" },
    "clock-second": { timeStyle: "medium" },
    second: { dateStyle: "medium", timeStyle: "medium" },
  }[kind] ?? { dateStyle: "medium", timeStyle: "short" };
  time.title = written({ dateStyle: "medium", timeStyle: "long" });
  time.textContent = (["ago", "day"].includes(kind) && fromNow(when)) || written(options);
}

// utcField shows the time of a field, which is in UTC, in the reader's zone.
function utcField(field) {
  const hint = document.createElement("p");
  hint.className = "hint";
  const say = () => {
    const when = new Date(`${field.value}Z`);
    hint.hidden = Number.isNaN(when.valueOf());
    if (!hint.hidden) hint.textContent = `${new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" }).format(when)} in your time zone`;
  };
  field.addEventListener("input", say);
  field.after(hint);
  say();
}

// dropZone makes a file input also accept dropped files, and shows the names of its files.
function dropZone(zone) {
  const input = zone.querySelector("input[type=file]");
  const named = zone.querySelector("[data-named]");
  const say = () => {
    if (named) named.textContent = [...input.files].map((file) => file.name).join(", ");
  };
  const over = (on) => (event) => {
    event.preventDefault();
    zone.classList.toggle("over", on);
  };
  input.addEventListener("change", say);
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", (event) => {
    over(false)(event);
    input.files = event.dataTransfer.files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  });
}

function copyButton(button) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    const label = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = label), 1500);
  });
}

// draft stores typed text in the browser, so that a reload does not lose it: permanently for a solution, until the tab is closed
// for changes to an earlier submission. If the server has refused a form, the text in that form takes precedence.
function draft(area) {
  const key = `draft ${area.dataset.draft}`;
  const store = () => ("from" in area.dataset ? sessionStorage : localStorage);
  adopt(`draft ${area.dataset.visitorsDraft}`, key);
  const note = area.form.querySelector("[data-kept]");
  const template = area.value;
  const kept = stored(() => store().getItem(key));
  if (kept && kept !== template && !("refused" in area.dataset)) {
    area.value = kept;
    note.hidden = false;
    if (!lastDraft(area.dataset.draft.split(" ")[1])) noteDraft(area); // a visitor's draft, after signing in
  }
  area.addEventListener("input", () => {
    stored(() => (area.value === template ? store().removeItem(key) : store().setItem(key, area.value)));
    noteDraft(area);
  });
  area.form.querySelector("[data-discard]").addEventListener("click", () => {
    area.value = template;
    note.hidden = true;
    area.dispatchEvent(new Event("change"));
    area.dispatchEvent(new Event("input"));
  });
}

// keptTask deletes the draft of the task that was sent last, because the site has stored the task.
function keptTask() {
  const key = stored(() => sessionStorage.getItem("sent task"));
  if (!key) return;
  stored(() => localStorage.removeItem(key));
  stored(() => sessionStorage.removeItem("sent task"));
}

// draftLink shows a link to the draft that was last edited in this browser.
function draftLink(place) {
  const last = lastDraft(place.dataset.lastDraft);
  if (!last) return;
  const link = place.querySelector("a");
  link.textContent = last.title;
  link.href = `${root.dataset.root}tasks/${last.slug}/solve${last.template ? `?template=${encodeURIComponent(last.template)}` : ""}`;
  place.querySelector("time").dateTime = last.when;
  place.hidden = false;
}

// Announces a run's status to screen readers, and shows it in the title for people who look at another tab.
function titled(status) {
  const title = document.title;
  new MutationObserver(() => (document.title = `${status.textContent} ${title}`)).observe(status, { childList: true });
}

// lazyEditor loads the editor, which is large, when its text area comes into view.
function lazyEditor(area) {
  // There may be several entries, one for each change since the last frame.
  const observer = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    const { edit } = await import(area.dataset.editor);
    edit(area);
  });
  observer.observe(area);
}

// menu also closes a menu on Escape, on a click elsewhere, and when Tab leaves it. Opening needs no script.
function menu(details) {
  const close = () => (details.open = false);
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !details.open) return;
    close();
    details.querySelector("summary").focus();
  });
  details.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !details.contains(event.relatedTarget)) close();
  });
  document.addEventListener("click", (event) => {
    if (!details.contains(event.target)) close();
  });
}

// Keyboard shortcuts besides those in the attribute aria-keyshortcuts of buttons and fields. Those without act are handled by
// the browser or the editor. The key "?" lists all shortcuts of the page.
const otherKeys = [
  { key: "j", does: "Next entry", on: "#board", act: (palette) => palette.row("j") },
  { key: "k", does: "Previous entry", on: "#board", act: (palette) => palette.row("k") },
  { key: "c", does: "Compare the entry with another: press it on both", on: "#board", act: (palette) => palette.row("c") },
  { key: "Escape, Tab", does: "Leave the editor", on: ".cm-editor" },
  { key: "Escape", does: "Close a menu or a dialog", on: "body" },
  { key: "?", does: "Show this list", on: "body", act: (palette) => palette.shortcuts(keysOfPage()) },
];

function keysOfPage() {
  const named = [...document.querySelectorAll("[aria-keyshortcuts]")].filter((part) => part.checkVisibility());
  const first = named.map((part) => ({
    key: part.getAttribute("aria-keyshortcuts"),
    does: part.dataset.does ?? part.getAttribute("aria-label") ?? part.textContent.trim(),
    part,
  }));
  return [...first, ...otherKeys.filter(({ on }) => document.querySelector(on))];
}

// keyName returns a keyboard event in the notation of aria-keyshortcuts. Shift with a character key and without Control is not
// named, because the character already differs.
function keyName({ ctrlKey, metaKey, shiftKey, key }) {
  const control = ctrlKey || metaKey;
  return [control && "Control", shiftKey && (control || key.length > 1) && "Shift", control && key.length === 1 ? key.toUpperCase() : key].filter(Boolean).join("+");
}

// shortcuts handles keyboard shortcuts. It loads their actions at the first use.
function shortcuts(button) {
  const load = () => import(button.dataset.palette);
  button.addEventListener("click", async (event) => {
    event.preventDefault(); // the link to the search page, for browsers without scripts
    (await load()).palette();
  });
  document.addEventListener("keydown", async (event) => {
    const { target } = event;
    const name = keyName(event);
    if (event.defaultPrevented || event.altKey || (!name.startsWith("Control") && target.closest("input, textarea, select, [contenteditable]"))) return;
    const found = keysOfPage().find(({ key, part, act }) => key === name && (part || act));
    if (!found) return;
    const { part, act } = found;
    const form = target.closest("form");
    if (form && part?.form && part !== button && form !== part.form) return; // the shortcut belongs to a form other than the focused one
    if (target.closest("dialog") && name !== "?" && part !== button) return;
    event.preventDefault();
    if (part) part.matches("input") ? part.focus() : part.click();
    else act(await load());
  });
}

// ticking updates the elapsed seconds of running stages: the server's number plus the time since the page received it.
function ticking() {
  each("[data-elapsed]", document, (clock) => {
    if (clock.said !== clock.dataset.elapsed) Object.assign(clock, { said: clock.dataset.elapsed, since: performance.now() });
    const seconds = Math.floor(Number(clock.said) + (performance.now() - clock.since) / 1000);
    clock.textContent = clock.textContent.replace(/^\d+/, seconds);
  });
  each("[data-left], [data-until]", document, countDown);
}

// countDown shows the remaining time of an event in the format of views.countdown: the server's number of seconds minus the time
// since the page received it.
function countDown(clock) {
  if (clock.said !== clock.dataset.left) Object.assign(clock, { said: clock.dataset.left, since: performance.now() });
  const until = Number(clock.dataset.until); // end time, for pages that the browser may have cached
  const left = Math.max(0, Math.floor(until ? (until - Date.now()) / 1000 : Number(clock.said) - (performance.now() - clock.since) / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const days = Math.floor(left / 86400);
  const hours = Math.floor(left / 3600) % 24;
  if (days) clock.textContent = days > 1 ? `${days}\u00a0days` : `1\u00a0day ${hours}\u00a0h`;
  else clock.textContent = [hours, Math.floor(left / 60) % 60, left % 60].map(two).join(":");
}

// connection shows a notice while the server cannot be reached or a part of the page could not be updated, because the page may
// then be outdated. For ten seconds it also shows why a button's request failed.
function connection(notice) {
  let away = false; // the server cannot be reached
  let stale = null; // part that could not be updated
  const say = (text, seconds) => {
    notice.textContent = text;
    if (seconds) setTimeout(() => notice.textContent === text && (notice.textContent = ""), seconds * 1000);
  };
  const lost = () => {
    away = true;
    say("The connection is lost; trying again. What stands here may be old.");
  };
  const found = () => {
    if (away) say("Connected again.", 4);
    away = false;
  };
  const swapped = ({ detail: { ctx } }) => {
    if (ctx?.response?.status >= 400) return;
    if (away) found();
    else if (stale && (ctx?.sourceElement === stale || !stale.isConnected)) {
      stale = null;
      say("");
    }
  };
  // htmx reconnects a stream that was connected before. connects retries a stream whose first connection failed.
  let wait = 500;
  const connects = (ctx) => {
    const stream = ctx?.sourceElement?.getAttribute("hx-sse:connect");
    if (!stream) return false;
    setTimeout(() => ctx.sourceElement.isConnected && htmx.ajax("GET", stream, { source: ctx.sourceElement }), wait * (0.7 + 0.6 * Math.random()));
    wait = Math.min(2 * wait, 5000);
    return true;
  };
  const broken = ({ detail: { ctx } }) => {
    lost();
    connects(ctx);
  };
  const failed = ({ detail: { ctx } }) => {
    if (ctx.response.status >= 500 && connects(ctx)) return lost();
    const asked = ctx.request.method === "GET";
    if (!asked && ctx.swap !== "none") return; // the error replaces the target, so it is visible there
    const why = new DOMParser().parseFromString(ctx.text, "text/html").body.textContent.trim();
    if (asked) stale = ctx.sourceElement;
    asked ? say(`What stands here may be old. ${why}`) : say(why, 10);
  };
  document.addEventListener("htmx:sse:error", lost);
  document.addEventListener("htmx:sse:after:connection", found);
  document.addEventListener("htmx:error", broken);
  document.addEventListener("htmx:response:error", failed);
  document.addEventListener("htmx:after:swap", swapped);
}

// notices shows a browser notification when a run ends while the page is hidden, if the person has asked for it.
function notices(button) {
  if (!("Notification" in window)) return;
  const wanted = () => Notification.permission === "granted" && stored(() => localStorage.getItem("notify")) === "yes";
  const say = () => button.setAttribute("aria-pressed", String(wanted()));
  button.hidden = false;
  say();
  button.addEventListener("click", async () => {
    const on = !wanted() && (await Notification.requestPermission()) === "granted";
    stored(() => localStorage.setItem("notify", on ? "yes" : "no"));
    say();
  });
  new MutationObserver(() => {
    const status = document.querySelector("#live-status").textContent;
    if (document.hidden && wanted() && /(passed|failed|cancelled)\b/.test(status)) new Notification("Warpboard", { body: status, tag: location.pathname });
  }).observe(document.querySelector("#live-status"), { childList: true });
}

// perfettoButton opens a run's timeline in Perfetto. It loads the code for that at the first click.
function perfettoButton(button) {
  button.hidden = false;
  button.onclick = async () => (await import(button.dataset.module)).open(button);
}

// rail marks the visible section in a profile's list of sections, and makes links to other cases and kernels open the same section.
function rail(nav) {
  const links = [...nav.querySelectorAll("[data-section]")];
  const sections = () => links.map((link) => document.getElementById(link.dataset.section)).filter(Boolean); // not cached, because zooming replaces the elements
  const here = () => sections().filter((section) => section.getBoundingClientRect().top < innerHeight / 3).at(-1);
  const mark = () => {
    const id = here()?.id;
    for (const link of links) link.dataset.section === id ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current");
  };
  addEventListener("scroll", () => requestAnimationFrame(mark), { passive: true });
  mark();
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".pf-rail a, .pf-kernels a");
    if (link && !link.dataset.section && here() && !link.hash) link.hash = here().id;
  });
}

function enhance(within) {
  each("time[data-time]", within, localTime);
  each("[data-perfetto]", within, perfettoButton);
  each("[data-together]", within, together);
  each("[data-zoom]", within, (steps) => zoom(steps, enhance));
}

each("[data-theme-toggle]", document, themeButton);
each("input[type=datetime-local]", document, utcField);
each(".drop", document, dropZone);
each("[data-copy]", document, copyButton);
each("textarea[data-draft]", document, draft);
each("[data-menu]", document, menu);
each("[data-palette]", document, shortcuts);
each("#connection", document, connection);
setInterval(ticking, 1000);
setInterval(() => each("time[data-time]", document, localTime), 60_000);
each("#live-status", document, titled);
each("[data-notify]", document, notices);
each("[data-rail]", document, rail);
each("textarea[data-editor]", document, lazyEditor);
each("[data-last-draft]", document, draftLink);
each("[data-task-kept]", document, keptTask);
enhance(document);
document.addEventListener("htmx:after:swap", () => enhance(document));
