import { noLsn } from './postgres-feed.messages.js';

/** A place in the log of Postgres, of its text `16/B374D848`. */
export function lsnOf(text: string): bigint {
  const [, high, low] = /^([\dA-F]{1,8})\/([\dA-F]{1,8})$/i.exec(text) ?? [];
  if (high === undefined || low === undefined) throw new TypeError(noLsn(text));
  return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}

export function textOfLsn(lsn: bigint): string {
  return `${(lsn >> 32n).toString(16)}/${(lsn & 0xffffffffn).toString(16)}`.toUpperCase();
}
