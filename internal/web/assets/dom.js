// Short names for the DOM, shared by all modules.

/** @type {(selector: string, from?: ParentNode) => any} */
export const $ = (selector, from = document) => from.querySelector(selector);
/** @type {(selector: string, from?: ParentNode) => any[]} */
export const $$ = (selector, from = document) => [...from.querySelectorAll(selector)];

// swap returns the part of the page that navigation replaces; null on pages that are loaded as a whole.
export const swap = () => document.getElementById("swap");

// on registers a delegated listener: handle is called with the event and the closest element that matches the selector.
/** @type {(type: string, selector: string, handle: (event: any, element: any) => void, options?: boolean) => void} */
export function on(type, selector, handle, options) {
  document.addEventListener(type, (event) => {
    const element = event.target.closest?.(selector);
    if (element) handle(event, element);
  }, options);
}

// announce tells screen readers what changed.
export function announce(text) {
  document.getElementById("status").textContent = text.trim();
}

// grid returns the scroll area of the rows; null in other views.
export const grid = () => document.getElementById("grid");

// onShow registers a function that initializes new content: it is called after the page is loaded and after each navigation.
// Its event says in detail.top where other rows than before begin to be shown.
/** @type {(initialize: (event: any) => void) => void} */
export const onShow = (initialize) => document.addEventListener("shown", initialize);
