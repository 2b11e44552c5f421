// Requests of the pages for publishing: if the key has expired, they ask for another one, so that the page keeps the file and the edits.

import { $, announce } from "./app.js";

export const headers = { Accept: "text/html", "X-Requested-With": "fetch" };
export const parsePage = (text) => new DOMParser().parseFromString(text, "text/html");

/** @type {(form: HTMLFormElement) => URLSearchParams} */
export const fieldsOf = (form) => new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));

// request sends a form, or requests a page if there is none. It returns null if the user does not enter a key, and fails without a connection.
export async function request(url, form) {
  for (;;) {
    const response = await fetch(url, form ? { method: "POST", headers, body: form } : { headers });
    const page = parsePage(await response.text());
    if (!$(".lock form", page)) return { response, page };
    if (!(await askKey(page))) return null;
  }
}

// askKey shows the form for a key in a dialog, so that the page keeps the file and the edits.
export function askKey(page) {
  const dialog = document.createElement("dialog");
  dialog.className = "ask-key lock";
  dialog.setAttribute("aria-label", "Enter a key");
  const showForm = (from) => dialog.replaceChildren(...$(".lock", from).childNodes);
  showForm(page);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    let accepted = false;
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(accepted);
    });
    dialog.addEventListener("submit", async (event) => {
      event.preventDefault();
      event.stopPropagation();
      try {
        const response = await fetch(event.target.action, { method: "POST", headers, body: fieldsOf(event.target) });
        const answer = parsePage(await response.text());
        accepted = !$(".lock form", answer);
        if (accepted) return dialog.close();
        showForm(answer);
      } catch {
        announce("Offline.");
      }
      $("#key", dialog)?.focus();
    });
  });
}
