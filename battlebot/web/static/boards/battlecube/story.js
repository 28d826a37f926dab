// A battle as frames, one per tick, made from its events in order. No drawing here.

// the cause of a loss that is shown as an explosion; other losers were not blown up
const ON_A_BOMB = "Player stepped on a BOMB";

const cell = ({ x, y, z }) => `${x},${y},${z}`;

/** The players' cells before a tick, and what each does in it. */
export class Frame {
  constructor({ gameInfo, players, items }) {
    this.tick = gameInfo.currentTick;
    this.edge = gameInfo.edgeLength;
    this.players = players;
    this.bombs = items;
    this.moved = new Map(); // name -> cell after the tick
    this.placed = [];
    this.lost = new Map(); // name -> cause
    this.is_last = false;
  }

  /** The player's cell after the tick. */
  after(player) {
    return this.moved.get(player.name) ?? player;
  }

  take(kind, data) {
    if (kind === "PLAYER_MOVE_ATTEMPT") this.moved.set(data.name, { x: data.x, y: data.y, z: data.z });
    if (kind === "PLAYER_PLACED_BOMB" && this.isInside(data)) this.placed.push({ x: data.x, y: data.y, z: data.z });
    if (kind === "PLAYER_LOST") this.lost.set(data.name, sentence(data.cause));
  }

  isInside({ x, y, z }) {
    return [x, y, z].every((place) => place >= 0 && place < this.edge);
  }

  /** Whether a player that has lost was blown up, rather than crashed, left the cube or fell silent. */
  explodes(player) {
    return this.lost.get(player.name) === ON_A_BOMB;
  }

  /** The last frame: what is left after the tick. */
  end() {
    const hit = new Set(this.players.filter((player) => this.isInside(this.after(player))).map((p) => cell(this.after(p))));
    const left = this.players.filter((player) => !this.lost.has(player.name));
    const last = new Frame({
      gameInfo: { currentTick: this.tick + 1, edgeLength: this.edge },
      players: left.map((player) => ({ name: player.name, ...this.after(player) })),
      items: [...this.bombs, ...this.placed].filter((bomb) => !hit.has(cell(bomb))),
    });
    last.is_last = true;
    return last;
  }
}

/** The frames so far. `players`: all names in order of first appearance. */
export class Story {
  constructor() {
    this.frames = [];
    this.players = [];
    this.over = false;
  }

  get last() {
    return this.frames.at(-1);
  }

  /** Takes the next event. */
  take([kind, data]) {
    if (kind !== "NEXT_TICK") return this.last?.take(kind, data);
    // told again: the setup changed before any bot was asked
    if (this.last?.tick === data.gameInfo.currentTick) this.frames.pop();
    this.frames.push(new Frame(data));
    for (const { name } of data.players) if (!this.players.includes(name)) this.players.push(name);
  }

  /** Marks the end of the events. */
  finish() {
    if (this.over || !this.last) return;
    this.over = true;
    this.frames.push(this.last.end());
  }

  /**
   * Takes the new events of a running battle's state; a state repeats its events whenever a bot has answered. Ticks
   * between the states seen are left out.
   */
  follow(state) {
    if (this.over || !Array.isArray(state.events)) return;
    const asked = state.events.filter(([kind]) => kind === "NEXT_TICK").length;
    // the events before the first NEXT_TICK belong to this tick
    let tick = state.currentTick - asked - (state.complete ? 1 : 0);
    for (const event of state.events) {
      if (event[0] === "NEXT_TICK") {
        tick = event[1].gameInfo.currentTick;
        const again = state.events.length === 1 && tick === this.last?.tick;
        if (!this.last || tick > this.last.tick || again) this.take(event);
      } else if (this.last?.tick === tick) {
        this.take(event);
      }
    }
    if (state.complete) this.finish();
  }
}

function sentence(cause) {
  return typeof cause === "string" ? cause : `No valid answer: ${JSON.stringify(cause)}`;
}
