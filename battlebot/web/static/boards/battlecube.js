// The viewer of a battlecube match, live and as a replay: the cube can be turned, stepped through and played.

import { latest } from "../live.js";
import { Colors } from "./battlecube/colors.js";
import { Cube, canDraw } from "./battlecube/cube.js";
import { Layers } from "./battlecube/layers.js";
import { Story } from "./battlecube/story.js";

const TICK_MS = 700; // at speed 1
const FIRST_PAUSE_MS = 1000; // before the story is asked for again
const LONGEST_PAUSE_MS = 30000;
const SPEEDS = [0.5, 1, 2, 4, 10];
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

class Viewer {
  constructor(root) {
    this.root = root;
    this.story = new Story();
    this.colors = new Colors();
    this.at = 0; // the frame's number, plus the elapsed fraction of its tick
    this.speed = 1;
    this.playing = false;
    this.following = true; // shows new frames as they arrive
    this.flat = !canDraw();
    this.build();
  }

  build() {
    const button = (name, label, act) => {
      const made = make("button", { type: "button", textContent: label, onclick: act });
      made.dataset.do = name;
      return made;
    };
    this.stage = make("div", { className: "stage" });
    this.slider = make("input", { type: "range", min: 0, max: 0, value: 0, step: 1, ariaLabel: "Tick" });
    this.slider.oninput = () => this.go(Number(this.slider.value));
    this.speeds = make("select", { ariaLabel: "Speed" }, ...SPEEDS.map((speed) => new Option(`${speed}\u00d7`, speed)));
    this.speeds.value = this.speed;
    this.speeds.onchange = () => (this.speed = Number(this.speeds.value));
    this.player = button("play", "Play", () => (this.playing ? this.pause() : this.play()));
    this.shape = button("shape", "Layers", () => this.reshape(!this.flat));
    this.tick = make("span", { className: "quiet" });
    this.tick.dataset.shown = "tick";
    this.happened = make("p", { className: "happened", role: "status" });
    this.legend = make("ul", { className: "legend" });
    const controls = make("div", { className: "controls" });
    controls.append(
      button("first", "First", () => this.go(0)),
      button("back", "Back", () => this.go(Math.ceil(this.at) - 1)),
      this.player,
      button("on", "On", () => this.step()),
      button("last", "Last", () => this.go(this.story.frames.length - 1)),
      this.slider,
      this.speeds,
      button("nearer", "+", () => this.view.zoom(1.2)),
      button("farther", "\u2212", () => this.view.zoom(1 / 1.2)),
      this.shape,
    );
    controls.querySelector("[data-do=nearer]").ariaLabel = "Nearer";
    controls.querySelector("[data-do=farther]").ariaLabel = "Farther";
    this.root.replaceChildren(this.stage, controls, this.tick, this.happened, this.legend);
    this.reshape(this.flat);
  }

  reshape(flat) {
    this.view?.close();
    this.flat = flat;
    this.root.dataset.view = flat ? "layers" : "cube";
    this.shape.textContent = flat ? "Cube" : "Layers";
    this.shape.hidden = flat && !canDraw();
    this.view = flat ? new Layers(this.stage, this.colors) : new Cube(this.stage, this.colors, () => this.reshape(true));
    this.show();
  }

  /** Takes a live match's state. */
  follow(state) {
    this.story.follow(state);
    this.grown();
    if (this.following && !this.playing) this.glide(Math.max(0, this.story.frames.length - 1));
  }

  /** Loads the whole story, which replaces what was seen live. False if there is none; throws if it cannot be had now. */
  async load(address) {
    const answer = await fetch(address);
    if (answer.status === 404) return false;
    if (!answer.ok) throw new Error(`The story was answered by ${answer.status}.`);
    const lines = (await answer.text()).split("\n").filter(Boolean);
    const story = new Story();
    for (const line of lines) story.take(JSON.parse(line));
    story.finish();
    const [before, shown] = [this.story.frames[Math.floor(this.at)]?.tick, this.story.frames.length];
    this.story = story;
    const same = story.frames.findIndex((frame) => frame.tick === before);
    this.at = shown && same >= 0 ? same : 0;
    this.grown();
    return true;
  }

