import type { RedisConnection } from 'nestjs-bloom/internal';

/** The process that may rebuild now. */
export interface LeaseFacts {
  /** Token of the holder; its process made it, and no other has it. */
  readonly token: string;
  /** Run of the server that gave it; '' when that may not be asked. */
  readonly givenBy: string;
  /** Time until it expires unless its holder renews it; undefined: it has no life, and counts for nothing. */
  readonly lifeMs: number | undefined;
}

/** What the server has noted about builds; see `acquire.lua`. */
export interface BuildFacts {
  /** Token of a build that has begun and has not ended. */
  readonly running: string | undefined;
  readonly beganAt: Date | undefined;
  readonly occasion: string | undefined;
  /** When the build began that went live. */
  readonly liveBeganAt: Date | undefined;
  /** Failures in a row. */
  readonly failures: number;
  /** When the next automatic attempt is due, after a failure. */
  readonly dueAt: Date | undefined;
}

/** Undefined when nobody holds it. */
export async function readLease(connection: RedisConnection, key: string): Promise<LeaseFacts | undefined> {
  const [text, lifeMs] = await Promise.all([
    connection.commandWrite('GET', key, []).then(textOf),
    connection.commandWrite('PTTL', key, []).then(Number),
  ]);
  if (text === undefined) return undefined;
  const [token = '', givenBy = ''] = text.split('@');
  return { token, givenBy, lifeMs: lifeMs >= 0 ? lifeMs : undefined };
}

export async function readBuilds(connection: RedisConnection, key: string): Promise<BuildFacts> {
  const fields = ['running', 'began', 'occasion', 'live', 'failures', 'due'];
  const reply = await connection.commandWrite('HMGET', key, fields);
  const [running, began, occasion, live, failures, due] = (reply as unknown[]).map(textOf);
  return {
    running,
    beganAt: timeOf(began),
    occasion,
    liveBeganAt: timeOf(live),
    failures: Number(failures ?? 0) || 0,
    dueAt: timeOf(due),
  };
}

export function textOf(reply: unknown): string | undefined {
  return reply === null || reply === undefined ? undefined : String(reply as Buffer | string);
}

function timeOf(text: string | undefined): Date | undefined {
  const at = Number(text ?? '');
  return at > 0 && at < 8.64e15 ? new Date(at) : undefined;
}
