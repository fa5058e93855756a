// A report that opens without a server: the canvases of the app, fed from one payload that stands in the page.

const text = document.getElementById("payload").textContent;
const { header, arrays } = unpack(Uint8Array.from(atob(text), (character) => character.charCodeAt(0)));
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const state = { ...header.opened, pinned: null, linear: false, lines: false };
const running = new Map(); // host -> how to stop the canvas in it
const host = (name) => document.getElementById(name);
const theme = () => header.themes[dark.matches ? "dark" : "light"];

// The inverse of unpack, so that each canvas gets what it gets in the app.
function pack(said, parts) {
  const names = { Uint8Array: "uint8", Uint16Array: "uint16", Float32Array: "float32" };
  const described = {};
  let size = 0;
  for (const [name, array] of Object.entries(parts)) {
    described[name] = { dtype: names[array.constructor.name], shape: array.shape, offset: size };
    size += Math.ceil(array.byteLength / 4) * 4;
  }
  let json = JSON.stringify({ ...said, arrays: described });
  while ((new TextEncoder().encode(json).length + 4) % 4) json += " ";
  const front = new TextEncoder().encode(json);
  const made = new Uint8Array(4 + front.length + size);
  new DataView(made.buffer).setUint32(0, front.length, true);
  made.set(front, 4);
  for (const [name, array] of Object.entries(parts)) {
    const raw = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    made.set(raw, 4 + front.length + described[name].offset);
  }
  return made;
}

function show(name, canvas, said, parts, onTrigger) {
  const parentElement = host(name);
  running.get(name)?.();
  const data = pack({ ...said, theme: theme() }, parts);
  running.set(name, canvas({ data, parentElement, setTriggerValue: onTrigger, setStateValue: onTrigger }));
}

function weightsOf(kind, index) {
  const all = arrays[kind];
  const [, , T, S] = all.shape;
  const one = all.subarray(index * T * S, (index + 1) * T * S);
  one.shape = [T, S];
  return one;
}

function showGrid() {
  const [L, H] = arrays[state.kind].shape;
  const allowed = arrays[`${state.kind}_allowed`];
  const ramp = theme().ramps[state.kind];
  const heads = [];
  const parts = { mask0: allowed };
  for (let index = 0; index < L * H; index++) {
    const [layer, head] = [Math.floor(index / H) + 1, (index % H) + 1];
    const weights = weightsOf(state.kind, index);
    const [name, caption] = [`head ${head}`, String(head)];
    heads.push({ kind: state.kind, layer, head, name, caption, cells: weights.shape, mask: 0 });
    const seen = weights.filter((_, cell) => allowed[cell]);
    const shades = Uint8Array.from(seen, (weight) => shadeNumber(ramp, weight, state.linear));
    shades.shape = [shades.length];
    parts[`shades${index}`] = shades;
  }
  const said = {
    heads,
    order: heads.map((_, index) => index),
    perRow: H,
    opened: (state.layer - 1) * H + state.head - 1,
    pinned: state.pinned,
    rowLabels: Array.from({ length: L }, (_, layer) => `L${layer + 1}`),
    size: 96,
  };
  show("grid", grid, said, parts, (name, value) => {
    if (name !== "open" || !value) return;
    Object.assign(state, { layer: value.layer, head: value.head });
    showHead();
  });
}

function showHead() {
  const [, H] = arrays[state.kind].shape;
  const map = { ...header.kinds[state.kind], kind: state.kind, layer: state.layer, head: `head ${state.head}` };
  const parts = {
    weights: weightsOf(state.kind, (state.layer - 1) * H + state.head - 1),
    allowed: arrays[`${state.kind}_allowed`],
  };
  const hint = "Point at a cell to read it; click to pin it.";
  const said = { map, pinned: state.pinned, linear: state.linear, lines: state.lines, hint };
  host("opened").textContent = `${theme().marks[state.kind]} ${state.kind}, layer ${state.layer}, head ${state.head}`;
  show("head", head, said, parts, (name, value) => {
    if (name !== "pin" || !value) return;
    state.pinned = value[0] < 0 ? null : value;
    showGrid();
  });
}

// A row of buttons of which one is on.
function choices(name, options, chosen, choose) {
  host(name).replaceChildren();
  for (const [value, label] of options) {
    const made = element("button", { type: "button", "aria-pressed": String(value === chosen) }, label);
    made.addEventListener("click", () => {
      choose(value);
      showAll();
    });
    host(name).append(made);
  }
}

function showAll() {
  for (const [name, value] of Object.entries(theme())) {
    if (typeof value === "string") document.body.style.setProperty(`--${name}`, value);
  }
  document.documentElement.style.colorScheme = theme().name;
  const marks = theme().marks;
  const kinds = Object.keys(header.kinds).map((kind) => [kind, `${marks[kind]} ${kind}`]);
  choices("kinds", kinds, state.kind, (kind) => Object.assign(state, { kind, layer: 1, head: 1, pinned: null }));
  choices("views", [[false, "matrix"], [true, "lines"]], state.lines, (lines) => Object.assign(state, { lines }));
  choices("scales", [[false, "√"], [true, "linear"]], state.linear, (linear) => Object.assign(state, { linear }));
  show("translation", translation, header.translation, {}, () => {});
  showGrid();
  showHead();
}

dark.addEventListener("change", showAll);
showAll();
