// Publishing: files are sent with their progress, dropped and pasted, and each edit of a review is checked at once. The script
// sends the forms of the pages and shows what the server returns; every page works without it.

import { announce, morph } from "./app.js";

const $ = (selector, from = document) => from.querySelector(selector);
const root = () => document.getElementById("publish");
const parse = (text) => new DOMParser().parseFromString(text, "text/html");
const headers = { Accept: "text/html", "X-Requested-With": "fetch" };

// request sends a form, or requests a page if there is none. If the key has expired, it asks for another one and sends the request
// again. It returns null if the user does not enter a key, and fails without a connection.
async function request(url, form) {
  for (;;) {
    const response = await fetch(url, form ? { method: "POST", headers, body: form } : { headers });
    const page = parse(await response.text());
    if (!$(".lock form", page)) return { response, page };
    if (!(await askKey(page))) return null;
  }
}

// askKey shows the form for a key in a dialog, so that the page keeps the file and the edits.
function askKey(page) {
  const dialog = document.createElement("dialog");
  dialog.className = "ask-key lock";
  dialog.setAttribute("aria-label", "Enter a key");
  const show = (from) => dialog.replaceChildren(...$(".lock", from).childNodes);
  show(page);
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
        const response = await fetch(event.target.action, { method: "POST", headers, body: new URLSearchParams(new FormData(event.target)) });
        const answer = parse(await response.text());
        accepted = !$(".lock form", answer);
        if (accepted) return dialog.close();
        show(answer);
      } catch {
        announce("Offline.");
      }
      $("#key", dialog)?.focus();
    });
  });
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

// --- The review: edits are saved and checked one after the other. A page is shown when no other edit waits.

let saving = false;
let saved = 0; // number of edits that were sent
let waiting = null; // the next edit

async function save(edit) {
  if (saving) {
    if (!waiting?.last) waiting = edit;
    return;
  }
  saving = true;
  root().setAttribute("aria-busy", "true");
  let failed = false;
  for (let next = edit; next; ) {
    edit = next;
    waiting = null;
    failed = !(await sendEdit(edit));
    next = failed ? null : waiting;
  }
  saving = false;
  root()?.removeAttribute("aria-busy");
  if (failed) waiting = null;
}

// sendEdit sends the form of the review with the button that was used, and shows the review that the server returns. It returns
// false if the edit could not be sent.
async function sendEdit(edit) {
  const form = $("#review");
  const body = new URLSearchParams(new FormData(form));
  saved++;
  if (edit.name) body.append(edit.name, edit.value);
  let answer;
  try {
    answer = await request(edit.action, body);
  } catch {
    notify("Offline. Your edits are still here.", () => save(edit));
    return false;
  }
  if (!answer) return false;
  const { response, page } = answer;
  if (!$("#review", page)) {
    if (response.ok) location.replace(response.url);
    else notify($(".empty-state bdi", page)?.textContent ?? `The server is unavailable (${response.status}).`, () => save(edit));
    return false;
  }
  for (const [name, value] of body) { // what the server has now
    const was = form.elements["was-" + name];
    if (was && name !== "key") was.value = value;
  }
  if (!waiting) showLater(page);
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
  if (form?.id === "review" && target.name && !["consent", "exposure"].includes(target.name)) save({ action: form.action });
});

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.id !== "review" || event.defaultPrevented) return;
  event.preventDefault();
  const button = event.submitter;
  if (button?.value === "check" && saving) return; // Enter has changed an input
  const action = button?.getAttribute("formaction");
  save({ action: action ?? form.action, name: button?.name, value: button?.value, last: Boolean(action) });
});

// --- A page that shows how far the server is becomes the next one.

let timer;
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
  if (saving) return refreshLater(); // which shows a page
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
  const next = page.getElementById("publish");
  if (!next || response.url !== location.href) location.replace(response.url);
  else showLater(page);
}
refreshLater();

// --- Choosing files: chosen, dropped or pasted ones are sent one after the other.

