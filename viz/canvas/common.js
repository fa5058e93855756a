// What every canvas shares: reading a payload, colours, words, and one way of pointing.
// Text reaches the page through textContent and fillText only: tokens are what somebody typed.

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };
const NARROW = 720; // below this many pixels of page, matrices become strips of tokens with bars
const REST = 300; // milliseconds after which Python hears where the pointer stayed
const HATCHED_FROM = 12; // pixels of a cell
const CODE = '"Source Code Pro", ui-monospace, Menlo, monospace';
const SANS = '"Source Sans", "Source Sans 3", system-ui, sans-serif';

function unpack(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = view.getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const body = bytes.slice(4 + length).buffer; // a copy that begins at 0, so that float32 may be read in place
  const arrays = {};
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const count = shape.reduce((product, n) => product * n, 1);
    arrays[name] = new TYPES[dtype](body, offset, count);
    arrays[name].shape = shape;
  }
  return { header, arrays };
}

function element(tag, attributes = {}, text = null) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== null) made.textContent = text;
  return made;
}

function button(label, title, act) {
  const made = element("button", { type: "button", title, "aria-label": title }, label);
  made.addEventListener("click", act);
  return made;
}

// The same sentence as viz/phrases.py, filled in here because the pointer cannot wait for the server.
function fill(template, values) {
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

function number(weight) {
  if (weight > 0 && weight < 0.0005) return "<0.001";
  return weight > 0 && weight < 0.0995 ? weight.toFixed(3) : weight.toFixed(2);
}

// Three digits after the point, fewer of a large number; a small one is not called 0. As in viz/inside.py.
function digits(value) {
  const size = Math.abs(value);
  if (size !== 0 && size < 0.0005) return value.toExponential(1).replace("-", "−");
  return value.toFixed(size < 10 ? 3 : size < 100 ? 2 : 1);
}

function signed(value) {
  return digits(value).replace("-", "−");
}

function shade(theme, kind, weight, linear) {
  const ramp = theme.ramps[kind];
  const position = linear ? weight : Math.sqrt(weight);
  return ramp[Math.max(0, Math.min(ramp.length - 1, Math.round(position * (ramp.length - 1))))];
}

function rgb(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

// A crisp canvas of this many CSS pixels.
function sized(canvas, width, height) {
  canvas.recorded = exporting.recording ? new Recorder(width, height) : null;
  if (canvas.recorded) return canvas.recorded;
  const ratio = exporting.scale ?? (window.devicePixelRatio || 1);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

// Longest beginning of a text that fits.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(letters.join("") + "…").width > width) letters.pop();
  return letters.join("") + "…";
}

function hatched(context, x, y, width, height, theme) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = theme.hatch;
  context.lineWidth = 1;
  context.beginPath();
  for (let at = -height; at < width; at += 6) {
    context.moveTo(x + at, y + height);
    context.lineTo(x + at + height, y);
  }
  context.stroke();
  context.restore();
}

// Show every n-th label only, so that they never touch.
function stride(count, cell, least) {
  return Math.max(1, Math.ceil(least / cell), count > 40 && cell < least ? Math.ceil(count / 40) : 1);
}

// What does not change with the pointer is drawn once, on a canvas of its own, and copied from there.
function prepared(width, height, draw) {
  const canvas = document.createElement("canvas");
  draw(sized(canvas, width, height));
  return canvas;
}

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
  const stage = map.stage ?? { name: "softmax" };
  if (stage.name === "softmax") return (weight) => shade(theme, map.kind, weight, linear);
  if (!stage.signed) return (value) => shade(theme, map.kind, value / stage.most, true);
  return (value) => shade(theme, value < 0 ? "negative" : "positive", Math.abs(value) / stage.most, true);
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

// The marked label always; another only if it is its turn and leaves the marked one room.
function labelled(index, every, marked) {
  if (index === marked) return true;
  return index % every === 0 && (marked === null || Math.abs(index - marked) >= every);
}

function drawColumnLabels(context, theme, labels, { x, y, cell }, { marked, room }) {
  const every = stride(labels.length, cell, 12);
  context.font = `${cell >= 17 ? 13 : 11}px ${CODE}`;
  context.textAlign = "left";
  labels.forEach((label, column) => {
    if (!labelled(column, every, marked)) return;
    context.save();
    context.translate(x + (column + 0.5) * cell + 3, y - 6);
    context.rotate(-0.9);
    context.fillStyle = column === marked ? theme.ink : theme.soft;
    context.fillText(fitted(context, label, room / 0.8), 0, 0);
    context.restore();
  });
}

function drawRowLabels(context, theme, labels, { x, y, cell }, { marked, room }) {
  const every = stride(labels.length, cell, 12);
  context.font = `${cell >= 17 ? 13 : 11}px ${CODE}`;
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

// The scale of all maps: fixed from 0 to 1.
function drawScale(context, theme, kind, x, y, width, linear) {
  const values = linear ? [0, 0.25, 0.5, 0.75, 1] : theme.ticks;
  const ticks = values.map((tick) => [linear ? tick : Math.sqrt(tick), String(tick).replace(/^0\./, ".")]);
  drawStrip(context, theme, x, y, width, (share) => shade(theme, kind, share, true), ticks);
}

// The scale of a stage other than the weights: around 0, or up from it.
function drawStageScale(context, theme, map, x, y, width) {
  const colour = colouring(theme, map, true);
  const { most, signed: around } = map.stage;
  const ends = [[0, around ? `−${most.toFixed(2)}` : "0", "left"], [1, most.toFixed(2), "right"]];
  const ticks = around ? [...ends, [0.5, "0"]] : ends;
  drawStrip(context, theme, x, y, width, (share) => colour((around ? 2 * share - 1 : share) * most), ticks);
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

// Where the pointer is, in CSS pixels of the canvas.
function pointed(event, canvas) {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

// Calls `draw` now, whenever the width changes, when the fonts are there, and when the picture is exported. Returns how
// to stop.
function onWidth(host, draw) {
  let last = 0;
  host.append(exportButtons(host, () => last && draw(last)));
  const watcher = new ResizeObserver(() => {
    const width = Math.floor(host.clientWidth);
    if (width && width !== last) draw((last = width));
  });
  watcher.observe(host);
  if (document.fonts && document.fonts.status !== "loaded") document.fonts.ready.then(() => last && draw(last));
  return () => {
    watcher.disconnect();
    last = 0;
  };
}

// What the keys do: `acts` by the key's name. A key whose act returns false goes on to whoever else listens.
function onKeys(canvas, acts) {
  canvas.addEventListener("keydown", (event) => {
    if (Object.hasOwn(acts, event.key) && acts[event.key]() !== false) event.preventDefault();
  });
}

// Pages that may be redrawn at any time keep one root element in the component. What had the focus is made anew; its
// successor gets the focus, or Escape after a click, and every second press of an arrow key, would go nowhere.
function freshRoot(parentElement, theme) {
  let root = parentElement.querySelector(".headlight");
  if (!root) parentElement.append((root = element("div", { class: "headlight" })));
  const reachable = () => Array.from(root.querySelectorAll("canvas, button, input"));
  const focused = reachable().indexOf(root.getRootNode().activeElement);
  if (focused >= 0) queueMicrotask(() => reachable()[focused]?.focus({ preventScroll: true }));
  for (const [name, value] of Object.entries(theme)) {
    if (typeof value === "string") root.style.setProperty(`--${name}`, value);
  }
  root.style.colorScheme = theme.name; // what the browser draws itself: slider, scroll bars
  root.replaceChildren();
  return root;
}
