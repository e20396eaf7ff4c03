import type { GatedInstance } from '../gated-instance.js';
import type { RawCommand, Reply } from '../server-link.js';
import type { LeasedTime } from './leased-time.js';

/** Shares of messages, in percent. */
export const LOST = 15;
const TWICE = 15;
/** Scripts that publish entries of the feed, or what readers have acknowledged. */
const PUBLISHES = new Set(['add', 'swap', 'copyAck', 'copyLease', 'copyLeave']);

/**
 * Takes from the server what such a script has published: the prelude of a simulated server puts it into a
 * list.
 */
export function takingMessages(what: string, base: string): RawCommand[] {
  return PUBLISHES.has(what) ? [{ name: 'lpop', args: [`${base}:published`, 32] }] : [];
}

/**
 * Sends what was published to each process that has subscribed: it comes when the schedule lets it, in any
 * order, twice, or never.
 */
export function deliverMessages(
  time: LeasedTime,
  instances: readonly GatedInstance[],
  reply: Reply | undefined,
): void {
  if (!reply || !('value' in reply) || !Array.isArray(reply.value)) return;
  const published = reply.value as Buffer[];
  for (let i = 0; i + 1 < published.length; i += 2) {
    for (const instance of instances) {
      if (instance.isAlive) send(time, instance, String(published[i]), published[i + 1]!);
    }
  }
}

function send(time: LeasedTime, instance: GatedInstance, channel: string, message: Buffer): void {
  for (const client of instance.client.duplicates) {
    if (!client.channels.has(channel) || instance.cut.has(client)) continue;
    const chance = time.chance.below(100);
    const times = chance < LOST ? 0 : chance < LOST + TWICE ? 2 : 1;
    for (let i = 0; i < times; i++) {
      instance.held.push({
        what: `has message ${message.toString('latin1').slice(0, 20)}`,
        weight: time.feedWeightOf(instance),
        isOfFeed: true,
        client,
        isDue: () => !instance.cut.has(client),
        go: () => void client.emit('messageBuffer', Buffer.from(channel), message),
      });
    }
  }
}
