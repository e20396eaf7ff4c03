/** @import { FilterDetail, FilterRow, Point } from '../dashboard-view.js' */
import { chart } from './charts.js';
import { el, setAttribute, setText, table } from './dom.js';
import { filterActions } from './filter-actions.js';
import { ageOf, falsePositives, fillBar } from './filter-list.js';
import { bytes, count, duration, milliseconds, moment, NOTHING, percent, plural, rate } from './format.js';
import { sign, stateName, trouble } from './states.js';
import { timeLine } from './time-line.js';

const VERDICTS = /** @type {const} */ ([
  ['absent', 'absent', '--absent'],
  ['remembered', 'remembered', '--remembered'],
  ['maybe', 'maybe', '--maybe'],
  ['unknown', 'unknown', '--unknown'],
]);
const PATHS = /** @type {const} */ ([
  ['local', 'in this process', '--local'],
  ['remote', 'from the store', '--remote'],
  ['add', 'add', '--add'],
]);

/** One filter in full. @param {string} name */
export function filterPanel(name) {
  const badge = el('span', { class: 'badge' });
  const note = el('span', { class: 'hint' });
  const advice = el('ul', { class: 'advice', 'aria-label': 'Advice' });
  const alone = el(
    'p',
    { class: 'notice', hidden: true },
    'Other instances cannot be read: figures are those of this instance alone.',
  );
  const copies = el('p', { class: 'hint', hidden: true });
  const outside = el('p', { class: 'hint', hidden: true });
  const actions = filterActions(name);
  const figures = tiles();
  const verdicts = chart({
    title: 'Lookups in a second, by verdict',
    lines: VERDICTS.map(([, title, color], i) => ({ title, color, isFilled: i === 0 })),
    format: rate,
  });
  const latencies = chart({
    title: 'Latency, by path',
    hint: '95th percentile',
    lines: PATHS.map(([, title, color]) => ({ title, color })),
    format: milliseconds,
    isLogarithmic: true,
  });
  const methods = table({
    caption: 'Guarded methods',
    columns: [
      { title: 'Method' },
      { title: 'Calls/s', isNumber: true },
      { title: 'Saved', isNumber: true },
      { title: 'Absent', isNumber: true },
      { title: 'Maybe', isNumber: true },
      { title: 'Unknown', isNumber: true, isMinor: true },
      { title: 'Remembered', isNumber: true, isMinor: true },
      { title: 'Found nothing', isNumber: true, isMinor: true },
    ],
    empty: 'No guarded method has been called.',
  });
  const unknowns = table({
    caption: 'Unknown, by reason',
    columns: [
      { title: 'Reason' },
      { title: 'Lookups', isNumber: true },
      { title: 'In a second', isNumber: true },
    ],
    empty: 'Every lookup has been answered.',
  });
  const instances = table({
    caption: 'Instances',
    columns: [
      { title: 'Host, pid' },
      { title: 'State' },
      { title: 'Mode' },
      { title: 'Calls/s', isNumber: true },
      { title: 'Answered in process', isNumber: true, isMinor: true },
      { title: 'Queued adds', isNumber: true, isMinor: true },
      { title: 'Copy', isMinor: true },
      { title: 'Runs for', isNumber: true, isMinor: true },
    ],
    empty: 'No instance reports.',
  });
  const line = timeLine();
  return {
    name,
    element: el(
      'section',
      { class: 'panel', 'aria-label': name },
      el(
        'div',
        { class: 'card' },
        el('div', { class: 'title' }, el('h2', {}, name), badge, note),
        alone,
        advice,
        figures.element,
        copies,
        outside,
        actions.element,
      ),
      el('div', { class: 'charts' }, verdicts.element, latencies.element),
      el(
        'div',
        { class: 'tables' },
        el('section', { class: 'card wide' }, el('h3', {}, 'By guarded method'), methods.element),
        el('section', { class: 'card' }, el('h3', {}, 'Unknown, by reason'), unknowns.element),
      ),
      el('section', { class: 'card' }, el('h3', {}, 'Instances'), instances.element),
      line.element,
    ),
    allow: actions.allow,
    /**
     * @param {FilterRow} row @param {FilterDetail} detail @param {readonly Point[]} points @param {number}
     * now
     */
    update(row, detail, points, now) {
      setText(badge, `${sign(row.state)} ${stateName(row.state)}`);
      setAttribute(badge, 'data-state', row.state ?? 'unknown');
      setText(
        note,
        [trouble(row, now), row.layout && `layout ${row.layout}`, row.store && `in ${row.store}`]
          .filter(Boolean)
          .join(' · '),
      );
      alone.hidden = !row.isAlone;
      listTexts(advice, row.advice);
      figures.update(row, now);
      copies.hidden = !row.copies;
      setText(copies, copiesText(row.copies));
      outside.hidden = !row.outside;
      setText(outside, outsideText(row.outside));
      actions.update(row, now);
      const at = points.map((point) => point.at);
      verdicts.update(
        at,
        VERDICTS.map(([key]) => points.map((point) => point[key])),
      );
      latencies.update(
        at,
        PATHS.map(([key]) => points.map((point) => point[key])),
      );
      methods.update(
        detail.methods.map((one) => [
          one.method,
          rate(one.perSecond),
          count(one.saved),
          count(one.absent),
          count(one.maybe),
          count(one.unknown),
          count(one.remembered),
          count(one.foundNothing),
        ]),
      );
      unknowns.update(detail.unknowns.map((one) => [one.reason, count(one.count), rate(one.perSecond)]));
      instances.update(
        detail.instances.map((one) => [
          `${one.host}, ${one.pid}`,
          one.isCircuitOpen ? 'circuit open' : stateName(one.state),
          one.mode,
          rate(one.lookupsPerSecond),
          percent(one.localShare),
          count(one.queuedAdds),
          one.copy ?? NOTHING,
          duration(Math.max(0, now - one.startedAt)),
        ]),
      );
      line.update(detail.rebuilds, row, now);
    },
  };
}

