import { type CommandTry, triesOfMetadata } from '../protocol/command-permissions.js';
import type { GrowingKeys } from './growing-keys.js';

/** What the scripts of a filter that grows need, on metadata and on the segments of its layers. */
export function triesOfLayers(keys: GrowingKeys): CommandTry[] {
  const { probe } = keys;
  const segment = keys.segment('probe', 0);
  return [
    ...triesOfMetadata(probe),
    { command: 'HKEYS', key: probe },
    { command: 'HINCRBY', key: probe, args: ['field', 'no number'] },
    { command: 'GETRANGE', key: segment, args: ['0', '0'] },
    // Nothing is written.
    { command: 'SETRANGE', key: segment, args: ['0', ''] },
    { command: 'STRLEN', key: segment },
    { command: 'PERSIST', key: segment },
    { command: 'BITOP', args: ['OR', { key: segment }, { key: segment }] },
    // Made, and removed again.
    { command: 'APPEND', key: segment, args: ['probe'] },
    { command: 'PEXPIRE', key: segment, args: ['1000'] },
    { command: 'DEL', key: segment },
  ];
}
