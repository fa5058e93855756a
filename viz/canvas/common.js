// What every canvas shares: reading a payload, colours, words, and a place on the page. What hands do is in hand.js,
// how a map is drawn in matrix.js.
// Text reaches the page through textContent and fillText only: tokens are what somebody typed.

const TYPES = { uint8: Uint8Array, uint16: Uint16Array, float32: Float32Array };
const NARROW = 720; // below this many pixels of page, matrices become strips of tokens with bars
const REST = 300; // milliseconds after which Python hears where the pointer stayed
const HATCHED_FROM = 12; // pixels of a cell
const SLANT = 0.9; // radians of a name that stands aslant
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

function bounded(value, least, most) {
  return Math.max(least, Math.min(most, value));
}

// Whether two places are the same one, or both none.
function alike(one, other) {
  if (!one || !other) return one === other || (!one && !other);
  return Object.keys(one).every((name) => one[name] === other[name]);
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

// Which colour of a ramp, from 0; in Python in viz/thumbnails.py.
function shadeNumber(ramp, weight, linear) {
  const position = linear ? weight : Math.sqrt(weight);
  return bounded(Math.round(position * (ramp.length - 1)), 0, ramp.length - 1);
}

function shade(theme, kind, weight, linear) {
  const ramp = theme.ramps[kind];
  return ramp[shadeNumber(ramp, weight, linear)];
}

function rgb(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

// Which of the theme's two ends of text stands out more on this colour.
function legible(theme, colour) {
  const light = (one) => rgb(one).reduce((sum, part, at) => sum + [0.2126, 0.7152, 0.0722][at] * (part / 255) ** 2.2, 0.05);
  const contrast = (one) => Math.max(light(one), light(colour)) / Math.min(light(one), light(colour));
  return contrast(theme.ink) >= contrast(theme.background) ? theme.ink : theme.background;
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
  const fontsCame = () => last && draw(last); // often only this drawing has asked for them
  document.fonts?.addEventListener("loadingdone", fontsCame);
  return () => {
    watcher.disconnect();
    document.fonts?.removeEventListener("loadingdone", fontsCame);
    last = 0;
  };
}

// Room for the longest of these texts: nothing below moves while they change. The caller writes one of them afterwards.
function reserve(paragraph, texts) {
  paragraph.style.minHeight = "";
  paragraph.textContent = texts.reduce((longest, text) => (text.length > longest.length ? text : longest), "");
  paragraph.style.minHeight = `${paragraph.offsetHeight}px`;
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
