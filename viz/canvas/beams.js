// A beam search as a tree: a column for each step, in it what was compared, likeliest on top. Hover reads, arrows walk.

const COLUMN = 132;
const ROW = 36;
const HEAD = 26;
const TEXT = 92; // pixels of a node

export default function ({ data, parentElement }) {
  const { header } = unpack(data);
  const { theme, steps } = header;
  const before = parentElement.querySelector(".tree-holder");
  const scrolled = before ? before.scrollLeft : null;
  const root = freshRoot(parentElement, theme);
  let hovered = null; // {step, rank}, from 0

  const holder = element("div", { class: "tree-holder" });
  const canvas = element("canvas", { tabindex: "0", role: "application", "data-marker": "beams" });
  const nodes = steps.reduce((sum, step) => sum + step.length, 0);
  canvas.setAttribute(
    "aria-label",
    `Beam search, ${steps.length} steps, ${nodes} continuations. Up and down move in a step, left goes to what is continued, right to its best continuation.`,
  );
  const reading = element("p", { class: "reading", "aria-live": "polite", "data-marker": "node" });
  holder.append(canvas);
  const fade = fadeWhereMore(holder);
  root.append(holder, reading);
  const most = Math.max(...steps.map((step) => step.length));
  const WIDTH = steps.length * COLUMN + 8;
  const HEIGHT = HEAD + most * ROW + 4;

  const x = (step) => 4 + step * COLUMN;
  const y = (rank) => HEAD + (rank + 0.5) * ROW;
  const node = (at) => steps[at.step][at.rank];

  // The node and all that it continues.
  function path(at) {
    const found = [];
    for (let { step, rank } = at; step >= 0; rank = steps[step][rank].parent, step--) found.push(`${step} ${rank}`);
    return new Set(found);
  }

  function redraw() {
    const context = sized(canvas, WIDTH, HEIGHT);
    const lit = hovered ? path(hovered) : null;
    drawHead(context);
    for (const passes of ["faint", "strong"]) {
      steps.forEach((step, column) => {
        step.forEach((one, rank) => {
          const strong = lit ? lit.has(`${column} ${rank}`) : one.best;
          if (strong === (passes === "strong") && column) drawEdge(context, column, one.parent, rank, one, strong);
        });
      });
    }
    steps.forEach((step, column) => step.forEach((one, rank) => drawNode(context, column, rank, one, lit)));
    reading.textContent = hovered ? node(hovered).said : forHand(header.hint);
  }

  function drawHead(context) {
    context.font = `11px ${CODE}`;
    context.textAlign = "left";
    context.fillStyle = theme.soft;
    steps.forEach((_, column) => context.fillText(`step ${column + 1}`, x(column) + 6, 14));
  }

  function drawEdge(context, column, parent, rank, one, strong) {
    const [fromX, toX] = [x(column - 1) + TEXT, x(column)];
    context.strokeStyle = strong ? theme.ink : theme.chrome;
    context.globalAlpha = strong ? 1 : one.fate === "dropped" ? 0.22 : 0.6;
    context.lineWidth = strong ? 2.5 : 1.2;
    context.beginPath();
    context.moveTo(fromX, y(parent));
    context.bezierCurveTo(fromX + 20, y(parent), toX - 20, y(rank), toX, y(rank));
    context.stroke();
    context.globalAlpha = 1;
  }

  function drawNode(context, column, rank, one, lit) {
    const strong = lit ? lit.has(`${column} ${rank}`) : one.best;
    const dropped = one.fate === "dropped";
    context.beginPath();
    context.roundRect(x(column), y(rank) - 15, TEXT, 30, 6);
    context.fillStyle = dropped ? theme.background : theme.panel;
    context.fill();
    context.strokeStyle = strong ? theme.ink : one.fate === "ended" ? theme.chrome : theme.line;
    context.lineWidth = strong ? 2 : 1;
    if (!dropped || strong) context.stroke();
    context.textAlign = "left";
    context.font = `${one.best ? "600 " : ""}13px ${CODE}`;
    context.fillStyle = dropped && !strong ? theme.soft : theme.ink;
    context.fillText(fitted(context, one.text, TEXT - 12), x(column) + 6, y(rank) - 1);
    context.font = `11px ${CODE}`;
    context.fillStyle = theme.soft;
    context.fillText(one.figure, x(column) + 6, y(rank) + 12);
  }

  function under(event) {
    const [px, py] = pointed(event, canvas);
    const step = Math.floor((px - 4) / COLUMN);
    const rank = Math.floor((py - HEAD) / ROW);
    const there = step >= 0 && step < steps.length && rank >= 0 && rank < steps[step].length;
    return there && px - x(step) <= TEXT ? { step, rank } : null;
  }

  function point(next) {
    if (alike(next, hovered)) return;
    hovered = next;
    redraw();
  }

  function go(next) {
    if (!next || !steps[next.step]?.[next.rank]) return false;
    point(next);
    const left = x(next.step);
    holder.scrollLeft = Math.max(Math.min(holder.scrollLeft, left - FADE), left + COLUMN - holder.clientWidth);
    return true;
  }

  const from = () => hovered ?? { step: -1, rank: 0 };
  const child = ({ step, rank }) => {
    const at = (steps[step + 1] ?? []).findIndex((one) => step < 0 || one.parent === rank);
    return at < 0 ? null : { step: step + 1, rank: at };
  };
  onPointer(canvas, under, point);
  onKeys(canvas, {
    ArrowUp: () => go({ step: Math.max(0, from().step), rank: from().rank - 1 }),
    ArrowDown: () => go({ step: Math.max(0, from().step), rank: from().rank + (hovered ? 1 : 0) }),
    ArrowLeft: () => go(hovered && { step: hovered.step - 1, rank: node(hovered).parent }),
    ArrowRight: () => go(child(from())),
    Escape: () => (hovered ? point(null) : false),
  });
  let first = true;
  return onWidth(root, () => {
    redraw();
    if (first) holder.scrollLeft = scrolled ?? Math.max(0, x(header.step - 1) - holder.clientWidth / 2);
    first = false;
    fade();
  });
}
