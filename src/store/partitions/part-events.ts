import type { BloomEvent, BloomEventListener } from '../../common/index.js';

/** Passes the events of the parts on, each with its number. Advice that holds for several parts is given by one of them. */
export class PartEvents {
  /** Which part gives the advice of this text. */
  private readonly advised = new Map<string, number>();

  constructor(private readonly emit: BloomEventListener) {}

  note(part: number, event: BloomEvent): void {
    if (event.type === 'advice') {
      const by = this.advised.get(event.text) ?? part;
      this.advised.set(event.text, by);
      if (by !== part) return;
    }
    this.emit({ ...event, part });
  }
}
