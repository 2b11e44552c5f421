// The review of a draft, and the progress of a publish: edits are sent and checked one after the other, and a page that shows how
// far the server is becomes the next one. The script sends the forms of the pages; they work without it.

import { $, announce, morph } from "./app.js";
import { fieldsOf, request } from "./ask-key.js";

const root = () => document.getElementById("publish");

/** @typedef {{ action: string, name?: string, value?: string, last?: boolean }} Edit */

/** @type {Edit[]} */
const queue = []; // edits to send, or that could not be sent
let sending = false;
let saved = 0; // number of edits that were sent

// save sends an edit after those before it. An edit of inputs sends them all, so one that waits serves for the next. Nothing
// follows the last edit, which publishes or removes the draft.
/** @type {(edit: Edit) => void} */
function save(edit) {
  const waiting = queue.slice(sending ? 1 : 0).at(-1);
  if (queue.at(-1)?.last || waiting && !waiting.name && !edit.name) return;
  queue.push(edit);
  sendQueue();
}

// sendQueue sends the edits until one cannot be sent.
async function sendQueue() {
  if (sending) return;
  sending = true;
  root().setAttribute("aria-busy", "true");
  while (queue.length && (await sendEdit(queue[0]))) queue.shift();
  if (queue[0]?.last) queue.shift(); // one may edit again
  sending = false;
  root()?.removeAttribute("aria-busy");
}

// sendEdit sends the form of the review with the button that was used, and shows the review that the server returns. It returns
// false if the edit could not be sent.
async function sendEdit(edit) {
  const form = $("#review");
  const body = fieldsOf(form);
  saved++;
  if (edit.name) body.append(edit.name, edit.value);
  const retry = () => edit.last ? save(edit) : sendQueue();
  let answer;
  try {
    answer = await request(edit.action, body);
  } catch {
    notify("Offline. Your edits are still here.", retry);
    return false;
  }
  if (!answer) return false;
  const { response, page } = answer;
  if (!$("#review", page)) {
    if (response.ok) location.replace(response.url);
    else notify($(".empty-state bdi", page)?.textContent ?? `The server is unavailable (${response.status}).`, retry);
    return false;
  }
  for (const [name, value] of body) { // what the server has now
    const was = form.elements["was-" + name];
    if (was && name !== "key") was.value = value;
  }
  if (queue.length === 1) showLater(page);
  return true;
}

// showLater shows a page as soon as no input has text that the page would overwrite.
function showLater(page) {
  if (!isTyping()) return show(page);
  clearTimeout(timer);
  timer = setTimeout(refresh, 600);
}

function show(page) {
  const focused = document.activeElement;
  const [part, kind] = [focused?.closest("tr[id]") ?? focused?.closest("th, aside"), focused?.className];
  const place = part && (part.id ? "#" + part.id : part.tagName === "TH" ? `th:nth-child(${part.cellIndex + 1})` : ".settings");
  notify("");
  morph(root(), page.getElementById("publish"), { keepInput: false });
  if (!document.activeElement || document.activeElement === document.body) { // the button is gone
    const next = [...document.querySelectorAll(`${place} :is(button, select, input:not([type=hidden]))`)];
    (next.find((e) => e.className === kind) ?? next[0] ?? $("#rows") ?? $("#main")).focus({ preventScroll: true });
  }
  announce($("[data-announce]")?.textContent ?? "");
  refreshLater();
}

document.addEventListener("change", ({ target }) => {
  const form = target.form;
  if (form?.id === "review" && target.name && target.name !== "consent") save({ action: form.action });
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id !== "review" || event.defaultPrevented) return;
  event.preventDefault();
  const button = event.submitter;
  if (button?.value === "check" && queue.length) return; // Enter has changed an input
  const action = button?.getAttribute("formaction");
  save({ action: action ?? form.action, name: button?.name, value: button?.value, last: Boolean(action) });
});

let timer; // of the next refresh
// refreshLater replaces a page that shows how far the server is by the next one.
function refreshLater(delay = 600) {
  clearTimeout(timer);
  if (root()?.dataset.refresh) timer = setTimeout(refresh, delay);
}

// isTyping reports whether an input has text that is not saved yet, which another page would overwrite.
function isTyping() {
  const input = document.activeElement;
  const was = input?.form?.elements["was-" + input.name];
  return was !== undefined && input.type !== "checkbox" && was.value !== input.value;
}

async function refresh() {
  if (queue.length) return refreshLater(); // which shows a page
  if (isTyping()) return (timer = setTimeout(refresh, 600));
  const before = saved;
  let answer;
  try {
    answer = await request(location.href);
  } catch {
    announce("Offline.");
    return refreshLater(3000);
  }
  if (!answer || saved !== before) return refreshLater(); // the page may be older than the last edit
  const { response, page } = answer;
  if (response.status === 503) return refreshLater(3000); // the server is busy
  const next = page.getElementById("publish");
  if (!next || response.url !== location.href) location.replace(response.url);
  else showLater(page);
}

// notify shows a message above the settings, with a button to try again.
function notify(message, retry) {
  $(".failed")?.remove();
  if (!message) return;
  const notice = $("#lost").content.firstElementChild.cloneNode(true);
  $("p", notice).textContent = message;
  $("button", notice).addEventListener("click", () => {
    notice.remove();
    retry();
  });
  root().append(notice);
  announce(message);
}

refreshLater();
