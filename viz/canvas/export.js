// Any picture as SVG or PNG: a context that writes down what a canvas draws, and a walk over what stands around it.

const XML = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const EXPORT_SCALE = 2; // pixels of a PNG for each CSS pixel

// What is drawn while this is set is written down (a Recorder for each canvas) or drawn at another resolution.
const exporting = { recording: false, scale: null };

function xml(text) {
  const readable = text.toWellFormed().replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "\uFFFD");
  return readable.replace(/[&<>"]/g, (character) => XML[character]);
}

function rounded(value) {
  return String(Math.round(value * 100) / 100);
}

// A context that looks like a canvas's own, and holds SVG elements instead of pixels.
class Recorder {
  constructor(width, height) {
    Object.assign(this, { width, height, elements: [], clips: [], stack: [], path: "" });
    this.state = { transform: "", clip: "" };
    this.dash = [];
    Object.assign(this, { fillStyle: "black", strokeStyle: "black", lineWidth: 1, globalAlpha: 1 });
    Object.assign(this, { font: "10px sans-serif", textAlign: "left", lineJoin: "miter", textBaseline: "alphabetic" });
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, lineJoin, dash } = this;
    const styles = { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, lineJoin, dash };
    this.stack.push([{ ...this.state }, styles]);
  }

  restore() {
    const [state, styles] = this.stack.pop();
    this.state = state;
    Object.assign(this, styles);
  }

  translate(x, y) {
    this.state.transform += `translate(${rounded(x)} ${rounded(y)})`;
  }

  rotate(angle) {
    this.state.transform += `rotate(${rounded((angle * 180) / Math.PI)})`;
  }

  scale(x, y) {
    this.state.transform += `scale(${rounded(x)} ${rounded(y)})`;
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  beginPath() {
    this.path = "";
  }

  closePath() {
    this.path += "Z";
  }

  moveTo(x, y) {
    this.path += `M${rounded(x)} ${rounded(y)}`;
  }

  lineTo(x, y) {
    this.path += `${this.path ? "L" : "M"}${rounded(x)} ${rounded(y)}`;
  }

  bezierCurveTo(...numbers) {
    this.path += `C${numbers.map(rounded).join(" ")}`;
  }

  quadraticCurveTo(...numbers) {
    this.path += `Q${numbers.map(rounded).join(" ")}`;
  }

  rect(x, y, width, height) {
    this.path += `M${rounded(x)} ${rounded(y)}h${rounded(width)}v${rounded(height)}h${rounded(-width)}Z`;
  }

  roundRect(x, y, width, height, radius) {
    const corner = Array.isArray(radius) ? Math.max(...radius) : radius;
    const r = Math.max(0, Math.min(corner, width / 2, height / 2));
    const arc = (dx, dy) => `a${rounded(r)} ${rounded(r)} 0 0 1 ${rounded(dx)} ${rounded(dy)}`;
    this.path += `M${rounded(x + r)} ${rounded(y)}h${rounded(width - 2 * r)}${arc(r, r)}v${rounded(height - 2 * r)}`;
    this.path += `${arc(-r, r)}h${rounded(2 * r - width)}${arc(-r, -r)}v${rounded(2 * r - height)}${arc(r, -r)}Z`;
  }

  arc(x, y, radius, from, to) {
    const whole = Math.abs(to - from) >= 2 * Math.PI - 1e-6;
    const at = (angle) => `${rounded(x + radius * Math.cos(angle))} ${rounded(y + radius * Math.sin(angle))}`;
    const r = rounded(radius);
    const joint = this.path && !this.path.endsWith("Z") ? "L" : "M";
    this.path += `${joint}${at(from)}`;
    if (whole) this.path += `A${r} ${r} 0 1 1 ${at(from + Math.PI)}A${r} ${r} 0 1 1 ${at(from)}`;
    else this.path += `A${r} ${r} 0 ${to - from > Math.PI ? 1 : 0} 1 ${at(to)}`;
  }

  clip() {
    this.clips.push({ path: this.path, transform: this.state.transform });
    this.state.clip = this.clips.length;
  }

  clearRect() {}

  fillRect(x, y, width, height) {
    const box = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"`;
    if (width > 0 && height > 0) this.add(`rect ${box} ${this.filled()}`);
  }

  strokeRect(x, y, width, height) {
    const box = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"`;
    this.add(`rect ${box} fill="none" ${this.stroked()}`);
  }

  fill() {
    this.add(`path d="${this.path}" ${this.filled()}`);
  }

  stroke() {
    this.add(`path d="${this.path}" fill="none" ${this.stroked()}`);
  }

  fillText(text, x, y) {
    const [, style = "", weight = "", size, family] = this.font.match(/^(italic )?(\d+ |bold )?([\d.]+)px (.*)$/);
    const anchor = { left: "start", start: "start", center: "middle", right: "end", end: "end" }[this.textAlign];
    const font = [`font-family="${xml(family)}" font-size="${size}"`];
    if (weight.trim()) font.push(`font-weight="${weight.trim()}"`);
    if (style) font.push('font-style="italic"');
    const down = this.textBaseline === "middle" ? 0.35 * Number(size) : this.textBaseline === "top" ? 0.8 * Number(size) : 0;
    const place = `x="${rounded(x)}" y="${rounded(y + down)}" text-anchor="${anchor}"`;
    this.add(`text ${place} ${font.join(" ")} xml:space="preserve" ${this.filled()}`, xml(String(text)));
  }

  // Something recorded stays what it is; pixels are carried along as a PNG.
  drawImage(source, x, y, width = source.width, height = source.height) {
    if (source.recorded) {
      const { recorded } = source;
      const scale = `scale(${rounded(width / recorded.width)} ${rounded(height / recorded.height)})`;
      this.add(`g transform="${this.state.transform}translate(${rounded(x)} ${rounded(y)})${scale}"`, recorded.inner(this), false);
      return;
    }
    const box = `x="${rounded(x)}" y="${rounded(y)}" width="${rounded(width)}" height="${rounded(height)}"`;
    this.add(`image ${box} preserveAspectRatio="none" style="image-rendering:pixelated" href="${source.toDataURL()}"`);
  }

  filled() {
    return `fill="${this.fillStyle}"${this.faded()}`;
  }

  stroked() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    return `stroke="${this.strokeStyle}" stroke-width="${rounded(this.lineWidth)}" stroke-linejoin="${this.lineJoin}"${dash}${this.faded()}`;
  }

  faded() {
    return this.globalAlpha < 1 ? ` opacity="${rounded(this.globalAlpha)}"` : "";
  }

  add(opening, content = "", moved = true) {
    const transform = moved && this.state.transform ? ` transform="${this.state.transform}"` : "";
    const element = `<${opening}${transform}>${content}</${opening.split(" ", 1)[0]}>`;
    this.elements.push({ element, clip: this.state.clip });
  }

  // The elements, with the clips numbered within the outermost picture.
  inner(outermost = this) {
    const first = outermost === this ? 0 : outermost.clips.length;
    if (outermost !== this) outermost.clips.push(...this.clips);
    return this.elements
      .map(({ element, clip }) => (clip ? `<g clip-path="url(#clip${first + clip})">${element}</g>` : element))
      .join("\n");
  }

  svg(title) {
    const inner = this.inner();
    const clips = this.clips.map(
      ({ path, transform }, at) => `<clipPath id="clip${at + 1}"><path d="${path}"${transform ? ` transform="${transform}"` : ""}></path></clipPath>`,
    );
    const [width, height] = [rounded(this.width), rounded(this.height)];
    const opening = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
    return `${opening}<title>${xml(title)}</title><defs>${clips.join("")}</defs>\n${inner}\n</svg>\n`;
  }
}