const form = $("#send");
if (form) {
  const input = $("#file"), list = $(".sending"), dataset = $("#dataset"), table = $("#table"), drop = $(".drop");
  let suggested = "";
  const suggest = (name) => {
    if (dataset.value !== suggested) return;
    const stem = name.toLowerCase().replace(/\.(gz|zst|bz2|xz|zip)$/, "").replace(/\.[a-z0-9]+$/, "");
    suggested = stem.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^a-z0-9_.]+/g, "-").replace(/^[-_.]+|[-_.]+$/g, "");
    dataset.value = suggested;
  };
  const choose = (files) => {
    input.files = files;
    input.dispatchEvent(new Event("change", { bubbles: true }));
  };
  input.addEventListener("change", () => {
    dataset.disabled = input.files.length > 1; // each is named after itself
    if (dataset.disabled) dataset.value = suggested = "";
    else if (input.files.length) suggest(input.files[0].name);
  });
  for (const type of ["dragenter", "dragover"]) {
    document.addEventListener(type, (event) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  document.addEventListener("dragleave", (event) => event.relatedTarget || drop.classList.remove("over"));
  document.addEventListener("drop", (event) => {
    drop.classList.remove("over");
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    choose(event.dataTransfer.files);
  });
  document.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) {
      event.preventDefault();
      return choose(event.clipboardData.files);
    }
    const text = event.clipboardData.getData("text/plain");
    if (!/[\t\n]/.test(text) || event.target.matches("textarea")) return;
    event.preventDefault();
    table.closest("details").open = true;
    table.value = text;
    table.focus();
  });
  const leave = (event) => event.preventDefault();

  // upload sends a file and shows its progress. It returns the URL of the draft; empty if there is none.
  const upload = async (file, item) => {
    const bar = $("progress", item), failure = $(".failure", item), retry = $(".retry", item);
    failure.textContent = "";
    retry.hidden = true;
    for (;;) {
      bar.hidden = false;
      bar.value = 0;
      try {
        // An expired key is noticed before the file is sent: a server that rejects a large one closes the connection.
        if (!(await request(form.action))) throw new Error("Sending this file requires a key.");
        const { status, url, page } = await send(file, (share) => (bar.value = share));
        if (status < 300) return url;
        if ($(".lock form", page)) {
          if (await askKey(page)) continue;
          throw new Error("Sending this file requires a key.");
        }
        throw new Error($("[role=alert], .empty-state bdi", page)?.textContent ?? `The server is unavailable (${status}).`);
      } catch (error) {
        bar.hidden = true;
        failure.textContent = error instanceof TypeError ? "The connection was lost. Nothing is published, and the file is still here." : error.message;
        retry.hidden = false;
        announce(failure.textContent);
        return "";
      }
    }
  };

  const send = (file, progress) => new Promise((resolve, reject) => {
    const body = new FormData();
    body.append("namespace", $("#namespace").value);
    body.append("dataset", dataset.value);
    body.append("file", file, file.name);
    const xhr = new XMLHttpRequest();
    xhr.open("POST", form.action);
    for (const name in headers) xhr.setRequestHeader(name, headers[name]);
    xhr.upload.addEventListener("progress", ({ loaded, total }) => progress(loaded / total));
    xhr.addEventListener("load", () => resolve({ status: xhr.status, url: xhr.responseURL, page: parse(xhr.responseText) }));
    xhr.addEventListener("error", () => reject(new TypeError("network")));
    xhr.send(body);
  });

  let sending = false;
  // sendAll sends the files that are listed and not sent yet.
  const sendAll = async (items) => {
    if (sending) return;
    sending = true;
    addEventListener("beforeunload", leave);
    const urls = [];
    for (const [item, file] of items) {
      const url = await upload(file, item);
      if (!url) continue;
      urls.push(url);
      items.delete(item);
      item.dataset.sent = "";
      $(".retry", item).hidden = true;
    }
    removeEventListener("beforeunload", leave);
    sending = false;
    if (items.size) {
      $(".retry:not([hidden])", list)?.focus();
      return;
    }
    location.assign(list.children.length === 1 ? urls[0] : form.action);
  };

  form.addEventListener("submit", (event) => {
    const pasted = table.value.trim() && !input.files.length;
    if (!pasted && !input.files.length) return; // the server says what is missing
    if (pasted && !dataset.value) return;
    event.preventDefault();
    const text = table.value;
    const files = pasted ? [new File([text], text.includes("\t") ? "pasted.tsv" : "pasted.csv")] : [...input.files];
    const items = new Map();
    list.replaceChildren();
    list.hidden = false;
    for (const file of files) {
      const item = $("#sending-file").content.firstElementChild.cloneNode(true);
      $(".name", item).textContent = file.name;
      $(".retry", item).addEventListener("click", () => sendAll(items));
      items.set(item, file);
      list.append(item);
    }
    sendAll(items);
  });
}
