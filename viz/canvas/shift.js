// The steps of one translation, and how far edits moved the distribution at each: a bar, and the chances before and
// after. Hover, Tab and arrow keys read a step.

export default function ({ data, parentElement }) {
  const { header } = unpack(data);
  const root = freshRoot(parentElement, header.theme);
  root.classList.add("shift");
  const line = element("div", { class: "words", role: "list", "data-marker": "shift" });
  const hint = forHand("Point at a step to read it.");
  const reading = element("p", { class: "reading", "aria-live": "polite" }, hint);
  for (const step of header.steps) line.append(chip(step));
  root.append(line, reading);

  function chip({ text, moved, before, after, now, said }) {
    const made = element("div", { class: now === null ? "step" : "step changed", role: "listitem", tabindex: "0", title: said });
    const rail = element("span", { class: "rail" });
    const level = element("span", { class: "level" });
    level.style.width = `${100 * Math.sqrt(bounded(moved / header.limit, 0, 1))}%`;
    rail.append(level);
    made.append(
      element("span", { class: "token" }, text),
      rail,
      element("span", { class: "digits" }, `${number(before)} → ${number(after)}`),
      element("span", { class: "token small soft" }, now === null ? "" : `now ${now}`),
    );
    onKeys(made, {
      ArrowRight: () => made.nextElementSibling?.focus(),
      ArrowLeft: () => made.previousElementSibling?.focus(),
    });
    for (const event of ["pointerenter", "focus"]) made.addEventListener(event, () => (reading.textContent = said));
    return made;
  }

  return onWidth(root, () => {});
}
