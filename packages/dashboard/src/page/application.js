/** @import { ActionView, SeriesPoint, SeriesView } from '../dashboard-view.js' */
import { act } from './act.js';
import { chart } from './charts.js';
import { el, setAttribute, setText } from './dom.js';
import { rate } from './format.js';

/** Charts and buttons that the application has added. */
export function application() {
  const charts = el('div', { class: 'charts' });
  const buttons = el('div', { class: 'runs' });
  const element = el(
    'section',
    { class: 'application', 'aria-label': 'Application', hidden: true },
    buttons,
    charts,
  );
  /** @type {ReturnType<typeof chart>[]} */
  let drawn = [];
  /** @type {Map<string, { button: HTMLButtonElement, outcome: HTMLElement, element: HTMLElement }>} */
  const runs = new Map();
  let canAct = false;
  return {
    element,
    /** @param {{ canAct: boolean, series: readonly SeriesView[] }} backlog */
    begin({ canAct: may, series }) {
      canAct = may;
      drawn = series.map(({ name, unit }) =>
        chart({
          title: name,
          lines: [{ title: unit === '' ? name : unit, color: '--series', isFilled: true }],
          format: (value) => rate(value),
        }),
      );
      charts.replaceChildren(...drawn.map((one) => one.element));
    },
    /** @param {readonly ActionView[]} actions @param {readonly SeriesPoint[]} points */
    update(actions, points) {
      element.hidden = drawn.length === 0 && (actions.length === 0 || !canAct);
      buttons.hidden = !canAct || actions.length === 0;
      drawn.forEach((one, i) =>
        one.update(
          points.map(({ at }) => at),
          [points.map(({ values }) => values[i] ?? null)],
        ),
      );
      for (const { name, description, isRunning, outcome } of actions) {
        let run = runs.get(name);
        if (!run) {
          run = newRun(name, description);
          runs.set(name, run);
          buttons.append(run.element);
        }
        run.button.disabled = isRunning;
        setText(run.outcome, isRunning ? 'running…' : (outcome?.text ?? ''));
        setAttribute(run.outcome, 'data-error', !isRunning && outcome?.isError ? 'true' : undefined);
      }
    },
  };
}

/** @param {string} name @param {string | undefined} description */
function newRun(name, description) {
  const outcome = el('span', { class: 'outcome', role: 'status' });
  const button = el('button', { type: 'button', class: 'primary' }, name);
  button.addEventListener('click', async () => {
    button.disabled = true;
    const { isDone, message } = await act('run', { name });
    if (!isDone) setText(outcome, message);
  });
  const element = el(
    'div',
    { class: 'run' },
    button,
    description === undefined ? undefined : el('span', { class: 'hint' }, description),
    outcome,
  );
  return { button, outcome, element };
}
