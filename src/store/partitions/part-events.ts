import type { BloomEvent, BloomEventListener } from '../../common/index.js';
import type { FilterLoad } from '../index.js';

/**
 * Passes the events of the parts on, each with its number. Advice that holds for several parts is given by
 * one of them.
 */
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

/**
 * Passes the loads of the parts on. A part that holds more than planned is reported once per generation and
 * multiple.
 */
export class PartLoads {
  private readonly reported = new Map<number, { readonly generation: string; readonly times: number }>();

  constructor(private readonly onLoad: (load: FilterLoad) => void) {}

  note(part: number, load: FilterLoad): void {
    const { generation, count, capacity } = load;
    if (count <= capacity || capacity <= 0) return this.onLoad(load);
    const times = 2 ** Math.floor(Math.log2(count / capacity));
    const before = this.reported.get(part);
    if (before?.generation === generation && times <= before.times) return;
    this.reported.set(part, { generation, times });
    this.onLoad({ ...load, generation: `${part} ${generation} ${times}` });
  }
}