  grown() {
    const { frames, players } = this.story;
    this.slider.max = Math.max(0, frames.length - 1);
    if (this.legend.children.length !== players.length) {
      this.legend.replaceChildren(
        ...players.map((name) => {
          const mark = make("b", { textContent: this.colors.of(name).number });
          this.colors.paint(mark, name);
          return make("li", {}, mark, make("bdi", { textContent: name }));
        }),
      );
    }
    this.show();
  }

  get end() {
    return this.story.frames.length - 1;
  }

  go(index) {
    this.pause();
    this.at = Math.min(this.end, Math.max(0, index));
    this.following = this.at === this.end;
    this.show();
  }

  step() {
    this.pause();
    this.glide(Math.min(this.end, Math.floor(this.at) + 1));
  }

  play() {
    if (this.at >= this.end) this.at = 0;
    this.playing = true;
    this.player.textContent = "Stop";
    this.run(() => (this.playing ? this.end : this.at));
  }

  pause() {
    this.playing = false;
    this.running = null;
    this.player.textContent = "Play";
  }

  /** Moves on to a frame tick by tick; jumps if it is far away. */
  glide(index) {
    if (calm.matches || index - this.at > 3 || index < this.at) this.at = index;
    this.following = index === this.end;
    this.show();
    if (this.at < index) this.run(() => index);
  }

  run(goal) {
    const mine = (this.running = Symbol("run"));
    let before = performance.now();
    const frame = (now) => {
      if (this.running !== mine) return;
      const ticks = (Math.max(0, now - before) * this.speed) / TICK_MS;
      before = now;
      this.at = Math.min(goal(), this.at + ticks);
      this.show();
      if (this.at < goal()) requestAnimationFrame(frame);
      else this.pause();
    };
    requestAnimationFrame(frame);
  }

  show() {
    const index = Math.floor(this.at);
    const frame = this.story.frames[index];
    if (!frame) return;
    this.view.draw(frame, calm.matches ? 0 : this.at - index);
    this.slider.value = index;
    this.root.dataset.frame = index;
    this.root.dataset.tick = frame.tick;
    this.tick.textContent = frame.is_last ? `after tick ${frame.tick - 1}, the last` : `tick ${frame.tick}`;
    const before = this.story.frames[index - 1];
    const lost = before && before.tick === frame.tick - 1 ? [...before.lost] : [];
    const parts = lost.flatMap(([name, cause]) => [make("bdi", { textContent: name }), ` is out. ${cause}. `]);
    // written again, it would be read out again: a tick is drawn many times
    if (this.happened.textContent !== parts.map((part) => part.textContent ?? part).join("")) this.happened.replaceChildren(...parts);
    const here = new Set(frame.players.map(({ name }) => name));
    this.story.players.forEach((name, at) => this.legend.children[at]?.classList.toggle("out", !here.has(name)));
  }
}

const root = document.getElementById("viewer");
const viewer = new Viewer(root);
let loading = false;

async function load() {
  if (loading) return;
  loading = true;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      const told = await viewer.load(root.dataset.story);
      root.dataset.loaded = told ? "yes" : "none";
      root.hidden = !told && !viewer.story.frames.length;
      return;
    } catch (error) {
      console.warn(error);
      viewer.happened.textContent = "The battle cannot be loaded at the moment; trying again.";
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
}

function follow(data) {
  viewer.follow(data.state);
  if (data.final) load();
}

if (document.body.dataset.events) {
  document.addEventListener("match", ({ detail }) => follow(detail));
  if (latest.data) follow(latest.data);
} else {
  load();
}