// Draws an element and all in it, as it stands on the page, on a context: boxes, lines of text, canvases.
function paint(node, context, [left, top]) {
  const style = getComputedStyle(node);
  const box = node.getBoundingClientRect();
  const unseen = style.display === "none" || style.visibility === "hidden" || style.clipPath !== "none";
  if (unseen || node.classList.contains("unexported")) return;
  const [x, y] = [box.left - left, box.top - top];
  paintBox(style, context, x, y, box.width, box.height);
  if (node instanceof HTMLCanvasElement) {
    if (box.width && box.height) context.drawImage(node, x, y, box.width, box.height);
    return;
  }
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) paintText(child, style, context, [left, top]);
    else if (child instanceof HTMLElement) paint(child, context, [left, top]);
  }
}

function isSeen(colour) {
  return colour !== "transparent" && !/[,/] ?0\)$/.test(colour);
}

function paintBox(style, context, x, y, width, height) {
  const radius = Math.min(parseFloat(style.borderTopLeftRadius) || 0, width / 2, height / 2);
  const outlined = () => {
    context.beginPath();
    context.roundRect(x, y, width, height, radius);
  };
  if (isSeen(style.backgroundColor)) {
    context.fillStyle = style.backgroundColor;
    outlined();
    context.fill();
  }
  const sides = ["Top", "Bottom"].filter((side) => parseFloat(style[`border${side}Width`]) && isSeen(style[`border${side}Color`]));
  if (sides.length === 2) {
    context.strokeStyle = style.borderTopColor;
    context.lineWidth = parseFloat(style.borderTopWidth);
    outlined();
    context.stroke();
  } else if (sides.length) {
    const line = parseFloat(style[`border${sides[0]}Width`]);
    context.fillStyle = style[`border${sides[0]}Color`];
    context.fillRect(x, sides[0] === "Top" ? y : y + height - line, width, line);
  }
}

