/** @import { FilterRow } from '../dashboard-view.js' */
import { act, announce, confirmed } from './act.js';
import { el, setAttribute, setText } from './dom.js';
import { moment } from './format.js';
import { rebuilding } from './states.js';

const MODES = /** @type {const} */ ([
  ['on', 'Guards answer for ids that are certainly absent.'],
  ['shadow', 'Guards let every lookup through and only count what they would have answered.'],
  ['off', 'Guards do not ask the filter: every lookup goes to the database.'],
]);

/** The buttons of one filter, and the rebuild that runs. @param {string} name */
export function filterActions(name) {
  let canAct = false;
  /** @type {FilterRow | undefined} */
  let latest;
  const outcome = el('p', { class: 'outcome', role: 'status' });

  /** @param {string} action @param {object} body */
  const send = async (action, body) => {
    const { isDone, message } = await act(action, { filter: name, ...body });
    setText(outcome, message);
    setAttribute(outcome, 'data-error', isDone ? undefined : 'true');
  };
  const rebuild = button('Rebuild', () => send('rebuild', {}));
  const force = button('Force rebuild', async () => {
    const isMeant = await confirmed({
      title: `Rebuild ${name} by force?`,
      text: 'The new generation goes live even if the source returns far fewer ids than the last time. Ids that it leaves out are then answered "absent".',
      yes: 'Force rebuild',
    });
    if (isMeant) await send('rebuild', { force: true });
  });
  const abort = button('Abort', async () => {
    const isMeant = await confirmed({
      title: `Stop the rebuild of ${name}?`,
      text: 'The live generation goes on answering. No other rebuild begins automatically for five minutes, but by the schedule.',
      yes: 'Stop it',
    });
    if (isMeant) await send('stop', {});
  });
  const modes = MODES.map(([mode, meaning]) => {
    const element = button(mode, async () => {
      const isMeant = await confirmed({
        title: `Set ${name} to '${mode}' everywhere?`,
        text: `${meaning} All instances hear it within a second, and keep it after a restart.`,
        yes: `Set '${mode}'`,
      });
      if (isMeant) await send('mode', { mode });
    });
    element.title = meaning;
    return { mode, element };
  });
  const withdraw = button('each its own', async () => {
    const isMeant = await confirmed({
      title: `Withdraw the mode of ${name}?`,
      text: 'Each instance returns to the mode of its own options.',
      yes: 'Withdraw',
    });
    if (isMeant) await send('mode', { mode: null });
  });
  const setBy = el('p', { class: 'hint' });
  const progress = el('progress', { max: 1 });
  const progressText = el('span', { class: 'figure' });
  const running = el(
    'div',
    { class: 'running', hidden: true, role: 'group', 'aria-label': 'Running rebuild' },
    progress,
    progressText,
    abort,
  );
  const buttons = el(
    'div',
    { class: 'actions', hidden: true },
    el('div', { class: 'group', role: 'group', 'aria-label': 'Rebuild' }, rebuild, force),
    el(
      'div',
      { class: 'group segments', role: 'group', 'aria-label': 'Mode of all instances' },
      el('span', { class: 'label', 'aria-hidden': 'true' }, 'everywhere'),
      ...modes.map(({ element }) => element),
      withdraw,
    ),
  );
  return {
    element: el(
      'div',
      {},
      running,
      el('div', { class: 'acting' }, buttons, inspection(name)),
      setBy,
      outcome,
    ),
    /** @param {boolean} may */
    allow(may) {
      canAct = may;
      buttons.hidden = !may;
      abort.hidden = !may;
    },
    /** @param {FilterRow} row @param {number} now */
    update(row, now) {
      if (latest?.running && !row.running) announce(`The rebuild of ${name} has ended.`);
      if (latest && !latest.running && row.running) announce(`A rebuild of ${name} has started.`);
      latest = row;
      running.hidden = !row.running;
      if (row.running) {
        if (row.running.share === undefined) progress.removeAttribute('value');
        else progress.value = row.running.share;
        setAttribute(progress, 'aria-label', `Rebuild of ${name}`);
        setText(progressText, rebuilding(row.running));
      }
      rebuild.disabled = force.disabled = row.running !== undefined;
      for (const { mode, element } of modes) setAttribute(element, 'aria-pressed', String(row.mode === mode));
      withdraw.hidden = !row.sharedMode;
      const { sharedMode } = row;
      setText(
        setBy,
        sharedMode
          ? `Mode '${sharedMode.mode}' was set for all instances by ${sharedMode.by}, ${moment(sharedMode.at, now)}.`
          : '',
      );
      if (!canAct) setText(outcome, '');
    },
  };
}

/** @param {string} text @param {() => void} click */
function button(text, click) {
  return el('button', { type: 'button', click }, text);
}

/** @param {string} filter */
function inspection(filter) {
  const input = el('input', {
    type: 'text',
    id: 'inspected',
    autocomplete: 'off',
    spellcheck: 'false',
    required: true,
    maxlength: 4096,
  });
  const verdict = el('output', { class: 'verdict', for: 'inspected' });
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const id = input.value;
    const answer = await act('inspect', { filter, id });
    verdict.replaceChildren(
      ...(answer.verdict
        ? [el('b', { 'data-verdict': answer.verdict }, answer.verdict), ` (${answer.message})`]
        : [answer.message]),
    );
  };
  return el(
    'form',
    { class: 'inspect', submit },
    el('label', { for: 'inspected' }, 'Inspect id'),
    input,
    el('button', { type: 'submit' }, 'Look up'),
    verdict,
  );
}
