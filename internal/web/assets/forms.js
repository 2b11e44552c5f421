// Forms: the search and filters apply while you type.

import { $, on, onShow, swap } from "./dom.js";
import { showTime, visit } from "./nav.js";

// actionOf returns the address of a form. The property is an input if a column is called so.
const actionOf = (form) => new URL(form.getAttribute("action"), location.href);

// formAddress returns the URL that a form submits, without empty values. The sentence of a chart has some that mean none.
function formAddress(form, submitter = null) {
  const url = actionOf(form);
  const query = new URLSearchParams();
  for (const [name, value] of new FormData(form, submitter)) {
    if (value === "" && !name.startsWith("_set_") || ["_find", "_values", "_offset"].includes(name)) continue;
    query.append(name, name === "search" && form.id === "browse" && !isWhole(value) ? asPrefix(value) : value);
  }
  url.search = String(query);
  return url.href;
}

// asPrefix turns the last word of a search into a prefix, because it may be incomplete. A trailing space completes it.
function asPrefix(search) {
  const quotes = search.split('"').length - 1;
  return quotes % 2 === 0 && /[\p{L}\p{N}\p{M}]$/u.test(search) ? search + "*" : search;
}

// isWhole reports whether the server says that a search has a last word with other forms, which a prefix would not find.
const isWhole = (search) => search === $("#browse input[name=search]")?.dataset.whole;

let isTyping = false; // the search was the last input

// The box shows what was typed, without the "*" that is implied. The server shows it, because without a script it is not.
onShow(() => {
  const box = $("#browse input[name=search]");
  const typed = box?.value.replace(/\*$/, "");
  if (typed && typed !== box.value && asPrefix(typed) === box.value) box.value = typed;
  const search = new URL(location.href).searchParams.get("search");
  if (isTyping && typed && isWhole(typed) && search !== typed) visit(formAddress(box.form), { typing: true });
});

let typingTimer;
function debounce(delay, action) {
  clearTimeout(typingTimer);
  typingTimer = setTimeout(action, delay);
}

document.addEventListener("input", ({ target, isComposing }) => {
  const form = target.form;
  if (isComposing || !target.name || target.name.startsWith("_") || target.matches("[type=checkbox], [type=radio], select")) return;
  isTyping = form?.dataset.live !== undefined;
  if (isTyping) debounce(showTime(), () => visit(formAddress($("form[data-live]")), { typing: true }));
  else if (form?.dataset.filter !== undefined) {
    debounce(350, () => form.isConnected && visit(formAddress(form), { typing: true }));
  }
});
document.addEventListener("compositionend", (event) => event.target.dispatchEvent(new Event("input", { bubbles: true })));

document.addEventListener("change", ({ target }) => {
  const form = target.form;
  if (!target.matches("[type=checkbox], [type=radio], select, [list]") || !swap()?.contains(form) || form.method !== "get" || form.dataset.columns !== undefined) return;
  if (target.type === "radio" && !$("[type=checkbox]:checked", form)) return; // it says what becomes of the next choice
  visit(formAddress(form));
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "get" || event.defaultPrevented || !(swap()?.contains(form) || form.dataset.swap !== undefined)) return;
  if (actionOf(form).pathname !== location.pathname) return; // a page with other styles
  event.preventDefault();
  clearTimeout(typingTimer);
  visit(formAddress(form, event.submitter));
});

// A link or button that opens the form of a filter which the page has already only opens it.
on("click", "a[href*='_facet='], button[name=_facet]", (event, control) => {
  const name = control.value ?? new URL(control.href.baseVal ?? control.href).searchParams.getAll("_facet").at(-1);
  const chip = $(`details[data-facet="${CSS.escape(name)}"]`);
  if (chip?.contains(control)) return;
  added = name;
  if (!chip) return;
  event.preventDefault();
  focusAdded();
}, true);

let added; // name of the field whose filter has been requested

// focusAdded opens the form of that filter.
function focusAdded() {
  const chip = added && $(`details[data-facet="${CSS.escape(added)}"]`);
  if (!chip) return;
  added = "";
  chip.open = true;
  $("input:not([type=hidden]), select", chip)?.focus();
}

onShow(focusAdded);