function paintText(node, style, context, [left, top]) {
  context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.textAlign = "left";
  for (const { text, box } of linesOf(node)) {
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = context.measureText(text);
    context.fillText(text, box.left - left, box.top - top + (box.height - up - down) / 2 + up);
  }
}

// The text of a node line by line, each with its place.
function linesOf(node) {
  const range = document.createRange();
  const lines = [];
  let from = 0;
  for (const character of node.data) {
    range.setStart(node, from);
    range.setEnd(node, (from += character.length));
    const box = range.getBoundingClientRect();
    if (!box.width) continue;
    const last = lines[lines.length - 1];
    if (last && Math.abs(last.box.top - box.top) < box.height / 2) last.text += character;
    else lines.push({ text: character, box });
  }
  return lines.filter(({ text }) => text.trim());
}

// Draws everything in `root` once more with these settings, hands it to `use`, and leaves the page as it was.
function redrawn(root, redraw, settings, use) {
  Object.assign(exporting, settings);
  root.classList.add("exporting");
  try {
    redraw();
    const { width, height } = extent(root);
    return use(width, height, root.getBoundingClientRect());
  } finally {
    Object.assign(exporting, { recording: false, scale: null });
    root.classList.remove("exporting");
    redraw();
  }
}

function extent(root) {
  const { left, top } = root.getBoundingClientRect();
  const seen = Array.from(root.querySelectorAll("*")).filter((node) => !node.closest(".unexported"));
  const boxes = seen.map((node) => node.getBoundingClientRect()).filter((box) => box.width);
  return { width: Math.max(...boxes.map((box) => box.right - left)), height: Math.max(...boxes.map((box) => box.bottom - top)) };
}

function pictureAsSvg(root, redraw, title) {
  return redrawn(root, redraw, { recording: true }, (width, height, { left, top }) => {
    const whole = new Recorder(width, height);
    whole.fillStyle = getComputedStyle(root).getPropertyValue("--background");
    whole.fillRect(0, 0, width, height);
    paint(root, whole, [left, top]);
    return new Blob([whole.svg(title)], { type: "image/svg+xml" });
  });
}

function pictureAsPng(root, redraw) {
  const canvas = document.createElement("canvas");
  redrawn(root, redraw, { scale: EXPORT_SCALE }, (width, height, { left, top }) => {
    canvas.width = Math.round(width * EXPORT_SCALE);
    canvas.height = Math.round(height * EXPORT_SCALE);
    const context = canvas.getContext("2d");
    context.scale(EXPORT_SCALE, EXPORT_SCALE);
    context.fillStyle = getComputedStyle(root).getPropertyValue("--background");
    context.fillRect(0, 0, width, height);
    paint(root, context, [left, top]);
  });
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// The two buttons under every picture. `redraw` draws all of it as it stands.
function exportButtons(root, redraw) {
  const bar = element("div", { class: "exports unexported" });
  const name = () => root.querySelector("canvas[data-marker]")?.dataset.marker ?? "picture";
  const title = () => root.querySelector("canvas[aria-label]")?.getAttribute("aria-label") ?? "";
  bar.append(
    button("PNG", "Download this picture as PNG", async () => download(await pictureAsPng(root, redraw), `headlight-${name()}.png`)),
    button("SVG", "Download this picture as SVG", () => download(pictureAsSvg(root, redraw, title()), `headlight-${name()}.svg`)),
  );
  return bar;
}
