import type { BloomEventMap } from './event-map.js';

/** An event, without its part. */
export type BloomEventDetails = {
  [Type in keyof BloomEventMap]: BloomEventMap[Type] & {
    /** Which event it is. */
    type: Type;
  } & (Type extends 'connection-error' | 'circuit-opened' | 'circuit-closed'
      ? {}
      : {
          /** The filter's name. */
          filter: string;
        });
}[keyof BloomEventMap];

/** An event. */
export type BloomEvent = BloomEventDetails & {
  /** The part of a partitioned filter. */
  part?: number;
};

/** Called with every event, at once; what it throws is logged and goes no further. */
export type BloomEventListener = (event: BloomEvent) => void;

const TYPES = {
  'store-error': true,
  'connection-error': true,
  'circuit-opened': true,
  'circuit-closed': true,
  'invalid-id': true,
  'guard-error': true,
  'attack-started': true,
  'attack-ended': true,
  'overload-started': true,
  'overload-ended': true,
  'not-ready': true,
  'state-changed': true,
  'wrong-absent': true,
  overfull: true,
  'failed-adds': true,
  advice: true,
  'copy-leased': true,
  'copy-unleased': true,
  'adds-delayed': true,
  'other-owner': true,
  'filter-claimed': true,
  'newer-format': true,
  'other-partitions': true,
  'rebuild-started': true,
  'rebuild-progress': true,
  'rebuild-replanned': true,
  'count-ignored': true,
  'source-retried': true,
  'normalize-chosen': true,
  'ids-skipped': true,
  'rebuild-finished': true,
  'rebuild-skipped': true,
  'rebuild-failed': true,
  'clean-up-failed': true,
  'mode-changed': true,
  'top-up-failed': true,
  'mark-moved-back': true,
  'feed-failed': true,
  'feed-gap': true,
  'add-queued': true,
  'filter-missing': true,
} satisfies Record<BloomEvent['type'], true>;

/** The types of all events, in the order of the documentation. */
export const EVENT_TYPES = Object.keys(TYPES) as readonly BloomEvent['type'][];

export function isEventType(type: unknown): type is BloomEvent['type'] {
  return typeof type === 'string' && Object.hasOwn(TYPES, type);
}
