// The page that the task will have, in a frame without scripts.

// What a reader has opened stays open, and the frame stays where it was scrolled to.
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
  let asked;
  frame.title = "The task’s page";
  frame.sandbox = "allow-same-origin";
  section.append(frame);

  function say(sentence) {
    note.hidden = !sentence;
    if (note.textContent !== sentence) note.textContent = sentence;
  }

  function show(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    page.querySelectorAll("script, noscript, body > :not(main), main > [role=status]").forEach((part) => part.remove());
    page.querySelectorAll("a[href]").forEach((link) => link.removeAttribute("href")); // it leads out of the frame
    page.documentElement.dataset.theme = document.documentElement.dataset.theme ?? "";
    const shown = frame.contentDocument;
    if (frame.srcdoc && shown?.querySelector("main")) {
      shown.documentElement.dataset.theme = page.documentElement.dataset.theme;
      return renew(shown.querySelector("main"), page.querySelector("main"));
    }
    frame.srcdoc = `<!DOCTYPE html>${page.documentElement.outerHTML}`;
  }

  // A newer question makes the answer to an older one worthless.
  return async function ask() {
    asked?.abort();
    asked = new AbortController();
    try {
      const answer = await fetch(form.dataset.preview, { method: "POST", body: new FormData(form), signal: asked.signal });
      if (answer.status === 429) return setTimeout(ask, 1000 * (Number(answer.headers.get("Retry-After")) || 5));
      if (!answer.ok) return say("The files have problems: this is the page without the last changes.");
      show(await answer.text());
      say("");
    } catch (error) {
      if (error.name !== "AbortError") say("The server does not answer: what stands here may be old.");
    }
  };
}