/** @param {FilterRow['copies']} copies */
function copiesText(copies) {
  if (!copies) return '';
  const { leased, all, causes, waitsPerSecond, waitMs } = copies;
  const lacking = causes.length > 0 ? ` (not leased: ${causes.join(', ')})` : '';
  const waits =
    waitMs === undefined
      ? ''
      : ` · adds that wait for copies ${rate(waitsPerSecond)}/s, ${milliseconds(waitMs)} each`;
  return `copies leased in ${leased} of ${plural(all, 'instance')}${lacking}${waits}`;
}

/** @param {FilterRow['outside']} outside */
function outsideText(outside) {
  if (!outside) return '';
  const { following, addedPerSecond, failures, gaps, behindBytes } = outside;
  return [
    `rows of others: ${following === 0 ? 'no instance follows' : 'followed'}`,
    addedPerSecond === undefined ? '' : `added ${rate(addedPerSecond)}/s`,
    behindBytes === undefined ? '' : `feed ${bytes(behindBytes)} behind`,
    failures === 0 ? '' : plural(failures, 'failure'),
    gaps === 0 ? '' : plural(gaps, 'gap'),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** @param {HTMLElement} list @param {readonly string[]} texts */
function listTexts(list, texts) {
  list.hidden = texts.length === 0;
  while (list.childNodes.length > texts.length) list.lastChild?.remove();
  texts.forEach((text, i) => setText(list.childNodes[i] ?? list.appendChild(el('li')), text));
}

function tiles() {
  const fill = fillBar();
  const names = /** @type {const} */ ([
    ['blocked', 'Blocked/s'],
    ['saved', 'Saved'],
    ['wrong', 'False positives', 'observed / modelled'],
    ['fill', 'Fill'],
    ['age', 'Built'],
    ['lookups', 'Lookups/s'],
  ]);
  const values = new Map(names.map(([key]) => [key, el('span', { class: 'value' })]));
  const hints = new Map(names.map(([key, , hint]) => [key, el('span', { class: 'hint' }, hint ?? '')]));
  values.get('fill')?.append(fill.element);
  const element = el(
    'dl',
    { class: 'tiles' },
    ...names.map(([key, title]) =>
      el('div', {}, el('dt', {}, title), el('dd', {}, values.get(key), hints.get(key))),
    ),
  );
  /** @param {typeof names[number][0]} key @param {string} value @param {string} [hint] */
  const set = (key, value, hint) => {
    const shown = values.get(key);
    const said = hints.get(key);
    if (shown) setText(shown, value);
    if (said && hint !== undefined) setText(said, hint);
  };
  return {
    element,
    /** @param {FilterRow} row @param {number} now */
    update(row, now) {
      set('blocked', rate(row.blockedPerSecond));
      set('saved', percent(row.savedShare), 'of the last minutes');
      set('wrong', falsePositives(row));
      fill.update(row.fill);
      const said = hints.get('fill');
      if (said) setText(said, row.fill ? `${plural(row.fill.count, 'id')}, ${bytes(row.fill.bytes)}` : '');
      const [age, next] = ageOf(row, now).split(', ');
      set('age', age ?? NOTHING, next ?? (typeof row.builtAt === 'number' ? moment(row.builtAt, now) : ''));
      set('lookups', rate(row.lookupsPerSecond), plural(row.instances.length, 'instance'));
    },
  };
}
