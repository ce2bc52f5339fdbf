// Drafts of typed text, which the browser stores.

// stored calls act, which uses the browser's storage. It returns null if storage is forbidden or full.
export function stored(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

// noteDraft stores which draft a person edited last, for a link on the home page. The server does not know drafts.
const lastOf = (person) => `last draft ${person}`;

export function noteDraft(area) {
  if ("from" in area.dataset) return; // drafts of changes to a submission end with the tab
  const [, slug, person, template] = area.dataset.draft.match(/^(\S+) (\d+) (.*) \d+$/);
  const note = { of: area.dataset.draft, slug, template, title: document.querySelector("h1").textContent, when: new Date() };
  stored(() => localStorage.setItem(lastOf(person), JSON.stringify(note)));
}

// lastDraft returns what noteDraft stored, or null if the draft no longer exists.
export function lastDraft(person) {
  const note = stored(() => JSON.parse(localStorage.getItem(lastOf(person))));
  const kept = note && stored(() => ["draft", "draft files"].some((kind) => localStorage.getItem(`${kind} ${note.of}`) !== null));
  return kept ? note : null;
}

// adopt turns a visitor's draft into that of the person who has signed in, unless the person has one.
export function adopt(visitors, own) {
  stored(() => {
    const written = visitors === own ? null : localStorage.getItem(visitors);
    if (written === null) return;
    localStorage.removeItem(visitors);
    if (localStorage.getItem(own) === null) localStorage.setItem(own, written);
  });
}
