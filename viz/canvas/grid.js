// Many heads as thumbnails. Hover reads which one it is, a click opens it.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header, arrays } = unpack(data);
  const { theme, heads, order, perRow, pinned, rowLabels } = header;
  const root = freshRoot(parentElement, theme);
  const GUTTER = 8;
  const CAPTION = 20;
  const LABEL = rowLabels.length ? 26 : 0;
  let opened = header.opened;
  let hovered = null;

  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "grid" });
  canvas.setAttribute("aria-label", `${heads.length} heads. Arrow keys move, Enter opens one.`);
  const reading = element("p", { class: "reading" });
  root.append(canvas, reading);
  const shades = heads.map(shadesOf);
  let pictures = [];
  let pictured = 0; // pixels of the longer side that they are made for
  let geometry = null;

  // The shade of every cell, -1 where the head may not look. Shades are as in viz/thumbnails.py: of the allowed cells only.
  function shadesOf(head, index) {
    const next = reader(arrays[`shades${index}`], head.low);
    const mask = arrays[`mask${head.mask}`]; // none for a head that may look everywhere
    return Int16Array.from({ length: head.cells[0] * head.cells[1] }, (_, cell) => (mask && !mask[cell] ? -1 : next()));
  }

  // One pixel a cell; when there are more cells than pixels, each pixel shows the largest, so that no peak is lost: the
  // larger the weight, the higher its shade.
  function picture(head, index) {
    const [T, S] = head.cells;
    const pool = Math.ceil(Math.max(T, S) / pictured);
    const [rows, columns] = [Math.ceil(T / pool), Math.ceil(S / pool)];
    const made = document.createElement("canvas");
    made.width = columns;
    made.height = rows;
    const context = made.getContext("2d");
    const image = context.createImageData(columns, rows);
    const colours = theme.ramps[head.kind].map(rgb);
    const forbidden = rgb(theme.forbidden);
    const largest = new Int16Array(rows * columns).fill(-1);
    for (let row = 0; row < T; row++) {
      for (let column = 0; column < S; column++) {
        const at = Math.floor(row / pool) * columns + Math.floor(column / pool);
        largest[at] = Math.max(largest[at], shades[index][row * S + column]);
      }
    }
    largest.forEach((shade, at) => image.data.set([...(shade < 0 ? forbidden : colours[shade]), 255], at * 4));
    context.putImageData(image, 0, 0);
    return made;
  }

  // One shade after the other: out of the Rice code of viz/thumbnails.py, or, in a report, a byte each.
  function reader(bytes, low) {
    let at = 0;
    if (low === undefined) return () => bytes[at++];
    return () => {
      let high = 0;
      for (; (bytes[at >> 3] >> (at & 7)) & 1; at++) high++;
      at++;
      const rest = ((bytes[at >> 3] | (bytes[(at >> 3) + 1] << 8)) >> (at & 7)) & ((1 << low) - 1);
      at += low;
      return (high << low) | rest;
    };
  }

  function height(index, size) {
    const [T, S] = heads[index].cells;
    return (T * size) / Math.max(T, S);
  }

  function measure(width) {
    let columns = perRow;
    const thumbnail = (n) => Math.floor((width - LABEL - (n - 1) * GUTTER - 4) / n);
    while (columns > 2 && thumbnail(columns) < 56) columns = Math.ceil(columns / 2);
    const size = Math.min(header.size, thumbnail(columns));
    const tallest = Math.max(...heads.map((_, index) => height(index, size)));
    const places = [];
    let [row, column, top, wrapped] = [0, 0, 4, 0];
    order.forEach((index, position) => {
      if (position && position % perRow === 0) {
        [row, column] = [row + 1, 0];
        top += tallest + CAPTION + (rowLabels.length ? 16 : GUTTER);
        wrapped = 0;
      } else if (column === columns) {
        column = 0;
        top += tallest + CAPTION + GUTTER;
        wrapped += 1;
      }
      places.push({ index, x: LABEL + 2 + column * (size + GUTTER), y: top, first: column === 0 && !wrapped, row });
      column += 1;
    });
    return { width, size, tallest, places, height: top + tallest + CAPTION + 8 };
  }

  function redraw() {
    if (!geometry) return;
    const { width, size, tallest, places } = geometry;
    const context = sized(canvas, width, geometry.height);
    context.imageSmoothingEnabled = false;
    for (const { index, x, y, first, row } of places) {
      const made = pictures[index];
      const [T, S] = heads[index].cells;
      const scale = size / Math.max(T, S);
      const [w, h] = [S * scale, T * scale];
      context.drawImage(made, x, y, w, h);
      context.strokeStyle = theme.line;
      context.lineWidth = 1;
      context.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
      if (pinned && index !== opened) {
        context.strokeStyle = theme.chrome;
        context.strokeRect(x + pinned[1] * scale, y + pinned[0] * scale, Math.max(scale, 3), Math.max(scale, 3));
      }
      if (index === opened || index === hovered) {
        outline(context, theme, x - 2, y - 2, w + 4, h + 4, index === opened ? 2.5 : 1);
      }
      context.fillStyle = index === opened ? theme.ink : theme.soft;
      context.font = size > 120 ? `14px ${SANS}` : `11px ${CODE}`;
      context.textAlign = "left";
      context.fillText(fitted(context, heads[index].caption, size), x, y + tallest + 15);
      if (first && LABEL) {
        context.font = `13px ${SANS}`;
        context.fillStyle = theme.soft;
        context.fillText(rowLabels[row] ?? "", 0, y + tallest / 2);
      }
    }
    const shown = heads[hovered ?? opened];
    reading.textContent = shown
      ? `${theme.marks[shown.kind]} ${shown.kind}, layer ${shown.layer}, ${shown.name}${hovered !== null && hovered !== opened ? forHand(" — click to open it") : ""}`
      : forHand("Click a map to see it among all heads.");
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const { size, tallest, places } = geometry;
    const found = places.find(({ x, y }) => px >= x - 4 && px < x + size + 4 && py >= y - 4 && py < y + tallest + CAPTION);
    return found ? found.index : null;
  }

  function open(index) {
    opened = index;
    const { kind, layer, head } = heads[index];
    setTriggerValue("open", { kind, layer, head });
    redraw();
  }

  function point(next) {
    canvas.style.cursor = next === null ? "default" : "pointer";
    if (next === hovered) return;
    hovered = next;
    redraw();
  }

  const walk = (by) => () => point(order[bounded(order.indexOf(hovered ?? opened ?? order[0]) + by, 0, order.length - 1)]);
  onPointer(canvas, under, point, open);
  onKeys(canvas, {
    ArrowUp: walk(-perRow),
    ArrowDown: walk(perRow),
    ArrowLeft: walk(-1),
    ArrowRight: walk(1),
    Enter: () => hovered !== null && open(hovered),
  });

  return onWidth(root, (width) => {
    geometry = measure(width);
    const pixels = Math.max(1, geometry.size * (window.devicePixelRatio || 1));
    if (pixels !== pictured) {
      pictured = pixels;
      pictures = heads.map(picture);
    }
    redraw();
  });
}
