// Steps through a finished match by links or keys, or plays it, without leaving the page. Without this script the links
// lead from page to page.

import { morph } from "./morph.js";

const PAUSE_MS = 400;

let playing = 0;
let steps = 0;

async function go(href) {
  const mine = ++steps;
  const answer = await fetch(href);
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  // the answer to a later step may have been quicker
  if (mine !== steps) return true;
  morph(document.getElementById("board"), page.getElementById("board").innerHTML);
  document.title = page.title;
  history.replaceState(null, "", href);
  prepare();
  return true;
}

function link(step) {
  return document.querySelector(`.replay a[data-step="${step}"]`)?.getAttribute("href");
}

function prepare() {
  const button = document.querySelector(".replay [data-play]");
  if (!button) return;
  button.hidden = false;
  button.textContent = playing ? "Stop" : "Play";
  // readers of the screen are told of each step, but not of those that pass by
  document.querySelector(".replay [role=status]").ariaLive = playing ? "off" : "polite";
}

async function play(mine) {
  if (!link("on") && !(await go(link("first")).catch(() => false))) return stop();
  while (playing === mine) {
    const next = link("on");
    if (!next || !(await go(next).catch(() => false))) return stop();
    await new Promise((done) => setTimeout(done, PAUSE_MS));
  }
}

function stop() {
  playing = 0;
  prepare();
}

/** Leaves the page for one that cannot be shown in it: it says why. */
async function keep(promise, href) {
  if (!(await promise.catch(() => false))) location.assign(href);
}

document.addEventListener("click", (event) => {
  if (event.target.closest(".replay [data-play]")) {
    if (playing) return stop();
    playing = Date.now();
    prepare();
    play(playing);
    return;
  }
  const anchor = event.target.closest(".replay a[href]");
  // leave clicks that open a new tab to the browser
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  stop();
  keep(go(anchor.getAttribute("href")), anchor.href);
});

document.addEventListener("keydown", (event) => {
  // ignore keys typed into a control and the browser's shortcuts
  if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.target.closest("input, select, textarea, button")) return;
  // who has gone to a part that is wider than its place wants to scroll it
  if (event.target.matches(".scroll") && event.target.scrollWidth > event.target.clientWidth) return;
  const anchor = document.querySelector(`.replay a[href][aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  if (event.key === " " && document.querySelector(".replay [data-play]")) {
    event.preventDefault();
    document.querySelector(".replay [data-play]").click();
  } else if (anchor) {
    event.preventDefault();
    stop();
    keep(go(anchor.getAttribute("href")), anchor.href);
  }
});

prepare();
// the page of a live match gets its links when the match is over
document.addEventListener("match", prepare);
