// All heads as cells: colour is what silencing them costs, a sign is what was done to them. Hover reads; a click acts.

const CELL = { least: 26, most: 44 }; // pixels

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, rows, columns, marks, said, limit } = header;
  const root = freshRoot(parentElement, theme);
  root.classList.add("surgery");
  root.classList.toggle("edits", header.edits);
  const [openedRow, openedColumn] = header.opened;
  const opened = openedRow * columns + openedColumn;
  let hovered = null;
  let geometry = null;

  const mode = element("p", { class: "mode", "data-marker": "mode" }, forHand(header.mode));
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "surgery" });
  canvas.setAttribute("aria-label", `${rows.length * columns} heads. ${header.mode} Arrow keys move, Enter clicks.`);
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "opened" });
  root.append(mode, canvas, reading, aloud);

  function measure(width) {
    const narrow = width < 400;
    const label = narrow ? 84 : 120;
    const size = bounded(Math.floor((width - label - 4) / columns), CELL.least, CELL.most);
    const tall = Math.min(size, 36);
    const tops = [];
    let top = 22;
    rows.forEach(({ kind }, row) => {
      if (row && kind !== rows[row - 1].kind) top += 8;
      tops.push(top);
      top += tall;
    });
    return { width, label, size, tall, tops, narrow, height: top + 40 };
  }

  function redraw() {
    if (!geometry) return;
    const { width, label, size, tall, tops, narrow, height } = geometry;
    const context = sized(canvas, width, height);
    drawColumns(context, label, size);
    rows.forEach((row, index) => drawRow(context, row, index, narrow));
    for (const [at, line] of [[hovered, 1], [opened, 2.5]]) {
      if (at === null) continue;
      const [x, y] = corner(at);
      outline(context, theme, x, y, size - 2, tall - 2, line);
    }
    if (arrays.values) {
      const y = tops[tops.length - 1] + tall + 10;
      const ends = [[0, short(-limit), "left"], [0.5, "0"], [1, short(limit), "right"]];
      drawStrip(context, theme, label, y, Math.min(260, width - label - 4), (share) => colour((2 * share - 1) * limit), ends);
    }
    reading.textContent = hovered !== null ? said[hovered] + hint(hovered) : said[opened];
    aloud.textContent = `Open: ${said[opened]}${marks[opened] ? `, edited: ${marks[opened]}` : ""}`;
  }

  function drawColumns(context, label, size) {
    context.font = `11px ${CODE}`;
    context.fillStyle = theme.soft;
    context.textAlign = "center";
    for (let column = 0; column < columns; column++) context.fillText(String(column + 1), label + (column + 0.5) * size, 14);
  }

  function drawRow(context, { kind, layer, note }, index, narrow) {
    const { label, size, tall, tops } = geometry;
    context.textAlign = "left";
    context.font = `13px ${SANS}`;
    context.fillStyle = theme[kind];
    context.fillText(theme.marks[kind], 0, tops[index] + tall / 2 + 4);
    context.fillStyle = theme.ink;
    context.fillText(narrow ? `L${layer}` : `${kind} ${layer}`, 18, tops[index] + (note ? tall / 2 - 2 : tall / 2 + 4));
    if (note) {
      context.font = `11px ${SANS}`;
      context.fillStyle = theme.soft;
      context.fillText(fitted(context, note, label - 20), 18, tops[index] + tall / 2 + 11);
    }
    for (let column = 0; column < columns; column++) drawCell(context, index * columns + column, size, tall);
  }

  function drawCell(context, at, size, tall) {
    const [x, y] = corner(at);
    const [width, height] = [size - 2, tall - 2];
    const value = arrays.values ? arrays.values[at] : 0;
    context.fillStyle = marks[at] ? theme.forbidden : colour(value);
    context.fillRect(x, y, width, height);
    if (marks[at]) hatched(context, x, y, width, height, theme);
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    context.textAlign = "center";
    if (marks[at]) {
      context.font = `600 17px ${SANS}`;
      context.fillStyle = theme.ink;
      context.fillText(marks[at], x + width / 2, y + height / 2 + 6);
    } else if (arrays.values && size >= 34) {
      context.font = `11px ${CODE}`;
      context.fillStyle = legible(theme, colour(value));
      context.fillText(short(value), x + width / 2, y + height / 2 + 4);
    }
  }

  function colour(value) {
    return shade(theme, value < 0 ? "negative" : "positive", Math.min(1, Math.abs(value) / limit), true);
  }

  // As many digits as fit into a cell: .42, 1.3, 12.
  function short(value) {
    const size = Math.abs(value);
    const said = value.toFixed(size >= 9.95 ? 0 : size >= 0.995 ? 1 : limit < 0.05 ? 3 : 2);
    return Number(said) === 0 ? "0" : said.replace("-", "−").replace("0.", ".");
  }

  function hint(at) {
    if (!header.edits) return at === opened ? "" : forHand(" — click to open it");
    return marks[at] ? forHand(" — click to change it") : "";
  }

  function corner(at) {
    const { label, size, tops } = geometry;
    return [label + (at % columns) * size + 1, tops[Math.floor(at / columns)] + 1];
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const { label, size, tall, tops } = geometry;
    const column = Math.floor((px - label) / size);
    const row = tops.findIndex((top) => py >= top && py < top + tall);
    return row >= 0 && column >= 0 && column < columns ? row * columns + column : null;
  }

  function act(at) {
    const { kind, layer } = rows[Math.floor(at / columns)];
    setTriggerValue("act", { kind, layer, head: (at % columns) + 1 });
  }

  function walk(down, across) {
    const from = hovered ?? opened;
    const row = bounded(Math.floor(from / columns) + down, 0, rows.length - 1);
    point(row * columns + bounded((from % columns) + across, 0, columns - 1));
  }

  function point(next) {
    canvas.style.cursor = next === null ? "default" : "pointer";
    if (next === hovered) return;
    hovered = next;
    redraw();
  }

  onPointer(canvas, under, point, act);
  onKeys(canvas, {
    ArrowUp: () => walk(-1, 0),
    ArrowDown: () => walk(1, 0),
    ArrowLeft: () => walk(0, -1),
    ArrowRight: () => walk(0, 1),
    Enter: () => act(hovered ?? opened),
    Escape: () => (hovered === null ? false : point(null)),
  });
  return onWidth(root, (width) => {
    geometry = measure(width);
    redraw();
  });
}
