// Keeps a page's sections up to date: its stream sends them as HTML, rendered and escaped on the server.

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30000;

// for scripts that draw the page's content: the last message; each message also fires the document's event `match`
export const latest = { data: null };

const address = document.body.dataset.events;
const status = document.getElementById("live-status");
const shown = new Map();
let pauseMs = FIRST_PAUSE_MS;
let source;

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
    // leave unchanged sections alone: text may be selected or scrolled there
    if (shown.get(id) === html) continue;
    shown.set(id, html);
    const template = document.createElement("template");
    template.innerHTML = html;
    document.getElementById(id)?.replaceChildren(template.content);
  }
}

function listen() {
  source = new EventSource(address);
  source.onmessage = (message) => {
    pauseMs = FIRST_PAUSE_MS;
    const data = JSON.parse(message.data);
    show(data.sections);
    latest.data = data;
    document.dispatchEvent(new CustomEvent("match", { detail: data }));
    if (data.final) {
      source.close();
      say("final", "over");
    } else {
      say("live", "on");
    }
  };
  source.addEventListener("gone", () => {
    source.close();
    say("no longer there", "over");
  });
  source.addEventListener("unavailable", () => say("waiting for the server", "off"));
  source.onerror = () => {
    say("connection lost, trying again", "off");
    // the browser reconnects by itself unless the response was an error
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(listen, pauseMs);
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
  };
}

if (address) {
  listen();
  addEventListener("pagehide", () => source.close());
  // who comes back to a page that the browser has kept: its stream ended when it was left
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
