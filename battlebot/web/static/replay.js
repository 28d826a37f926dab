// Steps through a finished match without leaving the page, and plays it. Without it the links lead from page to page.

const PAUSE_MS = 400;

let playing = 0;

async function go(href) {
  const answer = await fetch(href);
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  document.getElementById("board").replaceChildren(...page.getElementById("board").childNodes);
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
}

async function play(mine) {
  if (!link("on") && !(await go(link("first")))) return stop();
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

document.addEventListener("click", (event) => {
  if (event.target.closest(".replay [data-play]")) {
    if (playing) return stop();
    playing = Date.now();
    prepare();
    play(playing);
    return;
  }
  const anchor = event.target.closest(".replay a[href]");
  // a click that asks for a new tab is the browser's
  if (!anchor || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  stop();
  go(anchor.getAttribute("href")).catch(() => location.assign(anchor.href));
});

prepare();
