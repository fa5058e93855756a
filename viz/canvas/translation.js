// The translation, piece by piece: how sure the model was, what else it considered, and which source word it leans on.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header } = unpack(data);
  const { theme, source, pieces, links } = header;
  const root = freshRoot(parentElement, theme);
  let step = header.step;
  let hovered = null;
  root.classList.add("translation");

  const above = element("div", { class: "words source" });
  const between = element("canvas", { class: "links", "aria-hidden": "true" });
  const below = element("div", { class: "words target" });
  const panel = element("div", { class: "card", "data-marker": "considered" });
  root.append(above, between, below, panel);

  const sourceChips = source.map((text) => element("span", { class: "word" }, text));
  above.append(...sourceChips);
  const pieceChips = pieces.map((piece, index) => {
    const chip = element("button", { type: "button", class: "piece", "data-step": String(index + 1) });
    const level = element("span", { class: "sure" });
    level.style.width = `${Math.max(2, 100 * piece.probability)}%`;
    const track = element("span", { class: "rail" });
    track.append(level);
    chip.append(element("span", { class: "token" }, piece.text), track, element("span", { class: "digits" }, number(piece.probability)));
    chip.setAttribute("aria-label", `${piece.text}, probability ${number(piece.probability)}`);
    chip.addEventListener("pointerenter", () => ((hovered = index), redraw()));
    chip.addEventListener("pointerleave", () => ((hovered = null), redraw()));
    chip.addEventListener("focus", () => ((hovered = index), redraw()));
    chip.addEventListener("blur", () => ((hovered = null), redraw()));
    chip.addEventListener("click", () => {
      step = index + 1;
      setTriggerValue("step", step);
      redraw();
    });
    return chip;
  });
  below.append(...pieceChips);

  function redraw() {
    const focus = hovered ?? step - 1;
    const word = pieces[focus].word;
    const linked = links.filter((link) => link.target === word).map((link) => link.source);
    pieceChips.forEach((chip, index) => {
      chip.classList.toggle("on", pieces[index].word === word);
      chip.setAttribute("aria-pressed", index === step - 1 ? "true" : "false");
    });
    sourceChips.forEach((chip, index) => chip.classList.toggle("on", linked.includes(index)));
    drawLinks(word);
    drawPanel(pieces[focus], focus);
  }

  // Lines only while both sentences stand on one line each; wrapped, they would cross the words.
  function drawLinks(word) {
    const oneLine = (chips) => chips[0].offsetTop === chips[chips.length - 1].offsetTop;
    const drawn = oneLine(sourceChips) && oneLine(pieceChips);
    between.style.display = drawn ? "block" : "none";
    if (!drawn) return;
    const width = root.clientWidth;
    const height = 64;
    const context = sized(between, width, height);
    const left = root.getBoundingClientRect().left;
    const centre = (first, last) => (first.getBoundingClientRect().left + last.getBoundingClientRect().right) / 2 - left;
    for (const link of links) {
      const chips = pieceChips.filter((_, index) => pieces[index].word === link.target);
      const from = centre(sourceChips[link.source], sourceChips[link.source]);
      const to = centre(chips[0], chips[chips.length - 1]);
      context.strokeStyle = theme.cross;
      context.globalAlpha = link.target === word ? 1 : 0.3;
      context.lineWidth = link.target === word ? 3 : 1.5;
      context.beginPath();
      context.moveTo(from, 2);
      context.bezierCurveTo(from, height * 0.5, to, height * 0.5, to, height - 2);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  function drawPanel(piece, index) {
    panel.replaceChildren();
    const line = element("p");
    line.append(element("span", { class: "soft" }, `step ${index + 1} of ${pieces.length}: having read `));
    line.append(element("span", { class: "token" }, piece.read), element("span", { class: "soft" }, header.forced ? ", it was given " : ", it wrote "));
    line.append(element("span", { class: "token" }, piece.text), element("span", { class: "soft" }, `. It ${header.forced ? "expected" : "considered"} (uncertainty ${piece.entropy.toFixed(2)} bits):`));
    const bars = element("div", { class: "strip" });
    for (const [text, probability, written] of piece.considered) {
      const row = element("div", { class: "bar" });
      if (written) row.classList.add("marked");
      const track = element("span", { class: "track" });
      const level = element("span", { class: "level" });
      level.style.width = `${100 * probability}%`;
      level.style.background = theme.chrome;
      track.append(level);
      row.append(element("span", { class: "token" }, text), track, element("span", { class: "digits" }, number(probability)));
      bars.append(row);
    }
    panel.append(line, bars);
  }

  return onWidth(root, redraw);
}
