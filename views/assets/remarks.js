// remarksIn reads messages about lines of a source from elements of the page. Without a file, they are about the main file.
export const remarksIn = (lines) =>
  [...lines].map((said) => ({
    at: Number(said.dataset.line),
    file: said.dataset.file,
    severity: said.dataset.kind,
    message: said.querySelector("[data-text]").textContent,
  }));
