// The small script of every page. Each part adds to a page that already works without it.

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
    document.cookie = `theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax`;
    say();
  });
}

// Times are written in UTC by the server and shown in the reader's own zone here.
function localTime(time) {
  const when = new Date(time.dateTime);
  if (Number.isNaN(when.valueOf())) return;
  const options = time.dataset.time === "date" ? { dateStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" };
  if (!time.title) time.title = time.textContent;
  time.textContent = new Intl.DateTimeFormat("en-GB", options).format(when);
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

function enhance(within) {
  each("time[data-time]", within, localTime);
}

each("[data-theme-toggle]", document, themeButton);
each(".drop", document, dropZone);
each("[data-copy]", document, copyButton);
each("textarea[data-editor]", document, lazyEditor);
enhance(document);
document.addEventListener("htmx:after:swap", () => enhance(document));
