// The network as in figure 1 of the paper: boxes that are buttons, arrows with this sentence's shapes, and beside it what
// a step of the flow does and how many numbers each part has learned. On a phone the boxes stand in one column.

const WIDE = 664; // pixels of the drawing; with less room than that, one column
const BESIDE = WIDE + 320; // from here on the texts stand beside it
const HEIGHT = 692;
const BOX = { encoder: 64, decoder: 392, width: 220 };
const MIDDLE = { encoder: BOX.encoder + BOX.width / 2, decoder: BOX.decoder + BOX.width / 2 };
const EDGE = { encoder: BOX.encoder, decoder: BOX.decoder + BOX.width }; // where the residual paths run
const OUTWARDS = { encoder: -1, decoder: 1 };
// Top and height of each box.
const ROW = {
  written: [12, 38], softmax: [80, 32], linear: [140, 36],
  decoder_norm_3: [220, 24], decoder_feed_forward: [246, 44],
  decoder_norm_2: [320, 24], cross: [346, 44], encoder_norm_2: [320, 24], encoder_feed_forward: [346, 44],
  decoder_norm_1: [420, 24], masked: [446, 44], encoder_norm_1: [420, 24], encoder: [446, 44],
  encoder_positions: [530, 32], decoder_positions: [530, 32], encoder_embedding: [586, 36], decoder_embedding: [586, 36],
  encoder_tokens: [652, 38], decoder_tokens: [652, 38],
};
const PLUS = 546; // where positions are added
const FRAME = { encoder: 306, decoder: 206, bottom: 512 };
const BADGES = { vectors: [338, 604], encoder: [34, 306], decoder: [378, 206], output: [356, 158] };
const SHEETS = 5; // layers drawn behind the first, at most
const LETTERS = { S: "source tokens", T: "target tokens", D: "numbers a token", H: "heads", K: "numbers a head", F: "neurons", V: "pieces" };
const FADED = 0.25;

