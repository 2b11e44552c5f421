// Copying and sharing.

import { $, $$, announce, on } from "./dom.js";

// copyText copies a text, and tells screen readers whether it did.
export async function copyText(text, what) {
  const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false) || copyByCommand(text);
  announce(copied ? `${what} copied` : `${what} cannot be copied`);
  return copied;
}

// copyByCommand copies a text on pages that are not served over https, which have no clipboard.
function copyByCommand(text) {
  const write = (event) => {
    event.clipboardData.setData("text/plain", text);
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("copy", write, { capture: true });
  const copied = document.execCommand("copy");
  removeEventListener("copy", write, { capture: true });
  return copied;
}

// confirmOn shows on a button for a moment what it did.
function confirmOn(button, text) {
  const label = button.dataset.label ??= button.textContent;
  button.textContent = text;
  setTimeout(() => (button.textContent = label), 1600);
}

on("click", "button[data-copy]", async (event, button) => {
  const code = $("code", button.closest(".code"));
  if (await copyText(code.dataset.url ?? code.textContent, "Code")) return confirmOn(button, "Copied");
  getSelection().selectAllChildren(code);
  confirmOn(button, "Press Ctrl+C");
});

on("click", "button[data-share]", async (event, button) => {
  const isTouch = matchMedia("(pointer: coarse)").matches;
  if (isTouch && navigator.share) return navigator.share({ title: document.title, url: location.href }).catch(() => {});
  confirmOn(button, await copyText(location.href, "Link") ? "Link copied" : "Copy the address");
});

// Copying a formatted value copies the value as the dataset has it.
document.addEventListener("copy", (event) => {
  const selection = getSelection();
  /** @type {HTMLElement} */
  const element = selection.anchorNode?.parentElement?.closest("[data-raw], .tags");
  if (!element?.contains(selection.focusNode) || selection.toString().trim() !== element.textContent.trim()) return;
  event.clipboardData.setData("text/plain", shownValue(element));
  event.preventDefault();
});

// shownValue returns the value of a cell as the dataset has it. Most lists are written with commas between the tags.
export function shownValue(cell) {
  const source = $("a, img", cell), tags = $$(".tag", cell).map((tag) => tag.textContent);
  return cell.dataset.raw ?? source?.getAttribute("href") ?? source?.getAttribute("src") ?? (tags.join() || cell.textContent);
}
