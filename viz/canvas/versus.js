// Two texts, word under word: what they share, what was changed, and what only one of them has.

export default function ({ data, parentElement }) {
  const { header } = unpack(data);
  const root = freshRoot(parentElement, header.theme);
  root.classList.add("versus");
  for (const { title, pairs } of header.texts) {
    const block = element("div", { class: "block", role: "group", "aria-label": title });
    block.append(element("p", { class: "soft small" }, title));
    const line = element("div", { class: "stacks" });
    const names = element("div", { class: "stack names", "aria-hidden": "true" });
    names.append(...header.names.map((name) => element("span", { class: "soft" }, name)));
    line.append(names);
    for (const [one, other, same] of pairs) {
      const stack = element("div", { class: same ? "stack" : "stack changed" });
      for (const [text, name] of [[one, header.names[0]], [other, header.names[1]]]) {
        const word = element("span", { class: text === null ? "token missing" : "token" }, text ?? "–");
        if (!same) word.setAttribute("aria-label", text === null ? `not in ${name}` : `${text}, only in ${name}`);
        stack.append(word);
      }
      line.append(stack);
    }
    block.append(line);
    root.append(block);
  }
  return onWidth(root, () => {});
}
