/** @import { FilterRow } from '../dashboard-view.js' */
import { el, setAttribute, setText } from './dom.js';
import { count, duration, NOTHING, percent, plural, rate } from './format.js';
import { spark } from './spark.js';
import { sign, stateName, trouble } from './states.js';

const COLUMNS = /** @type {const} */ ([
  ['filter', 'Filter'],
  ['mode', 'Mode'],
  ['blocked number', 'Blocked/s'],
  ['saved number', 'Saved'],
  ['wrong number', 'False positives'],
  ['fill', 'Fill'],
  ['age', 'Built'],
  ['instances', 'Instances'],
]);

/**
 * All filters, a row each. One of them is shown in full below.
 *
 * @param {{ onChoose(name: string): void }} options
 */
export function filterList({ onChoose }) {
  /** @type {Map<string, ReturnType<typeof filterRow>>} */
  const rows = new Map();
  const body = el('tbody');
  const head = COLUMNS.map(([name, title]) => el('th', { scope: 'col', class: name }, title));
  const inner = el(
    'table',
    { class: 'filters' },
    el('caption', { class: 'unseen' }, 'Filters'),
    el('thead', {}, el('tr', {}, ...head)),
    body,
  );
  const none = el(
    'p',
    { class: 'none', hidden: true },
    'This application has no filter. Register one with BloomModule.forFeature().',
  );
  return {
    element: el('section', { class: 'card list', 'aria-label': 'Filters' }, inner, none),
    /**
     * @param {readonly FilterRow[]} filters
     * @param {{ chosen: string | undefined, now: number, sparks: ReadonlyMap<string, readonly (number |
     * null)[]> }} context
     */
    update(filters, { chosen, now, sparks }) {
      inner.hidden = filters.length === 0;
      none.hidden = filters.length > 0;
      for (const [name, row] of rows) {
        if (filters.some((one) => one.name === name)) continue;
        row.element.remove();
        rows.delete(name);
      }
      for (const filter of filters) {
        let row = rows.get(filter.name);
        if (!row) {
          row = filterRow(filter.name, onChoose);
          rows.set(filter.name, row);
          body.append(row.element);
        }
        row.update(filter, { isChosen: filter.name === chosen, now, values: sparks.get(filter.name) ?? [] });
      }
    },
  };
}

/** @param {string} name @param {(name: string) => void} onChoose */
function filterRow(name, onChoose) {
  const dot = el('span', { class: 'dot', 'aria-hidden': 'true' });
  const button = el('button', { type: 'button', class: 'name', click: () => onChoose(name) }, name);
  const state = el('span', { class: 'state' });
  const note = el('span', { class: 'note' });
  const mode = el('span', { class: 'mode' });
  const line = spark();
  const blocked = el('span', { class: 'figure' });
  const saved = el('td', { class: 'saved number' });
  const wrong = el('td', { class: 'wrong number' });
  const fill = fillBar();
  const age = el('td', { class: 'age' });
  const instances = instanceDots();
  const element = el(
    'tr',
    { click: () => onChoose(name) },
    el('th', { scope: 'row', class: 'filter' }, el('span', { class: 'names' }, dot, button, state), note),
    el('td', { class: 'mode' }, mode),
    el(
      'td',
      { class: 'blocked number' },
      el('span', { class: 'sparked' }, /** @type {any} */ (line.element), blocked),
    ),
    saved,
    wrong,
    el('td', { class: 'fill' }, fill.element),
    age,
    el('td', { class: 'instances' }, instances.element),
  );
  return {
    element,
    /**
     * @param {FilterRow} row
     * @param {{ isChosen: boolean, now: number, values: readonly (number | null)[] }} context
     */
    update(row, { isChosen, now, values }) {
      setAttribute(element, 'class', isChosen ? 'chosen' : undefined);
      setAttribute(button, 'aria-current', isChosen ? 'true' : undefined);
      setAttribute(element, 'data-state', row.state ?? 'unknown');
      setText(dot, sign(row.state));
      setText(state, stateName(row.state));
      setText(note, trouble(row, now));
      setText(mode, row.mode);
      setAttribute(mode, 'data-mode', row.mode);
      setText(blocked, rate(row.blockedPerSecond));
      line.update(values);
      setText(saved, percent(row.savedShare));
      setText(wrong, falsePositives(row));
      fill.update(row.fill);
      setText(age, ageOf(row, now));
      instances.update(row.instances);
    },
  };
}

/** Observed and modelled. @param {FilterRow} row */
export function falsePositives({ falsePositives: { observed, modelled } }) {
  if (observed === undefined && modelled === undefined) return NOTHING;
  return `${percent(observed)} / ${percent(modelled)}`;
}

/** @param {FilterRow} row @param {number} now */
export function ageOf({ builtAt, nextRunAt }, now) {
  const age =
    builtAt === undefined
      ? NOTHING
      : builtAt === null
        ? 'never'
        : `${duration(Math.max(0, now - builtAt))} ago`;
  return nextRunAt === undefined ? age : `${age}, next in ${duration(Math.max(0, nextRunAt - now))}`;
}

export function fillBar() {
  const bar = el('meter', { min: 0, max: 1, high: 0.999, class: 'bar' });
  const text = el('span', { class: 'figure' });
  return {
    element: el('span', { class: 'filled' }, bar, text),
    /** @param {FilterRow['fill']} fill */
    update(fill) {
      const share = fill ? fill.count / fill.capacity : undefined;
      bar.value = Math.min(1, share ?? 0);
      setAttribute(bar, 'aria-label', fill && `${count(fill.count)} of ${plural(fill.capacity, 'id')}`);
      setAttribute(bar, 'title', fill && `${count(fill.count)} of ${plural(fill.capacity, 'id')}`);
      setAttribute(bar, 'data-over', share !== undefined && share > 1 ? 'true' : undefined);
      setText(text, share === undefined ? NOTHING : `${Math.floor(share * 100)} %`);
    },
  };
}

const MOST_DOTS = 8;

function instanceDots() {
  const dots = el('span', { class: 'dots', 'aria-hidden': 'true' });
  const text = el('span', { class: 'figure' });
  const element = el('span', { class: 'dotted' }, dots, text);
  return {
    element,
    /** @param {FilterRow['instances']} instances */
    update(instances) {
      const sick = instances.filter(
        ({ state, isCircuitOpen }) => isCircuitOpen || (state !== 'ready' && state !== undefined),
      );
      const shown = [...sick, ...instances.filter((one) => !sick.includes(one))].slice(0, MOST_DOTS);
      while (dots.childNodes.length > shown.length) dots.lastChild?.remove();
      shown.forEach((one, i) => {
        const dot = /** @type {Element} */ (dots.childNodes[i] ?? dots.appendChild(el('i')));
        setAttribute(dot, 'data-state', one.isCircuitOpen ? 'lost' : (one.state ?? 'unknown'));
        setText(dot, sign(one.isCircuitOpen ? 'lost' : (one.state ?? 'ready')));
      });
      setText(
        text,
        sick.length > 0
          ? `${instances.length - sick.length} of ${instances.length}`
          : String(instances.length),
      );
      element.title = instances
        .map(({ host, pid, state }) => `${host}, pid ${pid}: ${stateName(state)}`)
        .join('\n');
    },
  };
}
