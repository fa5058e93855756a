// A map of attention: as a matrix with its labels and its scale, as a strip of bars, and in words.

const SMALLEST = 4; // pixels of a letter in a file

// All rows but one step back.
function dimOtherRows(context, theme, { x, y, cell }, [T, S], row) {
  context.globalAlpha = 0.45;
  context.fillStyle = theme.background;
  context.fillRect(x - 2, y - 2, S * cell + 4, row * cell + 1);
  context.fillRect(x - 2, y + (row + 1) * cell - 1, S * cell + 4, (T - row - 1) * cell + 3);
  context.globalAlpha = 1;
}

// One map as a matrix: numbers.shown (or weights) in colour where numbers.open (or allowed) lets it. place: {x, y, cell}.
function drawMatrix(context, theme, map, numbers, place, linear) {
  const [T, S] = numbers.weights.shape;
  const values = numbers.shown ?? numbers.weights;
  const open = numbers.open ?? numbers.allowed;
  const colour = colouring(theme, map, linear);
  const { x, y, cell } = place;
  const gap = cell >= 9 ? 2 : cell >= 5 ? 1 : 0;
  const radius = cell >= 14 ? 3 : 0;
  for (let row = 0; row < T; row++) {
    for (let column = 0; column < S; column++) {
      const at = row * S + column;
      const left = x + column * cell;
      const top = y + row * cell;
      if (!open[at]) {
        context.fillStyle = theme.forbidden;
        context.fillRect(left, top, cell, cell);
        continue;
      }
      context.fillStyle = colour(values[at]);
      if (radius) {
        context.beginPath();
        context.roundRect(left, top, cell - gap, cell - gap, radius);
        context.fill();
      } else context.fillRect(left, top, cell - gap, cell - gap);
    }
  }
  drawStaircase(context, theme, open, [T, S], place);
}

// The colour of a value: weights on the fixed scale, other stages up to the largest value there is.
function colouring(theme, map, linear) {
  if (isOfWeights(map)) return (weight) => shade(theme, map.kind, weight, linear);
  const { most, signed: around } = map.stage;
  if (!around) return (value) => shade(theme, map.kind, value / most, true);
  return (value) => shade(theme, value < 0 ? "negative" : "positive", Math.abs(value) / most, true);
}

function isOfWeights(map) {
  return !map.stage || map.stage.name === "softmax";
}

// The edge of the mask: hatch behind it, a line along it.
function drawStaircase(context, theme, open, [T, S], { x, y, cell }) {
  const edge = [];
  for (let row = 0; row < T; row++) {
    for (let column = 0; column < S; column++) {
      if (open[row * S + column]) continue;
      const left = x + column * cell;
      const top = y + row * cell;
      if (cell >= HATCHED_FROM) hatched(context, left, top, cell, cell, theme);
      if (column === 0 || open[row * S + column - 1]) {
        edge.push([left - 1, top - 1, left - 1, top + cell - 1]);
      }
      if (row + 1 < T && open[(row + 1) * S + column]) {
        edge.push([left - 1, top + cell - 1, left + cell - 1, top + cell - 1]);
      }
    }
  }
  if (!edge.length) return;
  context.strokeStyle = theme.chrome;
  context.lineWidth = 1.5;
  context.beginPath();
  for (const [fromX, fromY, toX, toY] of edge) {
    context.moveTo(fromX, fromY);
    context.lineTo(toX, toY);
  }
  context.stroke();
}

// Which labels are written, every so manieth, and how large. In a file letters stay sharp when it is enlarged: there all
// are written, down to the smallest size.
function lettering(count, cell) {
  const size = cell >= 17 ? 13 : 11;
  if (!exporting.recording && !exporting.scale) return { every: stride(count, cell, 12), size };
  return { every: Math.ceil(SMALLEST / cell), size: Math.max(SMALLEST, Math.min(size, cell)) };
}

// The marked label always; another only if it is its turn and leaves the marked one room.
function labelled(index, every, marked) {
  if (index === marked) return true;
  return index % every === 0 && (marked === null || Math.abs(index - marked) >= every);
}

// How far a slanted name reaches to the right of its column's middle, where it has this much room above.
function overhang(longest, room) {
  return Math.ceil(Math.cos(SLANT) * Math.min(longest, room / 0.8)) + 6;
}

