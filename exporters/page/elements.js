// SPDX-License-Identifier: Apache-2.0
// Small pieces of the page. Text is only ever set as text, never parsed as HTML: names come from
// whoever submits jobs.

export function show(id) {
  return document.getElementById(id);
}

// element('span', {class: 'age', title: '...'}, 'text' or child, ...)
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

export function table(heads, rows) {
  const row = (cells, tag) =>
    element('tr', {}, ...cells.map((cell) => element(tag, {}, cell ?? '')));
  return element('div', {class: 'scroll'},
    element('table', {},
      element('thead', {}, row(heads, 'th')),
      element('tbody', {}, ...rows.map((cells) => row(cells, 'td')))));
}

// A bar of parts [{amount, name, class}] of a whole.
export function bar(parts, whole, label) {
  const made = element('div', {class: 'bar', role: 'img', 'aria-label': label});
  for (const part of parts) {
    if (!part.amount) continue;
    const piece = element('span', {class: part.class, title: part.name});
    piece.style.width = `${Math.min(100, (100 * part.amount) / whole)}%`;
    made.append(piece);
  }
  return made;
}
