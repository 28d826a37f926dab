// The cube in three dimensions: players are cubes with a line to the floor, bombs are balls, hits are flashes.
// X goes to the right, Y down and Z back, as in the bots' coordinates.

import { Box, Camera, Geometry, Mesh, Program, Renderer, Sphere, Transform, Vec3 } from "../../vendor/ogl.js";

const MOST = 8192; // things drawn of each kind
const MOST_NAMED = 16; // players with their names beside them
const CONTEXT = { antialias: true, alpha: true, premultipliedAlpha: true };
const SCARLET = [0.94, 0.24, 0.2];
const SOOT = [0.34, 0.36, 0.44];
const FLASH = [1, 0.72, 0.2];

const SOLID = {
  vertex: `
    attribute vec3 position, normal, offset, tint;
    attribute float size;
    uniform mat4 modelViewMatrix, projectionMatrix;
    uniform mat3 normalMatrix;
    varying vec3 vNormal, vTint;
    void main() {
      vNormal = normalize(normalMatrix * normal);
      vTint = tint;
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position * size + offset, 1.0);
    }`,
  fragment: `
    precision highp float;
    uniform float uAlpha;
    varying vec3 vNormal, vTint;
    void main() {
      float light = 0.55 + 0.45 * max(0.0, dot(normalize(vNormal), normalize(vec3(0.35, 0.8, 0.6))));
      gl_FragColor = vec4(vTint * light, 1.0) * uAlpha;
    }`,
};
const LINES = {
  vertex: `
    attribute vec3 position, tint;
    uniform mat4 modelViewMatrix, projectionMatrix;
    varying vec3 vTint;
    void main() {
      vTint = tint;
      gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    }`,
  fragment: `
    precision highp float;
    uniform float uAlpha;
    varying vec3 vTint;
    void main() { gl_FragColor = vec4(vTint, 1.0) * uAlpha; }`,
};

// a page may have a few contexts only: with one more the browser ends the oldest
function release(gl) {
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
}

/** Whether this browser can draw in three dimensions. */
export function canDraw() {
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", CONTEXT) ?? canvas.getContext("webgl", CONTEXT);
  release(gl);
  return Boolean(gl);
}

/** Many things of one shape, drawn by one call. */
class Swarm {
  constructor(gl, scene, geometry, alpha = 1) {
    this.data = { offset: new Float32Array(3 * MOST), tint: new Float32Array(3 * MOST), size: new Float32Array(MOST) };
    for (const [name, data] of Object.entries(this.data)) {
      geometry.addAttribute(name, { instanced: 1, size: name === "size" ? 1 : 3, data });
    }
    const transparent = alpha < 1;
    const program = new Program(gl, { ...SOLID, uniforms: { uAlpha: { value: alpha } }, transparent, depthWrite: !transparent });
    this.mesh = new Mesh(gl, { geometry, program, frustumCulled: false });
    this.mesh.setParent(scene);
  }

  /** `things`: {at: [x, y, z], tint: [r, g, b], size}. */
  show(things) {
    const count = Math.min(things.length, MOST);
    for (let i = 0; i < count; i += 1) {
      this.data.offset.set(things[i].at, 3 * i);
      this.data.tint.set(things[i].tint, 3 * i);
      this.data.size[i] = things[i].size;
    }
    const { geometry } = this.mesh;
    for (const name of Object.keys(this.data)) geometry.attributes[name].needsUpdate = true;
    geometry.instancedCount = count;
    this.mesh.visible = count > 0;
  }
}

/** Lines of one transparency, rebuilt when they change. */
class Wires {
  constructor(gl, scene, alpha) {
    this.gl = gl;
    this.scene = scene;
    this.program = new Program(gl, { ...LINES, uniforms: { uAlpha: { value: alpha } }, transparent: true, depthWrite: false });
  }

