// Forms: live search and filters while typing.

import { $, $$, swap } from "./dom.js";
import { visit } from "./nav.js";

// formAddress returns the URL that a form submits, without empty values.
export function formAddress(form, live) {
  const url = new URL(form.action);
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form)) {
    if (value === "") continue;
    query.append(name, name === "search" && live && form.id === "browse" ? asPrefix(value) : value);
  }
  url.search = query;
  return url.href;
}

// asPrefix turns the last word of a search into a prefix, because it may be incomplete. A trailing space completes it.
function asPrefix(search) {
  const quotes = search.split('"').length - 1;
  return quotes % 2 === 0 && /[\p{L}\p{N}\p{M}]$/u.test(search) ? search + "*" : search;
}

let timer;
function debounce(delay, action) {
  clearTimeout(timer);
  timer = setTimeout(action, delay);
}

document.addEventListener("input", (event) => {
  const { target } = event;
  if (event.isComposing || target.form?.dataset.live === undefined || target.type === "checkbox") return;
  debounce(target.type === "search" ? 90 : 350, () => visit(formAddress($("form[data-live]"), true), { typing: true }));
});
document.addEventListener("compositionend", (event) => event.target.dispatchEvent(new Event("input", { bubbles: true })));

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.dataset.columns === undefined) return;
  if ($$("input[type=checkbox]", form).some((box) => box.checked)) visit(formAddress(form));
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "get" || !(swap()?.contains(form) || form.dataset.swap !== undefined)) return;
  event.preventDefault();
  clearTimeout(timer);
  visit(formAddress(form, form.dataset.live !== undefined));
});
