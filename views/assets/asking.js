// Requests that the page for writing a task sends while a person types, and messages for requests that failed.

// ask sends the form. If its CSRF token is outdated because the person signed in again, ask gets a new one and repeats.
export async function ask(form, url, signal) {
  const send = () => fetch(url, { method: "POST", body: new FormData(form), signal });
  const answer = await send();
  return answer.status === 403 && (await renewed(form, signal)) ? send() : answer;
}

async function renewed(form, signal) {
  const page = new DOMParser().parseFromString(await (await fetch(form.action, { signal })).text(), "text/html");
  const [old, now] = [form, page].map((from) => from.querySelector("[name=_csrf]"));
  if (!page.querySelector("[data-check]") || now.value === old.value) return false;
  old.value = now.value;
  return true;
}

// whyNot returns the reason why the check or the preview could not run. A status of 0 means that the site did not respond.
export function whyNot(what, status, wait) {
  if (!status) return `${what} could not run: the site does not answer. Your text is kept; the next change tries again.`;
  if (status === 429) return `${what} has to wait: too many in a row. It runs again in ${wait} s.`;
  const failed = `${what} could not run (error ${status}).`;
  if (status === 401 || status === 403) return `${failed} Sign in again in another tab; your text is kept.`;
  if (status === 413) return `${failed} These files are too large for it while you type; “Try it” checks them.`;
  if (status >= 500) return `${failed} The site has a problem. Your text is kept; the next change tries again.`;
  return `${failed} “Try it” says what is wrong.`;
}

export const waitOf = (answer) => Number(answer.headers.get("Retry-After")) || 5;