  /** `lines`: [from, to, tint]. */
  show(lines) {
    this.mesh?.setParent(null);
    this.mesh?.geometry.remove();
    this.mesh = null;
    if (!lines.length) return;
    const position = new Float32Array(lines.flatMap(([from, to]) => [...from, ...to]));
    const tint = new Float32Array(lines.flatMap(([, , color]) => [...color, ...color]));
    const geometry = new Geometry(this.gl, { position: { size: 3, data: position }, tint: { size: 3, data: tint } });
    this.mesh = new Mesh(this.gl, { mode: this.gl.LINES, geometry, program: this.program, frustumCulled: false });
    this.mesh.setParent(this.scene);
  }
}

/** Draws frames into `element`. Call `close` before another view replaces it; calls `onLost` if it must be replaced. */
export class Cube {
  constructor(element, colors, onLost) {
    this.colors = colors;
    this.canvas = document.createElement("canvas");
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", "The cube; drag it, or press the arrow keys, to turn it");
    this.names = document.createElement("div");
    this.names.className = "names";
    element.replaceChildren(this.canvas, this.names);
    this.renderer = new Renderer({ canvas: this.canvas, dpr: Math.min(devicePixelRatio, 2), ...CONTEXT });
    const { gl } = this.renderer;
    gl.clearColor(0, 0, 0, 0);
    this.scene = new Transform();
    this.camera = new Camera(gl, { fov: 35, near: 0.1, far: 1000 });
    this.outline = new Wires(gl, this.scene, 0.55);
    this.floor = new Wires(gl, this.scene, 0.22);
    this.drops = new Wires(gl, this.scene, 0.5);
    this.players = new Swarm(gl, this.scene, new Box(gl));
    this.bombs = new Swarm(gl, this.scene, new Sphere(gl, { widthSegments: 18 }));
    this.flashes = new Swarm(gl, this.scene, new Sphere(gl, { widthSegments: 18 }), 0.45);
    this.turn = 0.55; // about the vertical, radians
    this.tilt = 0.42;
    this.near = 1;
    this.edge = 0;
    this.closing = new AbortController();
    this.listen(element, onLost);
  }

  close() {
    this.closing.abort();
    this.resizing.disconnect();
    release(this.renderer.gl);
  }

  /** Draws the frame at `progress` (0 to 1) of its tick. */
  draw(frame, progress) {
    this.frame = frame;
    this.progress = progress;
    if (frame.edge !== this.edge) this.build(frame.edge);
    this.place(frame, progress);
    this.render();
  }

  /** Moves the camera closer by a factor. */
  zoom(factor) {
    this.near = Math.min(3, Math.max(0.5, this.near * factor));
    this.render();
  }

