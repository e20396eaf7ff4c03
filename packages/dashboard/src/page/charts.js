import uPlot from './uplot.js';
import { el, setText } from './dom.js';
import { time } from './format.js';

const HEIGHT = 170;
const dark = matchMedia('(prefers-color-scheme: dark)');

/**
 * @typedef {object} Line
 * @property {string} title
 * @property {string} color the name of a custom property of the style sheet
 * @property {boolean} [isFilled]
 */

/**
 * A chart over time, with a legend that follows the pointer, and a sentence for those who do not see it.
 *
 * @param {{ title: string, hint?: string, lines: readonly Line[], format: (value: number | null | undefined)
 * => string, isLogarithmic?: boolean }} options
 */
export function chart({ title, hint = '', lines, format, isLogarithmic = false }) {
  const legend = lines.map(({ title, color }) => {
    const value = el('span', { class: 'figure' });
    const swatch = el('i', { class: 'swatch' });
    swatch.style.background = `var(${color})`;
    return { value, element: el('li', {}, swatch, `${title} `, value) };
  });
  const moment = el('span', { class: 'figure moment' });
  const summary = el('p', { class: 'unseen' });
  const canvas = el('div', { class: 'canvas', 'aria-hidden': 'true' });
  const element = el(
    'figure',
    { class: 'card chart' },
    el(
      'figcaption',
      {},
      el('h3', {}, title),
      hint === '' ? undefined : el('span', { class: 'hint' }, hint),
      moment,
    ),
    el('ul', { class: 'legend' }, ...legend.map(({ element }) => element)),
    canvas,
    summary,
  );
  /** @type {uPlot | undefined} */
  let plot;
  /** @type {(number | null)[][]} */
  let columns = [[], ...lines.map(() => [])];

  const showAt = (/** @type {number | null | undefined} */ index) => {
    const last = columns[0].length - 1;
    const at = index ?? last;
    legend.forEach(({ value }, i) => setText(value, format(columns[i + 1][at])));
    setText(
      moment,
      index === null || index === undefined || !columns[0][at] ? '' : time(columns[0][at] * 1000),
    );
  };
  const draw = () => {
    plot?.destroy();
    plot = new uPlot(
      optionsOf({ lines, isLogarithmic, format, width: canvas.clientWidth, onCursor: showAt }),
      /** @type {any} */ (columns),
      canvas,
    );
  };
  new ResizeObserver(() => {
    const width = canvas.clientWidth;
    if (width === 0) return;
    if (plot) plot.setSize({ width, height: HEIGHT });
    else draw();
  }).observe(canvas);
  dark.addEventListener('change', () => plot && draw());

  return {
    element,
    /**
     * @param {readonly number[]} at moments @param {readonly (readonly (number | null)[])[]} values a row for
     * each line
     */
    update(at, values) {
      columns = [at.map((ms) => ms / 1000), ...values.map((row) => [...row])];
      plot?.setData(/** @type {any} */ (columns));
      if (plot?.cursor.idx === null || plot?.cursor.idx === undefined) showAt(undefined);
      setText(
        summary,
        `${title} now: ${lines.map(({ title }, i) => `${title} ${format(values[i].at(-1))}`).join(', ')}.`,
      );
    },
  };
}

/**
 * @param {{ lines: readonly Line[], isLogarithmic: boolean, width: number, format: (value: number | null |
 * undefined) => string, onCursor: (index: number | null | undefined) => void }} context
 * @returns {uPlot.Options}
 */
function optionsOf({ lines, isLogarithmic, format, width, onCursor }) {
  const style = getComputedStyle(document.documentElement);
  const color = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: color('--muted'),
    grid: { stroke: color('--grid'), width: 1 },
    ticks: { show: false },
    font: '11px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT,
    padding: [8, 4, 0, 0],
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: {
      y: isLogarithmic
        ? {
            distr: 3,
            range: (_, least, most) => [decade(least, Math.floor) ?? 0.001, decade(most, Math.ceil) ?? 1],
          }
        : { range: (_, __, most) => [0, Math.max(1, (most ?? 0) * 1.1)] },
    },
    axes: [
      { ...axis, space: 70, size: 24, values: (_, moments) => moments.map((at) => time(at * 1000)) },
      {
        ...axis,
        size: 56,
        space: 32,
        values: (_, values) =>
          values.map((value) => (value === null || (isLogarithmic && !isDecade(value)) ? '' : format(value))),
      },
    ],
    series: [
      {},
      ...lines.map(({ title, color: name, isFilled }) => ({
        label: title,
        stroke: color(name),
        width: 1.75,
        points: { show: false },
        spanGaps: isLogarithmic,
        ...(isFilled && { fill: `${color(name)}22` }),
      })),
    ],
    hooks: { setCursor: [(plot) => onCursor(plot.cursor.idx)] },
  };
}

/** @param {number | null} value @param {(exponent: number) => number} round */
function decade(value, round) {
  return value !== null && value > 0 ? 10 ** round(Math.log10(value)) : undefined;
}

/** @param {number} value */
function isDecade(value) {
  return Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
}
