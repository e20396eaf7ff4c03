import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';

/** The process that reports; an application that starts again is another one. */
export interface InstanceIdentity {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: Date;
}

export function newIdentity(): InstanceIdentity {
  return { id: randomBytes(8).toString('hex'), host: hostname(), pid: process.pid, startedAt: new Date() };
}
