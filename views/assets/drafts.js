// Drafts: what was typed stays in this browser.

// A browser may refuse to keep anything, or have no room left.
export function stored(act) {
  try {
    return act();
  } catch {
    return null;
  }
}

// What somebody wrote before signing in is theirs afterwards.
export function adopt(visitors, own) {
  stored(() => {
    const written = visitors === own ? null : localStorage.getItem(visitors);
    if (written === null) return;
    localStorage.removeItem(visitors);
    if (localStorage.getItem(own) === null) localStorage.setItem(own, written);
  });
}