function drawColumnLabels(context, theme, labels, { x, y, cell }, { marked, room }) {
  const { every, size } = lettering(labels.length, cell);
  context.font = `${size}px ${CODE}`;
  context.textAlign = "left";
  labels.forEach((label, column) => {
    if (!labelled(column, every, marked)) return;
    context.save();
    context.translate(x + (column + 0.5) * cell + 3, y - 6);
    context.rotate(-SLANT);
    context.fillStyle = column === marked ? theme.ink : theme.soft;
    context.fillText(fitted(context, label, room / 0.8), 0, 0);
    context.restore();
  });
}

function drawRowLabels(context, theme, labels, { x, y, cell }, { marked, room }) {
  const { every, size } = lettering(labels.length, cell);
  context.font = `${size}px ${CODE}`;
  context.textAlign = "right";
  labels.forEach((label, row) => {
    if (!labelled(row, every, marked)) return;
    context.fillStyle = row === marked ? theme.ink : theme.soft;
    context.fillText(fitted(context, label, room), x - 8, y + (row + 0.5) * cell + 4);
  });
}

function outline(context, theme, x, y, width, height, line) {
  context.strokeStyle = theme.ink;
  context.lineWidth = line;
  context.strokeRect(x, y, width, height);
}

// A strip of colour with its ticks: [where from 0 to 1, text, alignment of the text].
function drawStrip(context, theme, x, y, width, colour, ticks) {
  for (let at = 0; at < width; at++) {
    context.fillStyle = colour(at / (width - 1));
    context.fillRect(x + at, y, 1.5, 8);
  }
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, width + 1.5, 9);
  context.fillStyle = theme.soft;
  context.font = `11px ${CODE}`;
  for (const [share, text, align = "center"] of ticks) {
    const at = x + share * (width - 1);
    context.fillRect(at, y + 9, 1, 3);
    context.textAlign = align;
    context.fillText(text, at, y + 23);
  }
}

// The scale of a map. Of weights: fixed from 0 to 1; of another stage: around 0, or up from it.
function drawScale(context, theme, map, x, y, width, linear) {
  const { most = 1, signed: around = false } = map.stage ?? {};
  const colour = colouring(theme, map, true);
  const ticks = isOfWeights(map) ? ticksOfWeights(theme, linear) : ticksOfStage(most, around);
  drawStrip(context, theme, x, y, width, (share) => colour((around ? 2 * share - 1 : share) * most), ticks);
}

function ticksOfWeights(theme, linear) {
  const values = linear ? [0, 0.25, 0.5, 0.75, 1] : theme.ticks;
  return values.map((tick) => [linear ? tick : Math.sqrt(tick), String(tick).replace(/^0\./, ".")]);
}

function ticksOfStage(most, around) {
  const ends = [[0, around ? `−${most.toFixed(2)}` : "0", "left"], [1, most.toFixed(2), "right"]];
  return around ? [...ends, [0.5, "0"]] : ends;
}

// A row of attention as tokens with bars: what a phone shows instead of a matrix.
function strip(theme, map, numbers, row, { linear, marked, onPick }) {
  const S = map.columns.length;
  const holder = element("div", { class: "strip", role: "list" });
  for (let column = 0; column < S; column++) {
    const at = row * S + column;
    const allowed = numbers.allowed[at] === 1;
    const weight = numbers.weights[at];
    const item = element("button", { type: "button", class: "bar", role: "listitem" });
    if (!allowed) item.classList.add("forbidden");
    if (column === marked) item.classList.add("marked");
    const track = element("span", { class: "track" });
    const level = element("span", { class: "level" });
    level.style.width = `${allowed ? 100 * (linear ? weight : Math.sqrt(weight)) : 0}%`;
    level.style.background = theme[map.kind];
    track.append(level);
    item.append(
      element("span", { class: "token" }, map.columns[column]),
      track,
      element("span", { class: "digits" }, allowed ? number(weight) : "−∞"),
    );
    item.title = say(map, numbers, row, column);
    item.addEventListener("click", () => onPick(column));
    holder.append(item);
  }
  return holder;
}

function say(map, numbers, row, column) {
  const at = row * map.columns.length + column;
  const values = {
    row: map.rows[row],
    column: map.columns[column],
    predicts: map.predicts ? map.predicts[row] : "",
    weight: number(numbers.weights[at]),
    value: numbers.shown ? numbers.shown[at].toFixed(3).replace("-", "−") : "",
    layer: map.layer,
    head: map.head,
  };
  return fill((numbers.open ?? numbers.allowed)[at] ? map.sentence : map.forbidden, values);
}

function rowLabel(map, row) {
  return map.predicts ? `${map.rows[row]} → ${map.predicts[row]}` : map.rows[row];
}
