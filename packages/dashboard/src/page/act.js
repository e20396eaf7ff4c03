/**
 * @param {string} name
 * @param {object} body
 * @returns {Promise<{ isDone: boolean, message: string, verdict?: string }>} never rejects
 */
export async function act(name, body) {
  try {
    const response = await fetch(new URL(`../actions/${name}`, import.meta.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-bloom-token': token() },
      body: JSON.stringify(body),
    });
    const answer = await response.json().catch(() => ({}));
    const message =
      typeof answer.message === 'string' ? answer.message : `The answer was ${response.status}.`;
    return { isDone: response.ok, message, verdict: answer.verdict };
  } catch {
    return { isDone: false, message: 'The application does not answer.' };
  }
}

function token() {
  return document.querySelector('meta[name="bloom-token"]')?.getAttribute('content') ?? '';
}

/**
 * Asks before something that is hard to take back.
 *
 * @param {{ title: string, text: string, yes: string }} question
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, text, yes }) {
  const dialog = /** @type {HTMLDialogElement} */ (document.getElementById('confirm'));
  const part = (/** @type {string} */ name) =>
    /** @type {HTMLElement} */ (document.getElementById(`confirm-${name}`));
  part('title').textContent = title;
  part('text').textContent = text;
  part('yes').textContent = yes;
  return new Promise((resolve) => {
    part('yes').onclick = () => dialog.close('yes');
    part('no').onclick = () => dialog.close('no');
    dialog.returnValue = '';
    dialog.onclose = () => {
      // The event comes later than the dialog closes: it may be that of the question before.
      if (!dialog.open) resolve(dialog.returnValue === 'yes');
    };
    dialog.showModal();
  });
}

/** Says to a screen reader what has changed. @param {string} text */
export function announce(text) {
  const announcer = document.getElementById('announcer');
  if (announcer) announcer.textContent = text;
}
