// Light and dark theme. The server reads the cookie, so that the page is rendered in the selected theme.

import { on } from "./dom.js";

on("click", "[data-theme-toggle]", () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `herbarium_theme=${root.dataset.theme}; Path=${root.dataset.base}/; Max-Age=31536000; SameSite=Lax${secure}`;
});
