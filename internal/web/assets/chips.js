// Filters that do not fit into the bar: a button says how many, and shows them all.

import { $, $$, on, onShow } from "./dom.js";

const chipList = () => $(".sheet > .chips");

// countHidden counts the filters that are wrapped out of view.
function countHidden() {
  const list = chipList(), button = $(".more-chips");
  if (!list || !button || list.classList.contains("all")) return;
  button.hidden = true;
  if (!list.clientHeight) return; // phones show the filters on request, and then all
  const chips = $$(".chip", list);
  const count = () => chips.filter((chip) => chip.offsetTop - list.offsetTop >= list.clientHeight).length;
  if (!count()) return;
  button.hidden = false;
  button.textContent = "+9"; // it takes some space of the chips
  button.textContent = `+${count()}`;
  button.setAttribute("aria-label", `+${count()} more filters`);
}

function toggleChips(all) {
  chipList().classList.toggle("all", all);
  $(".more-chips").setAttribute("aria-expanded", all);
  if (!all) countHidden();
}

on("click", ".more-chips", () => toggleChips(!chipList().classList.contains("all")));
document.addEventListener("click", ({ target }) => {
  if ($(".chips.all") && target.isConnected && !target.closest(".chips, .more-chips")) toggleChips(false);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !$(".chips.all") || $(".chips.all details[open]")) return;
  event.preventDefault(); // it closes nothing else
  toggleChips(false);
  $(".more-chips").focus();
});

addEventListener("resize", countHidden);
document.fonts.ready.then(countHidden);
onShow(countHidden);
