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

// space between rows is nothing to see, but would be matched in the place of rows
function withoutSpace(part) {
  for (const rows of part.querySelectorAll("ul, table, thead, tbody, tr")) {
    for (const child of [...rows.childNodes]) if (child.nodeType === Node.TEXT_NODE) child.remove();
  }
}

/** Changes the content of `element` into `html`. */
export function morph(element, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  withoutSpace(template.content);
  withoutSpace(element);
  // rows that change places lose it on their way
  const scrolled = [...element.querySelectorAll(".scroll, pre")].map((one) => [one, one.scrollLeft, one.scrollTop]);
  Idiomorph.morph(element, [...template.content.childNodes], { morphStyle: "innerHTML", callbacks });
  for (const [one, left, top] of scrolled) one.scrollTo(left, top);
}
