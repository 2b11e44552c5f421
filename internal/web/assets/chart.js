// The chart: exact values at the pointer and the focus, arrow keys between its parts, and the picture as a PNG file.

import { hidePart } from "./chart-tips.js";

const plots = () => [...document.querySelectorAll(".plot")];
const hits = (plot) => [...plot.querySelectorAll(".hits > *")]; // links, or marks without rows to lead to
const hitOf = (event) => event.target.closest?.(".plot .hits > *");

// enhance replaces the titles by tips, and makes each chart one Tab stop.
function enhance() {
  for (const title of document.querySelectorAll(".plot .hits title")) title.remove();
  for (const plot of plots()) hits(plot).forEach((a, i) => a.setAttribute("tabindex", i ? "-1" : "0"));
}

document.addEventListener("keydown", (event) => {
  const a = hitOf(event);
  if (!a || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = hits(a.closest(".plot")), at = all.indexOf(a);
  const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key];
  if (to === undefined || !all[to]) return;
  event.preventDefault();
  a.setAttribute("tabindex", "-1");
  all[to].setAttribute("tabindex", "0");
  all[to].focus();
});

// savePNG draws the SVG file on a canvas and saves it.
async function savePNG({ png, name }) {
  const image = new Image();
  image.src = png;
  await image.decode();
  const scale = 2, canvas = document.createElement("canvas");
  canvas.width = image.naturalWidth * scale;
  canvas.height = image.naturalHeight * scale;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-png]");
  if (button) savePNG(button.dataset);
});

// selectName selects the name of a column in the focused box of the sentence, so that another one can be typed.
function selectName() {
  const box = document.activeElement;
  if (box.matches(".sentence [list]")) box.select();
}

document.addEventListener("focusin", selectName);
document.addEventListener("shown", () => (hidePart(), enhance(), selectName()));
enhance();
