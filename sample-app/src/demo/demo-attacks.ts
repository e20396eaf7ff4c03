import { randomInt } from 'node:crypto';
import type { BloomDashboardAction } from '@nestjs-bloom/dashboard';
import type { Catalogue } from '../catalogue/catalogue.js';
import type { RunLoad } from './load.js';

export interface AttackSizes {
  readonly users: number;
  readonly maxRequests: number;
  readonly maxMs: number;
}

const GUARDED = '/products/';
const UNGUARDED = '/unguarded/products/';

/**
 * What the buttons of the demo's dashboard do: the load comes from this machine, goes to it alone, and ends.
 */
export class DemoAttacks {
  /** Known when the shop serves. */
  port: number | undefined;
  private isOn = false;

  constructor(
    private readonly options: {
      readonly catalogue: Catalogue;
      readonly sizes: AttackSizes;
      readonly runLoad: RunLoad;
    },
  ) {}

  actions(): BloomDashboardAction[] {
    const seconds = Math.round(this.options.sizes.maxMs / 1000);
    return [
      {
        name: 'Attack the shop',
        description: `${seconds} s at the page without a guard, then ${seconds} s at the one with it: watch the database.`,
        run: ({ signal }) => this.run([UNGUARDED, GUARDED], signal),
      },
      {
        name: 'Attack the guarded page',
        description: `${seconds} s; set the mode to off meanwhile, and on again.`,
        run: ({ signal }) => this.run([GUARDED], signal),
      },
    ];
  }

  private async run(paths: readonly string[], signal: AbortSignal): Promise<string> {
    if (this.port === undefined) throw new Error('The shop does not serve yet.');
    if (this.isOn) throw new Error('Another attack is under way.');
    this.isOn = true;
    try {
      const parts: string[] = [];
      for (const path of paths) parts.push(await this.attack(path, this.port, signal));
      return parts.join(' ');
    } finally {
      this.isOn = false;
    }
  }

  private async attack(path: string, port: number, signal: AbortSignal): Promise<string> {
    const { catalogue, sizes, runLoad } = this.options;
    const { requests, seconds } = await runLoad(
      {
        ...sizes,
        port,
        path,
        traffic: 'attack',
        // Ids that no attack before has asked for.
        seed: randomInt(2 ** 31),
        skus: catalogue.products.map(({ sku }) => sku),
      },
      { onProgress: () => {}, signal },
    );
    const rate = Math.round(requests / seconds).toLocaleString('en');
    return `${path === GUARDED ? 'With' : 'Without'} the guard ${rate} requests a second were answered.`;
  }
}
