// A matrix of numbers, rows by columns. Hover reads a cell, click pins it, arrow keys move, Esc releases. What does not
// fit scrolls inside the picture, with the labels staying in sight.

const BESIDE = 0.34; // share of the width that row labels may take
const LEAST = { wide: 2, tall: 14 }; // pixels of a cell: a column is seen from two on, a row has a name of 11 pixels
const MOST = { wide: 48, tall: 26 };
const GAP_FROM = 7; // pixels of a cell

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, rows, columns, hue, limit, names } = header;
  const [R, C] = arrays.values.shape;
  const before = parentElement.querySelector(".scroller");
  let scrolled = before ? [before.scrollLeft, before.scrollTop] : null; // where the reader is, whatever is drawn anew
  const root = freshRoot(parentElement, theme);
  root.classList.add("field");
  let pinned = header.pinned && { row: header.pinned[0], column: header.pinned[1] };
  let hovered = null;
  let geometry = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "field" });
  canvas.setAttribute("aria-label", `${header.title || "Numbers"}: ${R} rows, ${C} columns. Arrow keys move, Enter pins, Escape releases.`);
  const corner = element("div", { class: "corner" });
  const top = element("canvas", { class: "top", "aria-hidden": "true" });
  const side = element("canvas", { class: "side", "aria-hidden": "true" });
  const scale = element("canvas", { "aria-hidden": "true", "data-marker": "scale" });
  const scroller = element("div", { class: "scroller" });
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "pinned" });
  scroller.append(corner, top, side, canvas);
  const fade = fadeWhereMore(scroller, () => [geometry.beside, geometry.above]);
  scroller.style.maxHeight = `${header.height}px`;
  if (header.title) root.append(element("p", { class: "kind" }, header.title));
  const axes = [header.rowTitle && `↓ ${header.rowTitle}`, header.columnTitle && `→ ${header.columnTitle}`].filter(Boolean);
  if (axes.length) root.append(element("p", { class: "soft small" }, axes.join("   ")));
  root.append(scroller, scale, reading, aloud);

  const focus = () => hovered ?? pinned;
  const open = (at) => !arrays.allowed || arrays.allowed[at] === 1;

  function measure(width) {
    const context = canvas.getContext("2d");
    context.font = `13px ${CODE}`;
    const longest = (labels) => Math.max(0, ...labels.map((label) => context.measureText(label).width));
    const beside = Math.ceil(Math.min(longest(rows) + 14, width * BESIDE));
    const flat = longest(columns) <= MOST.tall; // numbers, and other short names
    const above = flat ? 24 : Math.ceil(Math.min(longest(columns) * 0.8 + 20, 112));
    const over = flat ? 12 : overhang(longest(columns), above - 12);
    const tall = bounded((header.height - above - 16) / R, LEAST.tall, MOST.tall);
    const wide = bounded((width - beside - over - 4) / C, LEAST.wide, R === C ? tall : MOST.wide);
    return { width, beside, above, over, flat, wide, tall, base: null };
  }

  function layOut(width) {
    geometry = measure(width);
    const { beside, above } = geometry;
    scroller.style.gridTemplateColumns = `${beside}px auto`;
    scroller.style.gridTemplateRows = `${above}px auto`;
    drawTheScale(width);
    redraw();
    if (scrolled) scroller.scrollTo(...scrolled);
    else if (pinned) bringIntoSight(pinned);
    fade();
  }

  const edge = (index, size) => Math.round(index * size);

  function drawCells(context) {
    const { wide, tall } = geometry;
    const [across, down] = [wide, tall].map((size) => (size >= GAP_FROM ? 1 : 0));
    for (let at = 0; at < R * C; at++) {
      const [row, column] = [Math.floor(at / C), at % C];
      const [x, y] = [edge(column, wide), edge(row, tall)];
      const [width, height] = [edge(column + 1, wide) - x - across, edge(row + 1, tall) - y - down];
      context.fillStyle = open(at) ? colour(arrays.values[at] / limit) : theme.forbidden;
      context.fillRect(x, y, width, height);
      if (!open(at) && Math.min(wide, tall) >= HATCHED_FROM) hatched(context, x, y, width, height, theme);
    }
  }

  // Of a share of the limit: around 0, or up from it.
  function colour(share) {
    if (hue !== "signed") return shade(theme, hue, share, true);
    return shade(theme, share < 0 ? "negative" : "positive", Math.abs(share), true);
  }

  function drawTheScale(width) {
    const around = hue === "signed";
    const beyond = arrays.values.some((value, at) => open(at) && Math.abs(value) > limit * 1.000001);
    const ticks = [0, 0.5, 1].map((share) => {
      const value = (around ? 2 * share - 1 : share) * limit;
      const more = beyond && share === 1 ? "≥ " : beyond && around && share === 0 ? "≤ " : "";
      return [share, more + String(Number(value.toPrecision(3))).replace("-", "−"), share === 0 ? "left" : share === 1 ? "right" : "center"];
    });
    const strip = Math.min(260, width - 4);
    drawStrip(sized(scale, width, 40), theme, 2, 8, strip, (share) => colour(around ? 2 * share - 1 : share), ticks);
  }

  function drawLabels(at) {
    const { beside, above, over, flat, wide, tall } = geometry;
    const context = sized(side, beside, R * tall + 4);
    drawRowLabels(context, theme, rows, { x: beside, y: 0, cell: tall }, { marked: at ? at.row : null, room: beside - 12 });
    const names = sized(top, C * wide + over, above);
    if (flat) drawFlatLabels(names, at);
    else drawColumnLabels(names, theme, columns, { x: 0, y: above, cell: wide }, { marked: at ? at.column : null, room: above - 12 });
  }

  function drawFlatLabels(context, at) {
    const { above, wide } = geometry;
    context.font = `11px ${CODE}`;
    context.textAlign = "center";
    const every = stride(C, wide, Math.max(...columns.map((label) => context.measureText(label).width)) + 6);
    const marked = at ? at.column : null;
    columns.forEach((label, column) => {
      if (!labelled(column, every, marked)) return;
      context.fillStyle = column === marked ? theme.ink : theme.soft;
      context.fillText(label, (column + 0.5) * wide, above - 8);
    });
  }

  function redraw() {
    if (!geometry) return;
    const { wide, tall, over } = geometry;
    const [width, height] = [C * wide + over, R * tall + 4];
    geometry.base ??= prepared(width, height, drawCells);
    const context = sized(canvas, width, height);
    context.drawImage(geometry.base, 0, 0, width, height);
    context.strokeStyle = theme.line; // many cells have the colour of the background
    context.strokeRect(0.5, 0.5, C * wide - 1, R * tall - 1);
    drawLabels(focus());
    for (const [target, line] of [[hovered, 1], [pinned, 2.5]]) if (target) drawMark(context, target, line);
    reading.textContent = focus() ? say(focus()) : forHand("Point at a cell to read it; click to choose it.");
    aloud.textContent = pinned ? `Pinned: ${say(pinned)}` : "";
  }

  // The cell; where only a row or a column is pinned, the whole of it.
  function drawMark(context, { row, column }, line) {
    const { wide, tall } = geometry;
    const [x, width] = column === null ? [0, C * wide] : [column * wide, wide];
    const [y, height] = row === null ? [0, R * tall] : [row * tall, tall];
    const inset = line / 2;
    outline(context, theme, x - 0.5 + inset, y - 0.5 + inset, Math.max(width - line, 2), Math.max(height - line, 2), line);
  }

  function say({ row, column }) {
    if (row === null || column === null) return [header[row === null ? "columnTitle" : "rowTitle"], rows[row] ?? columns[column]].filter(Boolean).join(": ");
    const at = row * C + column;
    const said = { row: rows[row], column: columns[column], row_number: row + 1, column_number: column + 1 };
    const template = open(at) ? header.sentence : header.forbidden;
    return fill(template, { ...said, name: names ? names[at] : "", value: signed(arrays.values[at]) });
  }

  function pin(target) {
    if (!target && header.stays) return;
    pinned = target;
    setTriggerValue("pin", target ? [target.row, target.column] : [-1, -1]);
    redraw();
  }

  function point(next) {
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  function under(event) {
    const [x, y] = pointed(event, canvas);
    const [row, column] = [Math.floor(y / geometry.tall), Math.floor(x / geometry.wide)];
    return row >= 0 && row < R && column >= 0 && column < C ? { row, column } : null;
  }

  function walk(down, across) {
    const from = focus();
    const by = from && from.row !== null && from.column !== null ? [down, across] : [0, 0];
    point({
      row: bounded((from?.row ?? 0) + by[0], 0, R - 1),
      column: bounded((from?.column ?? 0) + by[1], 0, C - 1),
    });
    bringIntoSight(hovered);
  }

  function bringIntoSight({ row, column }) {
    const { beside, above, wide, tall } = geometry;
    const [x, y] = [(column ?? 0) * wide, (row ?? 0) * tall];
    const reach = (now, from, size, room) => bounded(now, from + size + FADE - room, Math.max(0, from - FADE)); // not where it fades
    scroller.scrollLeft = reach(scroller.scrollLeft, x, wide, scroller.clientWidth - beside);
    scroller.scrollTop = reach(scroller.scrollTop, y, tall, scroller.clientHeight - above);
  }

  scroller.addEventListener("scroll", () => (scrolled = [scroller.scrollLeft, scroller.scrollTop]));
  onPointer(canvas, under, point, (target) => pin(alike(target, pinned) ? null : target));
  onKeys(canvas, {
    ArrowUp: () => walk(-1, 0),
    ArrowDown: () => walk(1, 0),
    ArrowLeft: () => walk(0, -1),
    ArrowRight: () => walk(0, 1),
    Enter: () => (focus() ? pin({ ...focus() }) : false),
    Escape: () => (pinned && !header.stays ? pin(null) : hovered ? point(null) : false),
  });
  return onWidth(root, layOut);
}
