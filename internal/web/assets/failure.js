// A page that cannot be loaded: the rows stay, and a notice says so and offers to try again.

import { $, announce } from "./dom.js";

let retryVisit = null;

// showFailure shows why the page could not be loaded. retry loads it again.
export function showFailure(reason, retry) {
  hideFailure();
  retryVisit = retry;
  const notice = document.createElement("div");
  notice.className = "notice failed";
  const text = document.createElement("p");
  text.textContent = `${reason} The rows are those of the last view.`;
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Retry";
  button.addEventListener("click", retry);
  notice.append(text, button);
  document.getElementById("main").append(notice);
  announce(text.textContent);
}

// hideFailure removes the notice.
export function hideFailure() {
  retryVisit = null;
  $(".failed")?.remove();
}

addEventListener("online", () => retryVisit?.());
