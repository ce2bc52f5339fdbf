// Drafts: what was typed stays in this browser.

// A browser may refuse to keep anything, or have no room left.
export function stored(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

// What a person wrote last is noted for home, which knows tasks and not this browser's drafts.
const lastOf = (person) => `last draft ${person}`;

export function noteDraft(area) {
  if ("from" in area.dataset) return; // changes to a submission go with the tab
  const [, slug, person, template] = area.dataset.draft.match(/^(\S+) (\d+) (.*) \d+$/);
  const note = { of: area.dataset.draft, slug, template, title: document.querySelector("h1").textContent, when: new Date() };
  stored(() => localStorage.setItem(lastOf(person), JSON.stringify(note)));
}

// lastDraft is that note, unless the draft was given up.
export function lastDraft(person) {
  const note = stored(() => JSON.parse(localStorage.getItem(lastOf(person))));
  const kept = note && stored(() => ["draft", "draft files"].some((kind) => localStorage.getItem(`${kind} ${note.of}`) !== null));
  return kept ? note : null;
}

// A draft from before the sign-in belongs to the person who signed in.
export function adopt(visitors, own) {
  stored(() => {
    const written = visitors === own ? null : localStorage.getItem(visitors);
    if (written === null) return;
    localStorage.removeItem(visitors);
    if (localStorage.getItem(own) === null) localStorage.setItem(own, written);
  });
}
