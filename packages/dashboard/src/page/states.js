/** @import { FilterRow } from '../dashboard-view.js' */
import { duration } from './format.js';

/** A form for each state: colours alone do not tell them apart. */
const SIGNS = /** @type {Record<string, string>} */ ({
  ready: '●',
  suspect: '◐',
  unbuilt: '○',
  lost: '✕',
  unavailable: '✕',
});

/** @param {FilterRow['state']} state */
export function sign(state) {
  return SIGNS[state ?? ''] ?? '?';
}

/** @param {FilterRow['state']} state */
export function stateName(state) {
  return state ?? 'not asked yet';
}

/**
 * What takes the place of figures that say nothing, or nothing. @param {FilterRow} row @param {number} now
 */
export function trouble({ state, stateSince, attackSince, running }, now) {
  const parts = [];
  if (attackSince !== undefined) parts.push(`under attack for ${duration(Math.max(0, now - attackSince))}`);
  if (state === 'unavailable') parts.push('its state cannot be read');
  else if (state !== 'ready' && state !== undefined && stateSince !== undefined)
    parts.push(`${state} ${duration(Math.max(0, now - stateSince))} ago`);
  if (running) parts.push(rebuilding(running));
  return parts.join(' · ');
}

/** @param {NonNullable<FilterRow['running']>} running */
export function rebuilding({ host, phase, share, remainingMs }) {
  const parts = [`rebuilding on ${host}`];
  if (share === undefined || phase !== 'scanning') parts.push(phase ?? 'starting');
  if (share !== undefined) parts.push(`${Math.floor(share * 100)} %`);
  if (remainingMs !== undefined) parts.push(`${duration(Math.max(1000, remainingMs))} left`);
  return parts.join(', ');
}
