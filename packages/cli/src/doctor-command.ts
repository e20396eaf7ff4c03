import type { Redis } from 'ioredis';
import { describeError, plural } from 'nestjs-bloom/internal';
import {
  type FilterInspection,
  inspectFilter,
  INSPECTED_KINDS,
  type InspectedKindName,
  type InspectedPart,
  ServerInspector,
} from './inspection/index.js';
import type { Application } from './application.js';
import { CliError, usageError, withCode } from './cli-error.js';
import { type Finding, printFindings, type Severity } from './findings.js';
import type { RedisSession } from './redis-session.js';
import { roomFinding, serverFindings } from './server-findings.js';
import type { Terminal } from './terminal.js';
import { bytes } from './texts.js';
import { noSuchKind } from './cli.messages.js';

export interface DoctorWords {
  readonly kind: string;
  readonly json?: boolean;
}

const OLDEST_NODE = [20, 19];

/** Looks at all that endangers filters; each finding says how bad it is and what to do. */
export async function doctor(
  terminal: Terminal,
  places: {
    readonly openSession: (() => Promise<RedisSession>) | undefined;
    readonly openApplication: (() => Promise<Application>) | undefined;
  },
  names: readonly string[],
  { kind, json }: DoctorWords,
): Promise<number> {
  if (!(INSPECTED_KINDS as readonly string[]).includes(kind))
    throw usageError(noSuchKind(INSPECTED_KINDS.join(', '), kind));
  const findings: Finding[] = [nodeFinding()];
  if (places.openSession)
    findings.push(...(await onServer(places.openSession, names, kind as InspectedKindName)));
  if (places.openApplication) findings.push(...(await inApplication(places.openApplication)));
  return printFindings(terminal, findings, json);
}

async function onServer(
  open: () => Promise<RedisSession>,
  names: readonly string[],
  kind: InspectedKindName,
): Promise<Finding[]> {
  let session: RedisSession;
  try {
    session = await open();
  } catch (error) {
    // What was typed wrongly is no state of a server.
    if (error instanceof CliError && error.exitCode === usageError('').exitCode) throw error;
    return [{ severity: 'error', about: 'connection', text: withCode(error) }];
  }
  try {
    const { store, client, address } = session;
    const server = new ServerInspector(store.access);
    const findings: Finding[] = [{ severity: 'ok', about: 'connection', text: address }];
    findings.push(...(await serverFindings(client)));
    findings.push(...(await permissionFindings(() => server.refused(kind, names[0] ?? 'doctor'), kind)));
    const signs = await server.proxySigns();
    findings.push(...signs.map((text): Finding => ({ severity: 'warning', about: 'proxy', text })));
    if (signs.length === 0) findings.push({ severity: 'ok', about: 'proxy', text: 'no sign of one' });
    for (const name of names) {
      const { found, parts } = await inspectFilter({ ...store.access, name }, { walkMs: 5000 });
      findings.push(...(parts?.flatMap((part) => partFindings(name, part)) ?? filterFindings(found)));
      if (client.isCluster || found.live.bytes === 0) continue;
      const room = await roomFinding(client as Redis, name, found.live.bytes).catch(() => undefined);
      if (room) findings.push(room);
    }
    return findings;
  } finally {
    await session.close();
  }
}

async function permissionFindings(ask: () => Promise<readonly string[]>, kind: string): Promise<Finding[]> {
  const about = 'permissions';
  try {
    const refused = await ask();
    if (refused.length === 0)
      return [{ severity: 'ok', about, text: `all commands of a filter of kind ${kind} are allowed` }];
    const advice = 'Allow the command, and the keys, for this user (ACL SETUSER; see docs/operations.md).';
    return refused.map((text) => ({
      severity: 'error',
      about,
      text: /ACL SETUSER|Load the module/.test(text) ? text : `${text}. ${advice}`,
    }));
  } catch (error) {
    return [{ severity: 'error', about, text: `They cannot be tried: ${describeError(error)}` }];
  }
}

