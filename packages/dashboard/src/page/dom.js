// Elements are made here, and nowhere from a text of markup: what an id or a name holds is shown as it is.

/** @typedef {Node | string | undefined} Child */
/** @typedef {Record<string, string | number | boolean | undefined | ((event: any) => void)>} Attributes */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes] a function is a listener; undefined and false are left out
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  applyTo(element, attributes);
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/**
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  applyTo(element, attributes);
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** @param {Element} element @param {Attributes} attributes */
function applyTo(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
}

/**
 * Leaves a text alone that is the same: a selection in it stays, and nothing is drawn. @param {Node} node
 * @param {string} text
 */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @param {Element} element @param {string} name @param {string | undefined} value undefined: takes it away
 */
export function setAttribute(element, name, value) {
  if (value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/**
 * A table whose cells stay the same elements while their texts change.
 *
 * @param {{ caption: string, columns: readonly { title: string, isNumber?: boolean, isMinor?: boolean }[],
 * empty: string }} options
 */
export function table({ caption, columns, empty }) {
  const body = el('tbody');
  const none = el('p', { class: 'none' }, empty);
  const head = columns.map(({ title, ...column }) =>
    el('th', { scope: 'col', class: classOf(column) }, title),
  );
  const inner = el(
    'table',
    {},
    el('caption', { class: 'unseen' }, caption),
    el('thead', {}, el('tr', {}, ...head)),
    body,
  );
  const scroller = el(
    'div',
    { class: 'scroller', tabindex: 0, role: 'region', 'aria-label': caption },
    inner,
  );
  const element = el('div', {}, scroller, none);
  return {
    element,
    /** @param {readonly (readonly (string | Node)[])[]} rows the first cell of a row is its head */
    update(rows) {
      scroller.hidden = rows.length === 0;
      none.hidden = rows.length > 0;
      while (body.rows.length > rows.length) body.deleteRow(-1);
      rows.forEach((cells, i) => {
        const row = body.rows[i] ?? body.insertRow();
        cells.forEach((content, j) => {
          const cell = row.cells[j] ?? row.appendChild(newCell(columns[j], j === 0));
          if (typeof content === 'string') setText(cell, content);
          else cell.replaceChildren(content);
        });
      });
    },
  };
}

/** @param {{ isNumber?: boolean, isMinor?: boolean } | undefined} column @param {boolean} isHead */
function newCell(column, isHead) {
  return isHead ? el('th', { scope: 'row' }) : el('td', { class: classOf(column) });
}

/** @param {{ isNumber?: boolean, isMinor?: boolean } | undefined} column */
function classOf({ isNumber = false, isMinor = false } = {}) {
  return `${isNumber ? 'number' : ''} ${isMinor ? 'minor' : ''}`.trim() || undefined;
}
