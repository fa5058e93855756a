// Texts split into pieces: pieces of one word stand together, bytes above the character they spell. Hover reads, a click
// or Enter picks, arrow keys move.

export default function ({ data, parentElement, setTriggerValue }) {
  const { header } = unpack(data);
  const root = freshRoot(parentElement, header.theme);
  root.classList.add("pieces");
  let picked = header.marked; // [side, place], both from 0
  const chips = header.sides.map(() => []);
  const reading = element("p", { class: "reading", "aria-live": "polite", "data-marker": "piece" });
  header.sides.forEach(fillSide);
  root.append(reading);
  mark();

  function fillSide({ title, words }, side) {
    const line = element("div", { class: "words", role: "group", "aria-label": title, "data-side": header.sides[side].side });
    for (const { word, characters } of words) {
      const box = element("div", { class: "together", role: "group", "aria-label": word });
      box.append(...characters.map(({ character, pieces }) => spelled(character, pieces.map((piece) => chip(piece, side)))));
      line.append(box);
    }
    root.append(element("p", { class: "soft small" }, title), line);
  }

  // The pieces of one character, if bytes spell it; else the one piece.
  function spelled(character, made) {
    if (!character) return made[0];
    const box = element("div", { class: "spelled" });
    const bytes = element("div", { class: "bytes" });
    bytes.append(...made);
    box.append(bytes, element("span", { class: "token" }, `= ${character}`));
    return box;
  }

  function chip(piece, side) {
    const place = chips[side].length;
    const made = element("button", { type: "button", class: `piece${piece.byte ? " byte" : ""}${piece.special ? " special" : ""}` });
    made.append(element("span", { class: "token" }, piece.text), element("span", { class: "digits" }, String(piece.id)));
    made.addEventListener("pointerenter", () => (reading.textContent = piece.says));
    made.addEventListener("focus", () => (reading.textContent = piece.says));
    made.addEventListener("pointerleave", mark);
    made.addEventListener("click", () => pick(side, place));
    onKeys(made, {
      ArrowRight: () => go(side, place + 1),
      ArrowLeft: () => go(side, place - 1),
      ArrowDown: () => go(side + 1, place),
      ArrowUp: () => go(side - 1, place),
    });
    chips[side].push(made);
    return made;
  }

  function go(side, place) {
    const line = chips[bounded(side, 0, chips.length - 1)];
    line[bounded(place, 0, line.length - 1)].focus();
  }

  function pick(side, place) {
    picked = [side, place];
    setTriggerValue("pick", { side: header.sides[side].side, position: place + 1 });
    mark();
  }

  // One chip is reached by Tab: the picked one. From there, arrow keys.
  function mark() {
    chips.forEach((line, side) =>
      line.forEach((made, place) => {
        const here = side === picked[0] && place === picked[1];
        made.setAttribute("aria-pressed", here ? "true" : "false");
        made.tabIndex = here ? 0 : -1;
      }),
    );
    const { words } = header.sides[picked[0]];
    reading.textContent = words.flatMap((word) => word.characters.flatMap(({ pieces }) => pieces))[picked[1]].says;
  }
}
