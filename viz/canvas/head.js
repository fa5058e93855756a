// One head, large: as a matrix, or as lines between tokens. Hover reads, click pins, Esc releases.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, map, linear, lines } = header;
  const [T, S] = arrays.weights.shape;
  const root = freshRoot(parentElement, theme);
  let pinned = header.pinned ? { row: header.pinned[0], column: header.pinned[1] } : null;
  let hovered = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "head" });
  canvas.setAttribute(
    "aria-label",
    `${map.kind}, layer ${map.layer}, ${map.head}: ${T} rows, ${S} columns. Arrow keys move, Enter pins, Escape releases.`,
  );
  const narrow = element("div", { class: "narrow" });
  const reading = element("p", { class: "reading" });
  const aloud = element("p", { class: "hidden", "aria-live": "polite", "data-marker": "pinned" });
  root.append(canvas, narrow, reading, aloud);
  let geometry = null;

  const cell = () => hovered ?? pinned;

  function pin(target) {
    pinned = target;
    setTriggerValue("pin", target ? [target.row, target.column] : [-1, -1]);
    redraw();
  }

  function measure(width) {
    const context = canvas.getContext("2d");
    context.font = `13px ${CODE}`;
    const longest = (labels) => Math.max(...labels.map((label) => context.measureText(label).width));
    const labels = map.rows.map((_, row) => rowLabel(map, row));
    const left = Math.min(longest(labels) + 14, width * 0.34);
    const top = Math.min(longest(map.columns) * 0.8 + 22, 112);
    const size = Math.max(1, Math.min(26, (width - left - overhang(longest(map.columns), top - 14)) / S));
    return { width, left, top, cell: size, labels, x: left, y: top, height: top + T * size + 44 };
  }

  function drawLines(context) {
    const { width, cell: size } = geometry;
    const height = Math.max(16, Math.min(26, 620 / Math.max(T, S)));
    const rightX = width * 0.66;
    const leftX = width * 0.34;
    const at = (index) => 14 + index * height;
    geometry.line = { height, leftX, rightX };
    const focus = cell();
    const edges = [];
    for (let row = 0; row < T; row++) {
      for (let column = 0; column < S; column++) {
        const index = row * S + column;
        const weight = arrays.weights[index];
        if (!arrays.allowed[index] || weight < 0.02) continue;
        edges.push([weight, row, column]);
      }
    }
    edges.sort((one, other) => one[0] - other[0]);
    for (const [weight, row, column] of edges) {
      const faded = focus && (focus.column === null ? focus.row !== row : focus.row !== row || false);
      context.strokeStyle = theme[map.kind];
      context.globalAlpha = (linear ? weight : Math.sqrt(weight)) * (faded ? 0.08 : 0.9);
      context.lineWidth = 1 + 4 * weight;
      context.beginPath();
      context.moveTo(leftX, at(row));
      context.bezierCurveTo(leftX + 60, at(row), rightX - 60, at(column), rightX, at(column));
      context.stroke();
    }
    context.globalAlpha = 1;
    context.font = `${height >= 16 ? 13 : 11}px ${CODE}`;
    for (let row = 0; row < T; row++) {
      context.textAlign = "right";
      context.fillStyle = focus && focus.row === row ? theme.ink : theme.soft;
      context.fillText(fitted(context, geometry.labels[row], leftX - 14), leftX - 8, at(row) + 4);
    }
    for (let column = 0; column < S; column++) {
      context.textAlign = "left";
      const weight = focus ? arrays.weights[focus.row * S + column] : 0;
      context.fillStyle = focus && (focus.column === column || weight > 0.1) ? theme.ink : theme.soft;
      const shown = focus && weight >= 0.02 ? `${map.columns[column]}  ${number(weight)}` : map.columns[column];
      context.fillText(fitted(context, shown, width - rightX - 10), rightX + 8, at(column) + 4);
    }
  }

  function drawAsMatrix(context) {
    const focus = cell();
    const marked = { row: focus ? focus.row : null, column: focus ? focus.column : null };
    geometry.base ??= prepared(geometry.width, geometry.height, drawUnmarked);
    context.drawImage(geometry.base, 0, 0, geometry.width, geometry.height);
    if (focus) dimOtherRows(context, theme, geometry, [T, S], focus.row);
    drawRowLabels(context, theme, geometry.labels, geometry, { marked: marked.row, room: geometry.left - 12 });
    drawColumnLabels(context, theme, map.columns, geometry, { marked: marked.column, room: geometry.top - 14 });
    const { x, y, cell: size } = geometry;
    const gap = size >= 9 ? 2 : size >= 5 ? 1 : 0;
    for (const [target, width] of [[hovered, 1], [pinned, 2.5]]) {
      if (!target) continue;
      outline(context, theme, x - 2, y + target.row * size - 2, S * size + 4 - gap, size + 4 - gap, Math.min(width, 2));
      outline(context, theme, x + target.column * size - 1, y + target.row * size - 1, size + 2 - gap, size + 2 - gap, width);
    }
  }

  function drawUnmarked(context) {
    const { x, y, cell: size } = geometry;
    drawMatrix(context, theme, map, arrays, geometry, linear);
    drawScale(context, theme, map, x, y + T * size + 12, Math.min(260, Math.max(120, S * size)), linear);
  }

  function redraw() {
    if (!geometry) return;
    const small = geometry.width < 480 && window.innerWidth < NARROW;
    canvas.style.display = small ? "none" : "block";
    narrow.style.display = small ? "block" : "none";
    if (small) drawNarrow();
    else {
      const linesHeight = 24 + Math.max(T, S) * Math.max(16, Math.min(26, 620 / Math.max(T, S)));
      const context = sized(canvas, geometry.width, lines ? linesHeight : geometry.height);
      if (lines) drawLines(context);
      else drawAsMatrix(context);
    }
    const focus = cell();
    reading.textContent = focus ? say(map, arrays, focus.row, focus.column) : forHand(header.hint);
    aloud.textContent = pinned ? `Pinned: ${say(map, arrays, pinned.row, pinned.column)}` : "";
  }

  let chosenRow = pinned ? pinned.row : (header.row ?? heaviestRow());
  function heaviestRow() {
    let best = 0;
    let found = 0;
    for (let at = 0; at < T * S; at++) {
      if (arrays.weights[at] > best && Math.floor(at / S) !== at % S) [best, found] = [arrays.weights[at], Math.floor(at / S)];
    }
    return found;
  }

  function drawNarrow() {
    narrow.replaceChildren();
    const tokens = element("div", { class: "tokens" });
    map.rows.forEach((_, row) => {
      const chip = button(rowLabel(map, row), `row ${row + 1}`, () => {
        chosenRow = row;
        redraw();
      });
      chip.setAttribute("aria-pressed", row === chosenRow ? "true" : "false");
      tokens.append(chip);
    });
    const marked = pinned && pinned.row === chosenRow ? pinned.column : null;
    const onPick = (column) => pin(marked === column ? null : { row: chosenRow, column });
    narrow.append(tokens, strip(theme, map, arrays, chosenRow, { linear, marked, onPick }));
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    if (lines) {
      const { height, leftX, rightX } = geometry.line;
      const index = Math.round((py - 14) / height);
      if (px < leftX + 10 && index >= 0 && index < T) return { row: index, column: heaviestColumn(index) };
      const focus = cell();
      if (px > rightX - 10 && index >= 0 && index < S && focus) return { row: focus.row, column: index };
      return null;
    }
    const column = Math.floor((px - geometry.x) / geometry.cell);
    const row = Math.floor((py - geometry.y) / geometry.cell);
    if (row < 0 || row >= T || column >= S) return null;
    if (column >= 0) return { row, column };
    return px > 0 ? { row, column: heaviestColumn(row) } : null;
  }

  function heaviestColumn(row) {
    let best = 0;
    for (let column = 1; column < S; column++) {
      if (arrays.weights[row * S + column] > arrays.weights[row * S + best]) best = column;
    }
    return best;
  }

  function point(next) {
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  // The first press of an arrow key begins at the first cell.
  const walk = (down, across) => () => {
    const from = cell();
    point(from ? { row: bounded(from.row + down, 0, T - 1), column: bounded(from.column + across, 0, S - 1) } : { row: 0, column: 0 });
  };
  onPointer(canvas, under, point, (target) => pin(alike(target, pinned) ? null : target));
  onKeys(canvas, {
    ArrowUp: walk(-1, 0),
    ArrowDown: walk(1, 0),
    ArrowLeft: walk(0, -1),
    ArrowRight: walk(0, 1),
    Enter: () => (cell() ? pin({ ...cell() }) : false),
    Escape: () => (pinned ? pin(null) : false),
  });

  return onWidth(root, (width) => {
    geometry = measure(width);
    redraw();
  });
}
