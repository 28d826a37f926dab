// Changes a part of the page into what the server has rendered, and leaves alone what is the same: focus, selections and
// scrolled parts stay. Rows with an `id` are recognised wherever they have moved to.

import { Idiomorph } from "./vendor/idiomorph.js";

// opened or closed by the viewer, and left so
const toggled = new WeakSet();

document.addEventListener("click", ({ target }) => {
  const details = target.closest("summary")?.parentElement;
  if (details) toggled.add(details);
});

const callbacks = { beforeAttributeUpdated: (name, element) => name !== "open" || !toggled.has(element) };

/** Changes the content of `element` into `html`. */
export function morph(element, html) {
  Idiomorph.morph(element, html, { morphStyle: "innerHTML", callbacks });
}
