// Sending files to publish: chosen, dropped or pasted ones are sent one after the other, with their progress. The script sends the
// form of the page, which works without it.

import { $, announce } from "./app.js";
import { askKey, headers, parsePage, request } from "./ask-key.js";

const form = $("#send");
const input = $("#file"), list = $(".sending"), dataset = $("#dataset"), table = $("#table"), drop = $(".drop");
const choose = (files) => {
  input.files = files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
};
const isDescriptor = (file) => /^datapackage\.(json|ya?ml)$/.test(file.name); // it is sent with each file
input.addEventListener("change", () => {
  dataset.disabled = [...input.files].filter((file) => !isDescriptor(file)).length > 1; // each is named after itself
  if (dataset.disabled) dataset.value = "";
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
    } catch (/** @type {any} */ error) {
      bar.hidden = true;
      failure.textContent = error instanceof TypeError ? "The connection was lost. Nothing is published, and the file is still here." : String(error.message);
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
  if (descriptor) body.append("file", descriptor, descriptor.name);
  if (file !== descriptor) body.append("file", file, file.name);
  const xhr = new XMLHttpRequest();
  xhr.open("POST", form.action);
  for (const name in headers) xhr.setRequestHeader(name, headers[name]);
  xhr.upload.addEventListener("progress", ({ loaded, total }) => progress(loaded / total));
  xhr.addEventListener("load", () => resolve({ status: xhr.status, url: xhr.responseURL, page: parsePage(xhr.responseText) }));
  xhr.addEventListener("error", () => reject(new TypeError("network")));
  xhr.send(body);
});

let descriptor; // of the files; undefined: none was chosen
let sending = false;
let sent = []; // URLs of the drafts of this choice of files
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
  sent.push(...urls);
  if (items.size) {
    await showDrafts();
    $(".retry:not([hidden])", list)?.focus();
    return;
  }
  const drafts = sent.map((url) => "draft=" + new URL(url).pathname.split("/").at(-1));
  location.assign(sent.length === 1 ? sent[0] : `${form.action}-all?${drafts.join("&")}`);
};

// showDrafts shows the files that wait by now.
const showDrafts = async () => {
  const answer = await request(form.action).catch(() => null);
  const now = answer && $(".drafts", answer.page);
  $(".drafts")?.remove();
  if (now) $("#main").append(now);
};

form.addEventListener("submit", (event) => {
  const pasted = table.value.trim() && !input.files.length;
  if (!pasted && !input.files.length) return; // the server says what is missing
  if (pasted && !dataset.value) return;
  event.preventDefault();
  const text = table.value;
  const files = pasted ? [new File([text], text.includes("\t") ? "pasted.tsv" : "pasted.csv")] : [...input.files];
  descriptor = files.find(isDescriptor);
  if (descriptor && files.length > 1) files.splice(files.indexOf(descriptor), 1);
  const items = new Map();
  sent = [];
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
