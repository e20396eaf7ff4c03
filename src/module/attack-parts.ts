import { systemClock } from '../common/index.js';
import { attackSettings, type BloomService, ClientCounts, MAX_CLIENTS } from '../service/index.js';
import { AttackMonitor } from './attack-monitor.js';
import type { BloomModuleOptions } from './bloom-module-options.js';
import type { EventHub } from './event-hub.js';

/** What reports attacks; undefined with `attack: false`. */
export function attackMonitor(
  { attack = {} }: BloomModuleOptions,
  { service, events: { emit } }: { readonly service: BloomService; readonly events: EventHub },
): AttackMonitor | undefined {
  return attack ? new AttackMonitor({ settings: attackSettings(attack), service, emit }) : undefined;
}

/** What counts the absents of clients; undefined where the application does not name them. */
export function clientCounts(
  { attack }: BloomModuleOptions,
  { emit }: Pick<EventHub, 'emit'>,
): ClientCounts | undefined {
  if (!attack || !attack.client) return undefined;
  const { client, maxClients = MAX_CLIENTS } = attack;
  return new ClientCounts({ client, maxClients, clock: systemClock, emit });
}
