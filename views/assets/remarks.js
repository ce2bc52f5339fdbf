// What was said of lines of a text, as it stands on the page. Without a file it is the main one's.
export const remarksIn = (lines) =>
  [...lines].map((said) => ({
    at: Number(said.dataset.line),
    file: said.dataset.file,
    severity: said.dataset.kind,
    message: said.querySelector("[data-text]").textContent,
  }));
