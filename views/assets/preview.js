// A preview of the task's page, in a frame without scripts.
import { ask, waitOf, whyNot } from "./asking.js";

// renew updates only the changed nodes, so that opened sections and the scroll position stay.
function renew(old, now) {
  if (old.isEqualNode(now)) return;
  if (old.nodeType !== Node.ELEMENT_NODE || old.nodeName !== now.nodeName || old.childNodes.length !== now.childNodes.length) {
    return old.replaceWith(old.ownerDocument.importNode(now, true));
  }
  for (const { name, value } of now.attributes) if (name !== "open") old.setAttribute(name, value);
  [...now.childNodes].forEach((child, i) => renew(old.childNodes[i], child));
}

export function preview(section, form) {
  const frame = document.createElement("iframe");
  const note = section.querySelector("[role=status]");
  let asked, timer;
  frame.hidden = true; // until the first preview
  frame.title = "The task’s page";
  frame.sandbox = "allow-same-origin";
  section.append(frame);

  function say(sentence) {
    note.hidden = !sentence;
    if (note.textContent !== sentence) note.textContent = sentence;
  }

  const wrong = () => `The files have problems: ${frame.hidden ? "the preview appears when they are fixed" : "this is the page without the last changes"}.`;

  function show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("script, noscript, body > :not(main), main > [role=status]").forEach((part) => part.remove());
    page.querySelectorAll("a[href]").forEach((link) => link.removeAttribute("href")); // a link would replace the preview
    page.documentElement.dataset.theme = document.documentElement.dataset.theme ?? "";
    frame.hidden = false;
    const shown = frame.contentDocument;
    if (frame.srcdoc && shown?.querySelector("main")) {
      shown.documentElement.dataset.theme = page.documentElement.dataset.theme;
      return renew(shown.querySelector("main"), page.querySelector("main"));
    }
    frame.srcdoc = `<!DOCTYPE html>${page.documentElement.outerHTML}`;
  }

  // look requests a new preview. It cancels an earlier request that has no answer yet.
  return async function look() {
    clearTimeout(timer);
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await ask(form, form.dataset.preview, asked.signal);
      if (answer.ok) {
        show(await answer.text());
        return say("");
      }
      if (answer.status === 429) timer = setTimeout(look, 1000 * waitOf(answer));
      say(answer.status === 422 ? wrong() : whyNot("The preview", answer.status, waitOf(answer)));
    } catch (error) {
      if (error.name !== "AbortError") say(whyNot("The preview", 0));
    }
  };
}
