// Keeps a page's sections up to date: its stream sends them as HTML, rendered and escaped on the server.

import { morph } from "./morph.js";

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30000;
// the server sends something every 15 s; of a connection that ended while the computer slept, nobody tells the browser
const SILENT_MS = 40000;
const LOOK_MS = 5000;
// who looks at another tab for a moment has not left: each new stream takes a place at the server
const HIDDEN_MS = 3000;

// for scripts that draw the page's content: the last message; each message also fires the document's event `match`
export const latest = { data: null };

const address = document.body.dataset.events;
const status = document.getElementById("live-status");
const shown = new Map();
let pauseMs = FIRST_PAUSE_MS;
let heardMs = 0;
let source;
let retry;
let leaving;
let isOver = false;

function say(text, state) {
  if (!status) return;
  status.hidden = false;
  status.dataset.state = state;
  const words = status.querySelector(".text");
  // written again, it would be read out again
  if (words.textContent !== text) words.textContent = text;
}

function show(sections) {
  for (const [id, html] of Object.entries(sections ?? {})) {
    if (shown.get(id) === html) continue;
    shown.set(id, html);
    const section = document.getElementById(id);
    if (section) morph(section, html);
  }
}

function listen() {
  clearTimeout(retry);
  heardMs = Date.now();
  source = new EventSource(`${address}?alive=1`);
  const on = (name, handle) =>
    source.addEventListener(name, (event) => {
      heardMs = Date.now();
      handle?.(event);
    });
  on("alive");
  on("message", (message) => {
    pauseMs = FIRST_PAUSE_MS;
    const data = JSON.parse(message.data);
    show(data.sections);
    if (data.title) document.title = data.title;
    latest.data = data;
    document.dispatchEvent(new CustomEvent("match", { detail: data }));
    if (data.final) end("final");
    else say("live", "on");
  });
  on("gone", () => end("no longer there"));
  on("unavailable", () => say("waiting for the server", "off"));
  source.onerror = () => {
    lost();
    // the browser reconnects by itself unless the response was an error
    if (source.readyState !== EventSource.CLOSED) return;
    retry = setTimeout(again, pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  };
}

function lost() {
  say("connection lost, trying again", "off");
}

function end(text) {
  isOver = true;
  source.close();
  say(text, "over");
}

/** Listens again, unless the page is no longer there: why a stream was refused is not told. */
async function again() {
  if (!isWanted()) return;
  const answer = await fetch(location.href, { method: "HEAD", signal: AbortSignal.timeout(SILENT_MS) }).catch(() => null);
  if (!isWanted()) return;
  if (answer?.status === 404) end("no longer there");
  else listen();
}

function isWanted() {
  return !isOver && !document.hidden && (!source || source.readyState === EventSource.CLOSED);
}

// a browser has six connections to a server: tabs that nobody sees must leave some to the others
function turn() {
  clearTimeout(leaving);
  if (document.hidden) leaving = setTimeout(() => source?.close(), HIDDEN_MS);
  else if (isWanted()) {
    if (source) say("waiting for the server", "off");
    listen();
  }
}

function check() {
  if (!source || source.readyState === EventSource.CLOSED || Date.now() - heardMs < SILENT_MS) return;
  source.close();
  lost();
  listen();
}

if (address) {
  turn();
  setInterval(check, LOOK_MS);
  document.addEventListener("visibilitychange", turn);
  addEventListener("pagehide", () => source?.close());
  // who comes back to a page that the browser has kept: its stream ended when it was left
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
