import type { FilterLoad } from '../index.js';

/** Passes the loads of the parts on as loads of one filter: of a part that holds more than planned once for each generation and multiple. */
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
