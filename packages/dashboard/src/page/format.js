const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat('en', { maximumFractionDigits: 1 });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', {
  day: '2-digit',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

export const NOTHING = '–';

/** @param {number | undefined | null} value */
export function count(value) {
  return value === undefined || value === null ? NOTHING : whole.format(value);
}

/** "1 id", "2 ids". @param {number} value @param {string} noun */
export function plural(value, noun) {
  return `${whole.format(value)} ${noun}${value === 1 ? '' : 's'}`;
}

/** At least so large that it is not shown as none. @param {number | undefined | null} value */
export function rate(value) {
  if (value === undefined || value === null) return NOTHING;
  return value > 0 && value < 10 ? tenth.format(Math.max(0.1, value)) : whole.format(value);
}

/** @param {number} value */
export function short(value) {
  return compact.format(value);
}

/** @param {number | undefined | null} share of 1 */
export function percent(share) {
  if (share === undefined || share === null) return NOTHING;
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  // 99.96 must not be shown as 100.
  const digits = value >= 99 || value < 1 ? 2 : 1;
  const rounded = value > 50 ? Math.floor(value * 10 ** digits) / 10 ** digits : value;
  return `${rounded < 0.01 ? '< 0.01' : rounded.toFixed(digits)} %`;
}

/** @param {number | undefined | null} ms */
export function milliseconds(ms) {
  if (ms === undefined || ms === null) return NOTHING;
  if (ms < 1) return `${Number((ms * 1000).toPrecision(2))} µs`;
  if (ms < 1000) return `${Number(ms.toPrecision(2))} ms`;
  return `${Number((ms / 1000).toPrecision(2))} s`;
}

const UNITS = /** @type {const} */ ([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]);

/** Two units at most: "7 h", "1 h 20 min". @param {number} ms */
export function duration(ms) {
  if (ms < 1000) return ms < 1 ? '0 s' : `${Math.round(ms)} ms`;
  const at = UNITS.findIndex(([, size]) => ms >= size);
  const [unit, size] = /** @type {(typeof UNITS)[number]} */ (UNITS[at]);
  const first = Math.floor(ms / size);
  const next = UNITS[at + 1];
  const rest = next && first < 3 ? Math.floor((ms % size) / next[1]) : 0;
  return `${first} ${unit}${rest > 0 && next ? ` ${rest} ${next[0]}` : ''}`;
}

/** @param {number} at */
export function time(at) {
  return clock.format(at);
}

/** With the day unless it is today. @param {number} at @param {number} now */
export function moment(at, now) {
  return new Date(at).toDateString() === new Date(now).toDateString() ? clock.format(at) : day.format(at);
}

/** @param {number} bytes */
export function bytes(bytes) {
  const units = ['B', 'kB', 'MB', 'GB'];
  const power = Math.min(units.length - 1, bytes > 0 ? Math.floor(Math.log10(bytes) / 3) : 0);
  return `${Number((bytes / 1000 ** power).toPrecision(3))} ${units[power]}`;
}
