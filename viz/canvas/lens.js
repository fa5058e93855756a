// What would be written after each decoder layer: a row for each layer, a column for each step, the likeliest piece in each
// cell, shaded by the probability of the piece that is written in the end.

const CELL = { least: 72, most: 112, tall: 44 };
const BESIDE = 112; // pixels of the layers' names
const DEEPEST = 0.42; // of the ramp, so that words stay legible on it

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, layers, read, written, tops, since } = header;
  const [R, T] = arrays.probability.shape;
  const before = parentElement.querySelector(".lens-holder");
  const scrolled = before ? before.scrollLeft : null;
  const root = freshRoot(parentElement, theme);
  let pinned = { row: header.layer, column: header.step - 1 };
  let hovered = null;
  let geometry = null;

  const holder = element("div", { class: "lens-holder" });
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "lens" });
  canvas.setAttribute("aria-label", `Read after each of ${R - 1} layers, at ${T} steps. Arrow keys move, Enter picks a cell.`);
  const names = element("canvas", { class: "lens-names", "aria-hidden": "true" });
  const scale = element("canvas", { "aria-hidden": "true" });
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "lens-pinned" });
  holder.append(names, canvas);
  const fade = fadeWhereMore(holder, () => [BESIDE, 0]);
  root.append(holder, scale, reading, aloud);

  const TOP = 48; // what is read, and the arrow
  const BELOW = 30; // what is written
  const shadeOf = (probability) => shade(theme, "chrome", probability * DEEPEST, true);

  function measure(width) {
    const cell = bounded((width - BESIDE - 2) / T, CELL.least, CELL.most);
    geometry = { width, cell, height: TOP + R * CELL.tall + BELOW };
  }

  function redraw() {
    const { cell, height } = geometry;
    const context = sized(canvas, T * cell + 2, height);
    for (let column = 0; column < T; column++) drawColumn(context, column, cell);
    for (const [target, line] of [[hovered, 1], [pinned, 2.5]]) {
      if (target) outline(context, theme, target.column * cell + 1, TOP + target.row * CELL.tall + 1, cell - 4, CELL.tall - 4, line);
    }
    drawNames();
    drawTheScale();
    reading.textContent = say(hovered ?? pinned);
    aloud.textContent = `Picked: ${say(pinned)}`;
  }

  function drawColumn(context, column, cell) {
    const middle = (column + 0.5) * cell - 1;
    const marked = (hovered ?? pinned).column === column;
    context.textAlign = "center";
    context.fillStyle = marked ? theme.ink : theme.soft;
    context.font = `12px ${CODE}`;
    context.fillText(fitted(context, read[column], cell - 8), middle, 16);
    context.fillText("↓", middle, 36);
    for (let row = 0; row < R; row++) drawCell(context, row, column, cell);
    context.fillStyle = marked ? theme.ink : theme.soft;
    context.font = `600 13px ${CODE}`;
    context.fillText(fitted(context, written[column], cell - 8), middle, TOP + R * CELL.tall + 18);
  }

  function drawCell(context, row, column, cell) {
    const at = row * T + column;
    const [x, y] = [column * cell, TOP + row * CELL.tall];
    context.fillStyle = shadeOf(arrays.probability[at]);
    context.beginPath();
    context.roundRect(x + 0.5, y + 0.5, cell - 3, CELL.tall - 3, 4);
    context.fill();
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.stroke();
    const hit = arrays.hit[at] === 1;
    context.fillStyle = hit ? theme.ink : theme.soft;
    context.font = `${hit ? "600 " : ""}13px ${CODE}`;
    context.fillText(fitted(context, tops[row][column], cell - 10), x + cell / 2 - 1, y + 18);
    context.font = `11px ${CODE}`;
    context.fillText(hit ? number(arrays.probability[at]) : `rank ${arrays.rank[at]}`, x + cell / 2 - 1, y + 34);
  }

  function drawNames() {
    const context = sized(names, BESIDE, geometry.height);
    context.textAlign = "left";
    context.font = `13px ${SANS}`;
    const at = hovered ?? pinned;
    const lines = ["read", ...layers, "written"];
    lines.forEach((text, index) => {
      context.fillStyle = index === at.row + 1 ? theme.ink : theme.soft;
      const y = index === 0 ? 16 : index > R ? TOP + R * CELL.tall + 18 : TOP + (index - 0.5) * CELL.tall + 4;
      context.fillText(text, 2, y);
    });
  }

  function drawTheScale() {
    const context = sized(scale, Math.min(geometry.width, BESIDE + 280), 40);
    const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => [value, String(value).replace(/^0\./, ".")]);
    drawStrip(context, theme, BESIDE, 8, 240, shadeOf, ticks);
  }

  function say({ row, column }) {
    const at = row * T + column;
    const where = layers[row];
    const said = fill(header.sentence, {
      where: where[0].toUpperCase() + where.slice(1),
      read: read[column],
      top: tops[row][column],
      top_probability: number(arrays.top[at]),
      written: written[column],
      rank: arrays.rank[at],
      probability: number(arrays.probability[at]),
    });
    return `step ${column + 1}. ${said}.`;
  }

  // What goes into the first layer comes out of none: there only the step is picked.
  function pin({ row, column }) {
    pinned = { row: row || pinned.row, column };
    setTriggerValue("pin", [pinned.row, pinned.column]);
    redraw();
  }

  function point(next) {
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  function under(event) {
    const [x, y] = pointed(event, canvas);
    const [row, column] = [Math.floor((y - TOP) / CELL.tall), Math.floor(x / geometry.cell)];
    if (column < 0 || column >= T) return null;
    return { row: bounded(row, 0, R - 1), column };
  }

  const walk = (down, across) => () => {
    const from = hovered ?? pinned;
    point({ row: bounded(from.row + down, 0, R - 1), column: bounded(from.column + across, 0, T - 1) });
    bringIntoSight(hovered.column);
  };

  function bringIntoSight(column) {
    const left = column * geometry.cell;
    const room = holder.clientWidth - BESIDE - geometry.cell - FADE;
    holder.scrollLeft = Math.max(Math.min(holder.scrollLeft, left - FADE), left - room);
  }

  onPointer(canvas, under, point, pin);
  onKeys(canvas, {
    ArrowUp: walk(-1, 0),
    ArrowDown: walk(1, 0),
    ArrowLeft: walk(0, -1),
    ArrowRight: walk(0, 1),
    Enter: () => (hovered ? pin(hovered) : false),
    Escape: () => (hovered ? point(null) : false),
  });
  return onWidth(root, (width) => {
    measure(width);
    redraw();
    if (scrolled === null) bringIntoSight(pinned.column);
    else holder.scrollLeft = scrolled;
    fade();
  });
}
