/** @import { EventLine } from '../dashboard-view.js' */
import { el } from './dom.js';
import { moment } from './format.js';

const MOST = 200;

/** What this process has reported, the latest first. */
export function eventList() {
  const list = el('ol', { class: 'events', tabindex: 0, 'aria-label': 'Events' });
  const none = el('p', { class: 'none' }, 'Nothing has happened yet.');
  let last = 0;
  return {
    element: el('section', { class: 'card' }, el('h3', {}, 'Events of this instance'), list, none),
    clear() {
      last = 0;
      list.replaceChildren();
    },
    /** @param {readonly EventLine[]} events */
    add(events) {
      for (const { number, at, type, help, filter, level, text } of events) {
        if (number <= last) continue;
        last = number;
        list.prepend(
          el(
            'li',
            { 'data-level': level },
            el('time', { datetime: new Date(at).toISOString() }, moment(at, Date.now())),
            el('b', {}, el('a', { href: help, target: '_blank', rel: 'noreferrer' }, type)),
            el('span', { class: 'of' }, filter ?? ''),
            el('span', { class: 'text' }, text),
          ),
        );
      }
      while (list.childNodes.length > MOST) list.lastChild?.remove();
      none.hidden = list.childNodes.length > 0;
      list.hidden = !none.hidden;
    },
  };
}
