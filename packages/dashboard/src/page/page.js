/** @import { Backlog, FilterRow, Point, SeriesPoint, Tick } from '../dashboard-view.js' */
import { announce } from './act.js';
import { application } from './application.js';
import { el, setText } from './dom.js';
import { eventList } from './event-list.js';
import { filterList } from './filter-list.js';
import { filterPanel } from './filter-panel.js';
import { Stream } from './stream.js';

const MOST_POINTS = 300;
const SPARK_POINTS = 60;

const main = /** @type {HTMLElement} */ (document.getElementById('main'));
const connection = /** @type {HTMLElement} */ (document.getElementById('connection'));

/** @type {Point[]} */
let points = [];
/** @type {SeriesPoint[]} */
let seriesPoints = [];
/** @type {Map<string, (number | null)[]>} */
const sparks = new Map();
/** @type {Map<string, FilterRow['state']>} */
const states = new Map();
/** @type {ReturnType<typeof filterPanel> | undefined} */
let panel;
let canAct = false;

const list = filterList({ onChoose: choose });
const events = eventList();
const own = application();
const room = el('div', { class: 'room' });
main.append(list.element, own.element, room, events.element);

const stream = new Stream({ onBacklog, onTick, onConnection });
stream.open(chosen());
addEventListener('hashchange', () => stream.open(chosen()));

/** The filter that is shown in full is in the address, so that it can be sent to somebody. */
function chosen() {
  const name = decodeURIComponent(location.hash.slice(1));
  return name === '' ? undefined : name;
}

/** @param {string} name */
function choose(name) {
  if (name !== panel?.name) location.hash = encodeURIComponent(name);
}

/** @param {Backlog} backlog */
function onBacklog(backlog) {
  canAct = backlog.canAct;
  points = [...backlog.points];
  seriesPoints = [...backlog.seriesPoints];
  sparks.clear();
  for (const [name, values] of Object.entries(backlog.sparks)) sparks.set(name, [...values]);
  own.begin(backlog);
  events.clear();
  events.add(backlog.events);
}

/** @param {Tick} tick */
function onTick({ at, filters, detail, point, seriesPoint, actions, events: fresh }) {
  if (point) points = [...points, point].slice(-MOST_POINTS);
  if (seriesPoint) seriesPoints = [...seriesPoints, seriesPoint].slice(-MOST_POINTS);
  for (const { name, blockedPerSecond, state } of filters) {
    sparks.set(name, [...(sparks.get(name) ?? []), blockedPerSecond ?? null].slice(-SPARK_POINTS));
    if (states.has(name) && states.get(name) !== state) announce(`Filter ${name} is now ${state}.`);
    states.set(name, state);
  }
  list.update(filters, { chosen: detail?.name, now: at, sparks });
  own.update(actions, seriesPoints);
  events.add(fresh);
  const row = filters.find(({ name }) => name === detail?.name);
  if (!detail || !row) {
    room.replaceChildren();
    panel = undefined;
    return;
  }
  if (panel?.name !== detail.name) {
    panel = filterPanel(detail.name);
    room.replaceChildren(panel.element);
  }
  panel.allow(canAct);
  panel.update(row, detail, points, at);
}

/** @param {string} state @param {string} text */
function onConnection(state, text) {
  connection.dataset['state'] = state;
  setText(connection, text);
}
