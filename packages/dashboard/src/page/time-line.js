/** @import { FilterRow, RebuildRow } from '../dashboard-view.js' */
import { el, setAttribute, table } from './dom.js';
import { count, duration, moment, NOTHING } from './format.js';

const SHORTEST_SPAN_MS = 10 * 60_000;
const ROWS = 8;

/** Generations and rebuilds: when each ran, how long, and how it ended. */
export function timeLine() {
  const track = el('div', { class: 'track', 'aria-hidden': 'true' });
  const from = el('span');
  const to = el('span', {}, 'now');
  const list = table({
    caption: 'Last rebuilds',
    columns: [
      { title: 'Started' },
      { title: 'Ended' },
      { title: 'Took', isNumber: true },
      { title: 'Ids', isNumber: true },
      { title: 'On', isMinor: true },
      { title: 'Phases', isMinor: true },
    ],
    empty: 'No ended rebuild is known.',
  });
  const ends = el('div', { class: 'ends', 'aria-hidden': 'true' }, from, to);
  return {
    element: el(
      'section',
      { class: 'card' },
      el('h3', {}, 'Generations and rebuilds'),
      track,
      ends,
      list.element,
    ),
    /** @param {readonly RebuildRow[]} rebuilds @param {FilterRow} row @param {number} now */
    update(rebuilds, row, now) {
      const begin = Math.min(now - SHORTEST_SPAN_MS, ...rebuilds.map(({ startedAt }) => startedAt));
      from.textContent = moment(begin, now);
      const place = (/** @type {number} */ at) =>
        (Math.max(0, Math.min(now, at) - begin) / (now - begin)) * 100;
      const marks = rebuilds.map(({ outcome, startedAt, durationMs }) => ({
        outcome,
        startedAt,
        endedAt: startedAt + durationMs,
        isLive: startedAt + durationMs === row.builtAt,
      }));
      if (row.running)
        marks.push({
          outcome: /** @type {any} */ ('running'),
          startedAt: row.running.startedAt,
          endedAt: now,
          isLive: false,
        });
      const published = marks
        .filter(({ outcome }) => outcome === 'published')
        .sort((a, b) => a.endedAt - b.endedAt);
      // A generation lives until the next one is published.
      const lives = published.map(({ endedAt }, i) => ({
        outcome: 'generation',
        startedAt: endedAt,
        endedAt: published[i + 1]?.endedAt ?? now,
      }));
      const all = [...lives, ...marks];
      while (track.childNodes.length > all.length) track.lastChild?.remove();
      all.forEach(({ outcome, startedAt, endedAt }, i) => {
        const mark = /** @type {HTMLElement} */ (track.childNodes[i] ?? track.appendChild(el('i')));
        setAttribute(mark, 'data-outcome', outcome);
        mark.style.left = `${place(startedAt)}%`;
        mark.style.width = `${place(endedAt) - place(startedAt)}%`;
        mark.title =
          outcome === 'generation'
            ? `Generation of ${moment(startedAt, now)}`
            : `${outcome}, ${moment(startedAt, now)}, ${duration(endedAt - startedAt)}`;
      });
      list.update(
        rebuilds
          .slice(0, ROWS)
          .map(({ outcome, startedAt, durationMs, ids, host, pid, phases, reason }) => [
            moment(startedAt, now),
            outcomeOf(outcome, reason),
            duration(durationMs),
            ids === undefined ? NOTHING : count(ids),
            `${host}, ${pid}`,
            phases.map(({ phase, durationMs }) => `${phase} ${duration(durationMs)}`).join(', '),
          ]),
      );
    },
  };
}

/** @param {RebuildRow['outcome']} outcome @param {string | undefined} reason */
function outcomeOf(outcome, reason) {
  return el(
    'span',
    {
      class: 'ended',
      'data-outcome': outcome,
      title: outcome === 'failed' ? 'The log of this instance has the error.' : (reason ?? ''),
    },
    outcome,
  );
}
