// The small script of every page. Each part adds to a page that already works without it.
import { adopt, lastDraft, noteDraft, stored } from "./drafts.js";
import { together, zoom } from "./profile.js";

const root = document.documentElement;
const each = (selector, within, act) => within.querySelectorAll(selector).forEach(act);

// Theme: the choice is a cookie, so that the server sends the right one and nothing flashes.
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

// How long ago a time was, or until it is; nothing for those more than a month away.
function fromNow(when) {
  const seconds = (when - Date.now()) / 1000;
  const size = Math.abs(seconds);
  if (size >= 30 * 86400) return "";
  const [unit, length] = [["day", 86400], ["hour", 3600], ["minute", 60]].find(([, length]) => size >= length) ?? [];
  if (!unit) return seconds > 0 ? "in a moment" : "just now";
  return new Intl.RelativeTimeFormat("en-GB").format(Math.trunc(seconds / length), unit);
}

// Times are written in UTC by the server, and shown from now or in the reader's own zone here.
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

// Fields take times in UTC: this says when that is where the reader is.
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

// A file input inside .drop also takes files that are dropped on it, and names what it holds.
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

// What was typed stays in this browser, so that a reload loses nothing: the work on a template for good, the
// changes to an earlier submission with the tab. Both give way to what the server refused and sent back.
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
    if (!lastDraft(area.dataset.draft.split(" ")[1])) noteDraft(area); // a visitor's, who has signed in
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

// The site has the task that was sent last, so its draft is over.
function keptTask() {
  const key = stored(() => sessionStorage.getItem("sent task"));
  if (!key) return;
  stored(() => localStorage.removeItem(key));
  stored(() => sessionStorage.removeItem("sent task"));
}

// Home leads to what was written last in this browser.
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

// The editor is heavy: it is fetched only when its text box comes into view.
function lazyEditor(area) {
  // What has changed twice since the last frame comes as two entries.
  const observer = new IntersectionObserver(async (entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    const { edit } = await import(area.dataset.editor);
    edit(area);
  });
  observer.observe(area);
}

// A menu opens and closes without a script. Escape, a click elsewhere, and leaving it with Tab close it, too.
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

// The keys of a page: those that a button or field names in aria-keyshortcuts, and these. Both are obeyed here, or by the
// browser or editor where no act is given, and "?" lists both.
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

// What an event is called in aria-keyshortcuts. Shift only makes another character of a key that is pressed alone.
function keyName({ ctrlKey, metaKey, shiftKey, key }) {
  const control = ctrlKey || metaKey;
  return [control && "Control", shiftKey && (control || key.length > 1) && "Shift", control && key.length === 1 ? key.toUpperCase() : key].filter(Boolean).join("+");
}

// What the keys do is fetched when one is used first.
function shortcuts(button) {
  const load = () => import(button.dataset.palette);
  button.addEventListener("click", async (event) => {
    event.preventDefault(); // without this script it leads to the page of the search
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
    if (form && part?.form && part !== button && form !== part.form) return; // the key is of another form than the one that is filled in
    if (target.closest("dialog") && name !== "?" && part !== button) return;
    event.preventDefault();
    if (part) part.matches("input") ? part.focus() : part.click();
    else act(await load());
  });
}

// A stage that goes on counts its seconds: from those that the server said, when it said them.
function ticking() {
  each("[data-elapsed]", document, (clock) => {
    if (clock.said !== clock.dataset.elapsed) Object.assign(clock, { said: clock.dataset.elapsed, since: performance.now() });
    const seconds = Math.floor(Number(clock.said) + (performance.now() - clock.since) / 1000);
    clock.textContent = clock.textContent.replace(/^\d+/, seconds);
  });
  each("[data-left], [data-until]", document, countDown);
}

// What is left of an event, as views.countdown writes it, by the server's clock: from the seconds that it said, when it said them.
function countDown(clock) {
  if (clock.said !== clock.dataset.left) Object.assign(clock, { said: clock.dataset.left, since: performance.now() });
  const until = Number(clock.dataset.until); // on a page that may come from the browser's cache
  const left = Math.max(0, Math.floor(until ? (until - Date.now()) / 1000 : Number(clock.said) - (performance.now() - clock.since) / 1000));
  const two = (n) => String(n).padStart(2, "0");
  const days = Math.floor(left / 86400);
  const hours = Math.floor(left / 3600) % 24;
  if (days) clock.textContent = days > 1 ? `${days}\u00a0days` : `1\u00a0day ${hours}\u00a0h`;
  else clock.textContent = [hours, Math.floor(left / 60) % 60, left % 60].map(two).join(":");
}

// Once the server is gone, what stands on a live page is old, and says so until it is there again. So does a part that
// could not be renewed, until one was; why a button did nothing is said for a while.
function connection(notice) {
  let away = false; // the server is
  let stale = null; // part that could not be renewed
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
  // Once a stream has been connected it is connected again by itself. One that never was is asked for until it is there.
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
    if (!asked && ctx.swap !== "none") return; // it stands where the answer would
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

// Notifies people who asked for it how a run ended while they look at another window.
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

// A run's timeline opens in Perfetto; what does it is fetched when it is wanted.
function perfettoButton(button) {
  button.hidden = false;
  button.onclick = async () => (await import(button.dataset.module)).open(button);
}

// The rail of a profile marks the section that is before the eyes, and links to other cases and kernels keep it.
function rail(nav) {
  const links = [...nav.querySelectorAll("[data-section]")];
  const sections = () => links.map((link) => document.getElementById(link.dataset.section)).filter(Boolean); // a zoom replaces them
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