  listen(element, onLost) {
    const { signal } = this.closing;
    const on = (name, handle) => this.canvas.addEventListener(name, handle, { signal });
    let held = null;
    on("pointerdown", (event) => {
      held = [event.clientX, event.clientY];
      this.canvas.setPointerCapture(event.pointerId);
    });
    on("pointermove", (event) => {
      if (!held) return;
      this.rotate((event.clientX - held[0]) / 150, (event.clientY - held[1]) / 150);
      held = [event.clientX, event.clientY];
    });
    for (const name of ["pointerup", "pointercancel"]) on(name, () => (held = null));
    const steps = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] };
    on("keydown", (event) => {
      if (!steps[event.key]) return;
      event.preventDefault();
      this.rotate(...steps[event.key]);
    });
    on("webglcontextlost", () => signal.aborted || onLost());
    this.resizing = new ResizeObserver(() => this.render());
    this.resizing.observe(element);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.build(this.edge), { signal });
  }

  rotate(turn, tilt) {
    this.turn -= turn;
    this.tilt = Math.min(1.5, Math.max(-1.5, this.tilt + tilt));
    this.render();
  }

  /** A cell's center in the scene, where the cube's center is the origin, Y goes up and Z to the front. */
  at({ x, y, z }) {
    const middle = (this.edge - 1) / 2;
    return [x - middle, middle - y, middle - z];
  }

  build(edge) {
    this.edge = edge;
    this.ink = inkOf(this.canvas);
    const half = edge / 2;
    const ends = [-half, half];
    const lines = [];
    for (const a of ends) {
      for (const b of ends) {
        lines.push([[-half, a, b], [half, a, b], this.ink], [[a, -half, b], [a, half, b], this.ink]);
        lines.push([[a, b, -half], [a, b, half], this.ink]);
      }
    }
    this.outline.show(lines);
    const grid = [];
    for (let k = 1; k < edge; k += 1) {
      const at = k - half;
      grid.push([[at, -half, -half], [at, -half, half], this.ink], [[-half, -half, at], [half, -half, at], this.ink]);
    }
    this.floor.show(grid);
    if (this.frame) this.draw(this.frame, this.progress);
  }

  place(frame, progress) {
    const way = Math.min(1, progress / 0.6);
    const fate = Math.max(0, (progress - 0.6) / 0.4);
    const cubes = [];
    const flashes = [];
    this.named = [];
    for (const player of frame.players) {
      const from = this.at(player);
      const to = this.at(frame.after(player));
      const at = from.map((place, axis) => place + way * (to[axis] - place));
      const lost = frame.lost.has(player.name);
      const tint = this.colors.of(player.name).rgb;
      cubes.push({ at, tint, size: 0.72 * (lost ? 1 - fate : 1) });
      this.named.push({ name: player.name, at, lost });
      if (lost && fate > 0) flashes.push({ at, tint: frame.explodes(player) ? SCARLET : FLASH, size: 0.5 + 1.6 * fate });
    }
    const balls = frame.bombs.map((bomb) => ({ at: this.at(bomb), tint: SOOT, size: 0.62 }));
    for (const bomb of frame.placed) balls.push({ at: this.at(bomb), tint: SCARLET, size: 0.62 * way });
    this.players.show(cubes);
    this.bombs.show(balls);
    this.flashes.show(flashes);
    const floor = -this.edge / 2;
    this.drops.show(cubes.map(({ at, tint }) => [at, [at[0], floor, at[2]], tint]));
  }

  render() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (!this.frame || !width || !height) return;
    this.renderer.setSize(width, height);
    const distance = (2.5 * this.edge + 2.7) / this.near / Math.min(1, width / height);
    const [turn, tilt] = [this.turn, this.tilt];
    this.camera.perspective({ aspect: width / height });
    this.camera.position.set(
      distance * Math.sin(turn) * Math.cos(tilt),
      distance * Math.sin(tilt),
      distance * Math.cos(turn) * Math.cos(tilt),
    );
    this.camera.lookAt([0, 0, 0]);
    this.renderer.render({ scene: this.scene, camera: this.camera });
    this.label(width, height);
  }

  label(width, height) {
    const shown = this.named.length > MOST_NAMED ? [] : this.named;
    while (this.names.children.length > shown.length) this.names.lastChild.remove();
    while (this.names.children.length < shown.length) this.names.append(document.createElement("bdi"));
    shown.forEach(({ name, at, lost }, index) => {
      const label = this.names.children[index];
      const spot = new Vec3(at[0], at[1] + 0.6, at[2]);
      this.camera.project(spot);
      label.textContent = name;
      label.classList.toggle("lost", lost);
      label.style.borderColor = this.colors.of(name).css;
      label.style.transform = `translate(-50%, -100%) translate(${((spot.x + 1) / 2) * width}px, ${((1 - spot.y) / 2) * height}px)`;
    });
  }
}

/** The text color of an element, as numbers from 0 to 1. */
function inkOf(element) {
  const [r, g, b] = getComputedStyle(element).color.match(/[\d.]+/g).map(Number);
  return [r / 255, g / 255, b / 255];
}
