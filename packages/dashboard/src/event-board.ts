import type { BloomEvent } from 'nestjs-bloom';
import type { EventLine, FilterRow } from './dashboard-view.js';
import { eventLine } from './event-text.js';
import { Ring } from './ring.js';

const EVENTS = 200;
/** Events of one kind and filter: thousands a second in an outage must not push out the others. */
const SHOW_EVERY_MS = 1000;
const MOST_KINDS = 1000;

/** The last events of this process, without ids. */
export class EventBoard {
  private readonly lines = new Ring<EventLine>(EVENTS);
  private readonly shownAt = new Map<string, { at: number; left: number }>();
  private readonly since = new Map<string, number>();
  private readonly attacks = new Map<string, number>();
  private fresh: EventLine[] = [];
  private noted = 0;

  note(event: BloomEvent, now = Date.now()): void {
    if (event.type === 'state-changed') this.since.set(event.filter, now);
    if (event.type === 'attack-started') this.attacks.set(event.filter, now);
    if (event.type === 'attack-ended') this.attacks.delete(event.filter);
    const line = eventLine(event, now);
    if (!line) return;
    // Two pieces of advice are two things.
    const kind = `${line.type} ${line.filter ?? ''} ${line.type === 'advice' ? line.text : ''}`;
    const last = this.shownAt.get(kind);
    if (last && line.level !== 'log' && now - last.at < SHOW_EVERY_MS) {
      last.left++;
      return;
    }
    if (this.shownAt.size >= MOST_KINDS) this.shownAt.clear();
    this.shownAt.set(kind, { at: now, left: 0 });
    const text = last?.left ? `${line.text} (and ${last.left} more)` : line.text;
    const shown = { ...line, text, number: ++this.noted };
    this.lines.push(shown);
    this.fresh.push(shown);
    if (this.fresh.length > EVENTS) this.fresh.shift();
  }

  /** When the filter came into its state, and under attack, if this process has seen it. */
  seenOf(filter: string): Pick<FilterRow, 'stateSince' | 'attackSince'> {
    return { stateSince: this.since.get(filter), attackSince: this.attacks.get(filter) };
  }

  all(): readonly EventLine[] {
    return this.lines.all();
  }

  /** Those since the last call of this. */
  takeFresh(): readonly EventLine[] {
    const { fresh } = this;
    this.fresh = [];
    return fresh;
  }
}
