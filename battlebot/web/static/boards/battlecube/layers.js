// The cube as tables, one per layer from front to back; for a large cube, a list of things and their cells.

const LARGEST = 16; // cells along an edge of a table

/** Draws frames into `element` if drawing in three dimensions is not possible or not wanted. */
export class Layers {
  constructor(element, colors) {
    this.element = element;
    this.colors = colors;
  }

  close() {
    this.element.replaceChildren();
  }

  zoom() {}

  /** Draws the frame as it is before its tick. */
  draw(frame) {
    if (this.frame === frame) return;
    this.frame = frame;
    const things = new Map();
    const put = ({ x, y, z }, thing) => things.set(`${x},${y},${z}`, [...(things.get(`${x},${y},${z}`) ?? []), thing]);
    for (const player of frame.players) put(player, { player: player.name });
    for (const bomb of frame.bombs) put(bomb, {});
    const box = document.createElement("div");
    box.className = "layers";
    if (frame.edge > LARGEST) box.append(this.list(frame));
    else for (let z = 0; z < frame.edge; z += 1) box.append(this.layer(frame.edge, z, things));
    this.element.replaceChildren(box);
  }

  layer(edge, z, things) {
    const table = document.createElement("table");
    table.className = "board";
    table.createCaption().textContent = `Z ${z}${z ? "" : ", in front"}`;
    const head = table.createTHead().insertRow();
    head.insertCell();
    for (let x = 0; x < edge; x += 1) head.append(headCell(x, "col"));
    const body = table.createTBody();
    for (let y = 0; y < edge; y += 1) {
      const row = body.insertRow();
      row.append(headCell(y, "row"));
      for (let x = 0; x < edge; x += 1) this.fill(row.insertCell(), things.get(`${x},${y},${z}`) ?? []);
    }
    return table;
  }

  fill(space, things) {
    for (const { player } of things) {
      const mark = document.createElement("span");
      mark.textContent = player === undefined ? "\u25cf" : String(this.colors.of(player).number);
      mark.title = player ?? "A bomb";
      if (player !== undefined) this.colors.paint(mark, player);
      space.append(mark);
    }
  }

  list(frame) {
    const table = document.createElement("table");
    for (const { name, x, y, z } of frame.players) {
      const row = table.insertRow();
      row.insertCell().append(Object.assign(document.createElement("bdi"), { textContent: name }));
      row.insertCell().textContent = `${x}, ${y}, ${z}`;
    }
    for (const { x, y, z } of frame.bombs) {
      const row = table.insertRow();
      row.insertCell().textContent = "a bomb";
      row.insertCell().textContent = `${x}, ${y}, ${z}`;
    }
    return table;
  }
}

function headCell(text, scope) {
  const cell = document.createElement("th");
  cell.scope = scope;
  cell.textContent = text;
  return cell;
}
