// One cell of one head, step by step: query times key, scaled, masked, softmax, and what the head moves.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, kind, columns, column, words } = header;
  const K = arrays.query.length;
  const S = columns.length;
  const root = freshRoot(parentElement, theme);
  root.classList.add("inside");
  const hue = theme[kind];
  let hovered = null;
  let geometry = null;

  const title = (text) => element("h3", {}, text);
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "product" });
  canvas.setAttribute("aria-label", `Query times key, ${K} dimensions. Arrow keys read one after the other.`);
  const reading = element("p", { class: "reading", "aria-live": "polite" });
  const chain = element("div", { class: "chain", "data-marker": "chain" });
  const row = element("div", { class: "row", role: "table", "data-marker": "row" });
  const heads = element("div", { class: "strip heads", "data-marker": "heads" });
  root.append(title(words.product), canvas, reading, title(words.chain), chain, title(words.row), row, title(words.heads), heads);
  root.append(element("p", { class: "soft" }, words.sum));
  fillChain();
  fillRow();
  fillHeads();

  const PARTS = [["query", words.query], ["key", words.key], ["product", words.products]];
  const HEIGHT = 74;
  const LABEL = 150;

  function measure(width) {
    const label = width < 560 ? 0 : LABEL;
    return { width, label, bar: (width - label - 4) / K, height: PARTS.length * (HEIGHT + (label ? 0 : 18)) + 8 };
  }

  function redraw() {
    if (!geometry) return;
    const { width, label, bar, height } = geometry;
    const context = sized(canvas, width, height);
    const most = Math.max(...arrays.query.map(Math.abs), ...arrays.key.map(Math.abs), 1e-9);
    const mostProduct = Math.max(...arrays.product.map(Math.abs), 1e-9);
    PARTS.forEach(([name, text], index) => {
      const top = index * (HEIGHT + (label ? 0 : 18)) + (label ? 0 : 18);
      const middle = top + HEIGHT / 2;
      const scale = (HEIGHT / 2 - 6) / (name === "product" ? mostProduct : most);
      context.fillStyle = theme.soft;
      context.font = `14px ${SANS}`;
      context.textAlign = "left";
      context.fillText(fitted(context, text, label ? LABEL - 16 : width), 0, label ? middle + 5 : top - 4);
      context.fillStyle = theme.line;
      context.fillRect(label, middle, bar * K, 1);
      arrays[name].forEach((value, dimension) => {
        context.fillStyle = value < 0 ? theme.negative : theme.positive;
        context.globalAlpha = hovered === null || hovered === dimension ? 1 : 0.45;
        const tall = Math.max(Math.abs(value) * scale, 0.5);
        context.fillRect(label + dimension * bar + 1, value < 0 ? middle : middle - tall, Math.max(1, bar - 2), tall);
      });
      context.globalAlpha = 1;
    });
    if (hovered !== null) outline(context, theme, label + hovered * bar, 1, bar, height - 4, 1);
    reading.textContent =
      hovered === null
        ? forHand(words.hint)
        : `dimension ${hovered + 1} of ${K}: ${signed(arrays.query[hovered])} × ${signed(arrays.key[hovered])} = ${signed(arrays.product[hovered])}`;
  }

  // The chain from the sum of products to the weight, as links that can wrap.
  function fillChain() {
    for (const [text, value, note] of header.chain) {
      const link = element("div", { class: "link" });
      link.append(element("span", { class: "soft" }, text), element("b", { class: "token" }, value), element("span", { class: "soft small" }, note));
      chain.append(link);
    }
  }

  function fillRow() {
    const head = element("div", { class: "line head", role: "row" });
    for (const text of words.columns) head.append(element("span", { role: "columnheader" }, text));
    row.append(head);
    const mostMoved = Math.max(...arrays.moved, 1e-9);
    for (let at = 0; at < S; at++) {
      const allowed = arrays.allowed[at] === 1;
      const line = element("button", { type: "button", class: "line", "data-column": String(at + 1) });
      if (at === column) line.setAttribute("aria-current", "true");
      line.append(element("span", { class: "token" }, columns[at]));
      line.append(element("span", { class: "digits" }, signed(arrays.scores[at])));
      line.append(element("span", { class: "digits" }, allowed ? digits(arrays.exponentials[at]) : "0 (−∞)"));
      line.append(bar(arrays.weights[at], allowed, hue), element("span", { class: "digits" }, allowed ? digits(arrays.weights[at]) : "0"));
      line.append(bar(arrays.moved[at] / mostMoved, allowed, theme.chrome), element("span", { class: "digits" }, digits(arrays.moved[at])));
      line.addEventListener("click", () => setTriggerValue("column", at + 1));
      row.append(line);
    }
  }

  function fillHeads() {
    const most = Math.max(...arrays.heads, 1e-9);
    arrays.heads.forEach((norm, index) => {
      const line = element("div", { class: "bar" });
      if (index + 1 === header.head) line.classList.add("marked");
      line.append(element("span", { class: "token" }, `head ${index + 1}`), bar(norm / most, true, index + 1 === header.head ? hue : theme.chrome), element("span", { class: "digits" }, digits(norm)));
      heads.append(line);
    });
  }

  function bar(share, allowed, colour) {
    const track = element("span", { class: allowed ? "track" : "track forbidden" });
    const level = element("span", { class: "level" });
    level.style.width = `${allowed ? 100 * share : 0}%`;
    level.style.background = colour;
    track.append(level);
    return track;
  }

  function point(dimension) {
    if (dimension === hovered) return;
    hovered = dimension;
    redraw();
  }

  function under(event) {
    const at = Math.floor((pointed(event, canvas)[0] - geometry.label) / geometry.bar);
    return at >= 0 && at < K ? at : null;
  }

  onPointer(canvas, under, point);
  onKeys(canvas, {
    ArrowRight: () => point(Math.min(K - 1, (hovered ?? -1) + 1)),
    ArrowLeft: () => point(Math.max(0, (hovered ?? 1) - 1)),
    Escape: () => point(null),
  });

  return onWidth(root, (width) => {
    geometry = measure(width);
    redraw();
  });
}