const STATE_CODES: Readonly<Record<string, string>> = {
  suspect: 'BLOOM_STATE_CHANGED: ',
  lost: 'BLOOM_STATE_CHANGED: ',
  newer: 'BLOOM_NEWER_FORMAT: ',
};
/** Keys that are as they should be, also those that do not expire. */
const NO_FINDINGS = ['negative cache', 'probe', 'reports of instances', 'marks of outside writers'];
const STATE_SEVERITY: Readonly<Record<string, Severity>> = {
  ready: 'ok',
  unbuilt: 'warning',
  missing: 'warning',
};

function partFindings(name: string, part: InspectedPart): Finding[] {
  const about = `${name}, part ${part.part}`;
  if ('error' in part) return [{ severity: 'error', about, text: part.error }];
  return filterFindings({ ...part.found, name: about });
}

function filterFindings(found: FilterInspection): Finding[] {
  const { name, state, note, live, others, facts, lease, measuredErrorRate, errorRate } = found;
  const findings: Finding[] = [];
  const add = (severity: Severity, text: string) => findings.push({ severity, about: name, text });
  const isSuspect = state === 'ready' && note !== undefined;
  const code = STATE_CODES[isSuspect ? 'suspect' : state] ?? '';
  add(
    isSuspect ? 'error' : (STATE_SEVERITY[state] ?? 'error'),
    code + (note === undefined ? state : `${state}: ${note}`),
  );
  if (live.missing + live.damaged > 0)
    add(
      'error',
      `${plural(live.missing + live.damaged, 'key')} of the live generation are gone or damaged: rebuild it.`,
    );
  if (live.lifeMs !== undefined)
    add('error', 'Keys of the live generation expire: something else has set a TTL on them. Rebuild it.');
  if (facts.failures > 0)
    add(
      'warning',
      `BLOOM_REBUILD_FAILED: The last ${plural(facts.failures, 'build')} failed: see the log of the application, rebuild-failed.`,
    );
  if (lease && lease.lifeMs === undefined)
    add('warning', 'The lock of a rebuild has no TTL: something else has written it. It counts for nothing.');
  if (measuredErrorRate !== undefined && errorRate > 0 && measuredErrorRate > 2 * errorRate)
    add(
      'warning',
      `BLOOM_OVERFULL: More than twice as many absent ids pass as planned: raise capacity, and rebuild it.`,
    );
  for (const { what, keys, bytes: size, lifeMs } of others) {
    if (NO_FINDINGS.includes(what)) continue;
    const isForEver = lifeMs === undefined && what !== 'other';
    add(
      isForEver ? 'warning' : 'note',
      `${what}: ${plural(keys, 'key')}, ${bytes(size)}${isForEver ? ', which do not expire: delete them' : ''}`,
    );
  }
  return findings;
}

async function inApplication(open: () => Promise<Application>): Promise<Finding[]> {
  const application = await open();
  try {
    const findings: Finding[] = [];
    for (const filter of application.service.filters()) {
      const { state, store } = await filter.info();
      const isReady = state === 'ready' || store === 'memory';
      const text = store === 'memory' ? 'in the memory of each process' : `${state}, in ${store}`;
      findings.push({ severity: isReady ? 'ok' : 'warning', about: filter.name, text });
    }
    const advice = await application.advise();
    // The same of every filter is said once.
    const said = new Set<string>();
    for (const { filter, text } of advice) {
      if (said.has(text)) continue;
      said.add(text);
      findings.push({
        severity: text.startsWith('BLOOM_COMMAND_REFUSED') ? 'error' : 'warning',
        about: filter,
        text,
      });
    }
    if (advice.length === 0)
      findings.push({ severity: 'ok', about: 'options', text: 'nothing in the options endangers a filter' });
    return findings;
  } finally {
    await application.close();
  }
}

function nodeFinding(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const isOld = major < OLDEST_NODE[0]! || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1]!);
  const text = `Node ${process.versions.node}`;
  return isOld
    ? { severity: 'error', about: 'node', text: `${text} is too old: nestjs-bloom needs 20.19 or later.` }
    : { severity: 'ok', about: 'node', text };
}
