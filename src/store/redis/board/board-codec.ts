import type { BoardMode } from '../../index.js';
import { unexpectedReplyError } from '../client/unexpected-reply.js';

/** A mode that was withdrawn, where it is stored. */
const NONE = '-';

/** As it is stored, 'time mode by'; '' for none. */
export function textOfMode(mode: BoardMode | undefined): string {
  return mode ? `${mode.at} ${storedMode(mode.mode)} ${mode.by}` : '';
}

export function storedMode(mode: string | undefined): string {
  return mode ?? NONE;
}

/** Undefined for a text that is no such record. */
export function modeOf(text: string): BoardMode | undefined {
  const [, at, mode, by] = /^(\d+) ([\w-]+) (.*)$/s.exec(text) ?? [];
  if (at === undefined || mode === undefined || by === undefined) return undefined;
  return { at: Number(at), mode: mode === NONE ? undefined : mode, by };
}

/** The values of a hash that begin with a time, by that time, the latest first. */
export function timed(
  fields: readonly string[],
): { readonly name: string; readonly at: number; readonly rest: string }[] {
  const found = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [, at, rest = ''] = /^(\d+) (.*)$/s.exec(fields[i + 1]!) ?? [];
    if (at !== undefined) found.push({ name: fields[i]!, at: Number(at), rest });
  }
  return found.sort((one, other) => other.at - one.at || (other.name < one.name ? -1 : 1));
}

/** The parts of a reply that is a list, texts but for lists within it. */
export function partsOf(reply: unknown, script: string): (string | string[])[] {
  if (!Array.isArray(reply)) throw unexpectedReplyError(script, reply);
  return reply.map((part: unknown) => (Array.isArray(part) ? part.map(String) : String(part)));
}
