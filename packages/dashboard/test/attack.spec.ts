import { Injectable } from '@nestjs/common';
import { expect, it } from '@jest/globals';
import { BloomGuarded } from 'nestjs-bloom';
import { startDashboard, streamed } from './dashboard-app.js';

@Injectable()
class Shop {
  @BloomGuarded('products')
  async find(sku: string): Promise<string | null> {
    return sku === 'a' ? sku : null;
  }
}

it('An attack on this instance is in the next tick, and waits for nothing else', async () => {
  const app = await startDashboard({ metadata: { providers: [Shop] } });
  await app.bloom.filter('products').rebuild();
  const ticks: { at: number; blocked: number | undefined }[] = [];
  let attackedAfter = Infinity;
  await streamed(`${app.url}/bloom/stream`, ({ event, data }) => {
    if (event !== 'tick') return false;
    ticks.push({ at: data.at, blocked: data.filters[0].blockedPerSecond });
    if (ticks.length === 2) {
      for (let i = 0; i < 500; i++) void app.app.get(Shop).find(`absent ${i}`);
      attackedAfter = ticks.length;
    }
    return ticks.length === attackedAfter + 2;
  });
  // One tick may have been on its way when the attack began.
  expect(ticks.slice(2).some(({ blocked }) => blocked! > 0)).toBe(true);
  expect(ticks[1]!.blocked ?? 0).toBe(0);
  await app.close();
});