export default function ({ data, parentElement, setTriggerValue }) {
  const { header } = unpack(data);
  const { theme, boxes, layers, flow } = header;
  const out = Object.fromEntries(boxes.map((box) => [box.name, box.out]));
  const root = freshRoot(parentElement, theme);
  root.classList.add("network");
  let wide = null;

  const drawing = element("div", { class: "drawing" });
  const canvas = element("canvas", { "data-marker": "network", role: "img", "aria-label": "The network, from the sentence to what is written" });
  const panel = element("div", { class: "panel" });
  const step = element("div", { class: "card said", "data-marker": "flow" });
  const reading = element("div", { class: "card box-reading", "aria-live": "polite", "data-marker": "box" });
  const bars = element("div", { class: "strip parts", "data-marker": "parts" });
  step.append(element("p", { class: "kind" }, header.names[flow]), element("p", {}, forHand(header.said)));
  panel.append(step, reading, bars);
  root.append(drawing, panel);
  fillBars();
  read(null);

  const isLit = (...flows) => flow === "whole" || flows.includes(flow);
  const count = (side) => (layers[side] === 1 ? "1 layer" : `${layers[side]} layers`);

  // ------------------------------------------------------------------ boxes

  function boxButton(box) {
    const made = element("button", { type: "button", class: "box", "data-box": box.name });
    const tokens = header.tokens[box.name];
    made.append(element("span", { class: tokens ? "soft" : "title" }, box.title));
    if (tokens) made.append(element("span", { class: "token" }, wide ? beginning(tokens) : tokens.join(" ")));
    if (box.shape) made.append(element("span", { class: "token" }, box.shape));
    if (!wide) made.append(element("span", { class: "soft does" }, box.does)); // nobody hovers on a phone
    made.setAttribute("aria-label", [box.title, box.does, box.door && `Opens ${box.door}`].filter(Boolean).join(". "));
    if (box.kind) {
      made.style.borderColor = theme[box.kind];
      made.style.background = theme.ramps[box.kind][18];
    }
    made.classList.toggle("thin", box.name.includes("_norm_"));
    made.classList.toggle("shut", !box.door);
    made.classList.toggle("faded", !isLit(box.flow));
    for (const event of ["pointerenter", "focus"]) made.addEventListener(event, () => read(box));
    for (const event of ["pointerleave", "blur"]) made.addEventListener(event, () => read(null));
    made.addEventListener("click", () => box.door && setTriggerValue("door", box.name));
    const along = (by) => () => drawing.querySelector(`[data-box=${boxes[boxes.indexOf(box) + by]?.name}]`)?.focus();
    const up = wide ? 1 : -1;
    onKeys(made, { ArrowRight: along(1), ArrowLeft: along(-1), ArrowUp: along(up), ArrowDown: along(-up), Escape: () => made.blur() });
    return made;
  }

  // What of the tokens fits into a box; a style that hides the rest would not reach an exported picture.
  function beginning(tokens) {
    const context = canvas.getContext("2d");
    context.font = `12px ${CODE}`;
    return fitted(context, tokens.join(" "), BOX.width - 24);
  }

  function badge(name) {
    const number = Object.keys(BADGES).indexOf(name) + 1;
    const made = button(String(number), `step ${header.names[name]}`, () => setTriggerValue("flow", flow === name ? "whole" : name));
    made.classList.add("badge");
    made.setAttribute("aria-pressed", flow === name ? "true" : "false");
    return made;
  }

  function read(box) {
    reading.replaceChildren();
    if (box) {
      const title = element("p", { class: "kind" }, box.title);
      if (box.kind) title.style.color = theme[box.kind];
      const facts = [box.shape && `${box.shape} inside`, box.out && `${box.out} on the way out`, box.parameters, box.door && forHand(`a click opens ${box.door}`)];
      reading.append(title, element("p", {}, box.does), element("p", { class: "soft small" }, facts.filter(Boolean).join(" · ")));
    } else reading.append(element("p", { class: "soft" }, header.note));
    for (const line of bars.children) line.classList.toggle("marked", Boolean(box?.part) && line.dataset.part === box.part);
  }

  function fillBars() {
    const most = Math.max(...header.parts.map((part) => part.count));
    bars.append(element("p", { class: "kind" }, `${header.total.toLocaleString("en")} parameters`));
    for (const part of header.parts) {
      const row = element("div", { class: "bar", "data-part": part.name });
      const track = element("span", { class: "track" });
      const level = element("span", { class: "level" });
      level.style.width = `${(100 * part.count) / most}%`;
      level.style.background = part.kind ? theme[part.kind] : theme.chrome;
      track.append(level);
      const label = part.kind ? `${theme.marks[part.kind]} ${part.label}` : part.label;
      row.append(element("span", {}, label), track, element("span", { class: "digits" }, part.count.toLocaleString("en")));
      bars.append(row);
    }
  }

  // ------------------------------------------------------------------ narrow: one column

  function standInOneColumn() {
    let part = null;
    for (const box of boxes) {
      if (part !== `${box.side} ${box.flow}`) drawing.append(heading(box));
      part = `${box.side} ${box.flow}`;
      drawing.append(boxButton(box));
      const name = box.name === "encoder_norm_2" ? "memory " : "";
      const out = isLit(box.flow) ? "out token" : "out token faded";
      if (box.out) drawing.append(element("span", { class: out }, `↓ ${name}${box.out}`));
    }
  }

  function heading(box) {
    const made = element("div", { class: "part" });
    const more = box.flow === "vectors" ? `, ${box.side}'s side` : box.flow === box.side ? `, ${count(box.side)}` : "";
    made.append(badge(box.flow), element("span", { class: "kind" }, header.names[box.flow].slice(2) + more));
    return made;
  }

  // ------------------------------------------------------------------ wide: the figure

  function standAsInThePaper() {
    drawing.append(canvas);
    for (const box of boxes) {
      const [top, height] = ROW[box.name];
      const outside = box.name.endsWith("_positions");
      const x = outside ? (box.side === "encoder" ? 0 : WIDE - 106) : BOX[box.side];
      place(boxButton(box), x, top, outside ? 106 : BOX.width, height);
    }
    for (const [name, [x, y]] of Object.entries(BADGES)) place(badge(name), x - 14, y - 14, 28, 28);
    const list = element("dl", { class: "letters" });
    for (const [letter, meaning] of Object.entries(LETTERS)) {
      const size = element("dd", { class: "token" }, header.sizes[letter].toLocaleString("en"));
      list.append(element("dt", {}, letter), size, element("dd", {}, meaning));
    }
    drawing.append(list);
  }

  function place(made, x, y, width, height) {
    Object.assign(made.style, { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    drawing.append(made);
  }

  function draw() {
    const context = sized(canvas, WIDE, HEIGHT);
    context.lineWidth = 1.5;
    for (const side of ["encoder", "decoder"]) {
      within(context, [side], drawFrame, side);
      within(context, ["vectors"], drawInput, side);
      within(context, ["vectors", side], drawEntrance, side);
      within(context, [side], drawLayer, side);
    }
    within(context, ["encoder", "decoder"], drawMemory);
    within(context, ["output"], drawOutput);
  }

  // Draws a part, faded if it belongs to none of the lit steps.
  function within(context, flows, part, ...options) {
    context.globalAlpha = isLit(...flows) ? 1 : FADED;
    context.strokeStyle = context.fillStyle = theme.chrome;
    part(context, ...options);
    context.globalAlpha = 1;
  }

  function drawFrame(context, side) {
    const x = BOX[side] - 30;
    for (let sheet = Math.min(layers[side] - 1, SHEETS); sheet >= 0; sheet--) {
      context.beginPath();
      context.roundRect(x + OUTWARDS[side] * 4 * sheet, FRAME[side] - 4 * sheet, BOX.width + 60, FRAME.bottom - FRAME[side], 12);
      context.fillStyle = theme.background;
      context.strokeStyle = theme.hatch;
      context.fill();
      context.stroke();
    }
    context.fillStyle = theme.soft;
    context.font = `600 13px ${SANS}`;
    context.textAlign = side === "encoder" ? "right" : "left";
    context.fillText(count(side), side === "encoder" ? x + BOX.width + 50 : x + 10, FRAME.bottom - 8);
  }

  function drawInput(context, side) {
    const x = MIDDLE[side];
    rise(context, x, 652, 622, out[`${side}_tokens`]);
    rise(context, x, 586, PLUS + 11, out[`${side}_embedding`]);
    context.beginPath();
    context.arc(x, PLUS, 11, 0, 2 * Math.PI);
    context.stroke();
    path(context, [x - 6, PLUS], [x + 6, PLUS]);
    path(context, [x, PLUS - 6], [x, PLUS + 6]);
    arrow(context, [side === "encoder" ? 106 : WIDE - 106, PLUS], [x + OUTWARDS[side] * 12, PLUS]);
  }

  function drawEntrance(context, side) {
    label(context, out[`${side}_positions`], MIDDLE[side] + 10, 526);
    path(context, [MIDDLE[side], PLUS - 11], [MIDDLE[side], 502]);
  }

  function drawLayer(context, side) {
    const x = MIDDLE[side];
    for (const aside of [-56, 0, 56]) arrow(context, [x, 502], [x + aside, 502], [x + aside, 490]); // queries, keys, values
    residual(context, side, 508, 432);
    rise(context, x, 420, 390, out[`${side}_norm_1`], 405);
    residual(context, side, 412, 332);
    if (side === "encoder") return;
    rise(context, x, 320, 290, out.decoder_norm_2, 303);
    residual(context, side, 312, 232);
  }

  // Past the sub-layer, to be added to what it found.
  function residual(context, side, from, to) {
    const outside = EDGE[side] + OUTWARDS[side] * 16;
    arrow(context, [MIDDLE[side], from], [outside, from], [outside, to], [EDGE[side] + OUTWARDS[side], to]);
  }

  // From the encoder's last layer to keys and values of every cross-attention.
  function drawMemory(context) {
    const across = (BOX.encoder + BOX.width + BOX.decoder) / 2;
    for (const aside of [28, 62]) {
      const x = BOX.decoder + aside;
      arrow(context, [MIDDLE.encoder, 320], [MIDDLE.encoder, 282], [across, 282], [across, 402], [x, 402], [x, 390]);
    }
    label(context, `memory ${out.encoder_norm_2}`, MIDDLE.encoder + 10, 274);
  }

  function drawOutput(context) {
    rise(context, MIDDLE.decoder, 220, 176, out.decoder_norm_3, 193);
    rise(context, MIDDLE.decoder, 140, 112, out.linear);
    rise(context, MIDDLE.decoder, 80, 50, out.softmax);
  }

  function rise(context, x, from, to, text, at = (from + to) / 2 + 4) {
    arrow(context, [x, from], [x, to]);
    label(context, text, x + 10, at);
  }

  function path(context, ...points) {
    context.beginPath();
    points.forEach(([x, y], index) => (index ? context.lineTo(x, y) : context.moveTo(x, y)));
    context.stroke();
  }

  // A line along these points, with its head at the last.
  function arrow(context, ...points) {
    const [x, y] = points[points.length - 1];
    const [fromX, fromY] = points[points.length - 2];
    const [right, down] = [Math.sign(x - fromX), Math.sign(y - fromY)];
    path(context, ...points.slice(0, -1), [x - 5 * right, y - 5 * down]);
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x - 7 * right - 4 * down, y - 7 * down - 4 * right);
    context.lineTo(x - 7 * right + 4 * down, y - 7 * down + 4 * right);
    context.closePath();
    context.fill();
  }

  function label(context, text, x, y) {
    context.fillStyle = theme.soft;
    context.font = `11px ${CODE}`;
    context.textAlign = "left";
    context.fillText(text, x, y);
    context.fillStyle = theme.chrome;
  }

  return onWidth(root, (width) => {
    root.classList.toggle("one-column", width < WIDE);
    root.classList.toggle("beside", width >= BESIDE);
    if (wide !== width >= WIDE) {
      wide = width >= WIDE;
      drawing.replaceChildren();
      (wide ? standAsInThePaper : standInOneColumn)();
    }
    if (wide) draw();
  });
}
