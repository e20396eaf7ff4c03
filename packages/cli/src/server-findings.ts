import type { Cluster, Redis } from 'ioredis';
import { plural } from 'nestjs-bloom/internal';
import type { Finding, Severity } from './findings.js';
import { bytes, duration } from './texts.js';

const OLDEST_REDIS = [6, 2];
const MOST_SKEW_MS = 5000;

/** What one server says of itself. */
export async function serverFindings(client: Redis | Cluster): Promise<Finding[]> {
  if (!client.isCluster) return findingsOf(client as Redis, '', false);
  const nodes = (client as Cluster).nodes('master');
  const found = await Promise.all(
    nodes.map((node) => findingsOf(node, `${node.options.host}:${node.options.port} `, true)),
  );
  return found.flat();
}

type Info = ReadonlyMap<string, string>;

async function findingsOf(client: Redis, where: string, isInCluster: boolean): Promise<Finding[]> {
  const findings: Finding[] = [];
  const add = (severity: Severity, about: string, text: string) =>
    findings.push({ severity, about, text: text.replace(/^(BLOOM_\w+: )?/, `$1${where}`) });
  let info: Info;
  try {
    info = parseInfo(await client.info());
  } catch (error) {
    const text = `BLOOM_COMMAND_REFUSED: INFO is refused (${String(error)}): a restart that lost adds is not noticed, and a rebuild cannot ask for memory. Allow INFO.`;
    add('warning', 'server', text);
    return findings;
  }
  aboutVersion(info, add);
  aboutRole(info, isInCluster, add);
  aboutMemory(info, add);
  aboutPersistence(info, add);
  await aboutClock(client, add);
  return findings;
}

type Add = (severity: Severity, about: string, text: string) => void;

function aboutVersion(info: Info, add: Add): void {
  const version = info.get('valkey_version') ?? info.get('redis_version') ?? '?';
  const name = info.has('valkey_version') ? 'Valkey' : 'Redis';
  const [major = 0, minor = 0] = (info.get('redis_version') ?? '').split('.').map(Number);
  const isOld = major < OLDEST_REDIS[0]! || (major === OLDEST_REDIS[0] && minor < OLDEST_REDIS[1]!);
  if (isOld) add('error', 'version', `${name} ${version} is too old: upgrade to 6.2 or later.`);
  else add('ok', 'version', `${name} ${version}`);
}

function aboutRole(info: Info, isInCluster: boolean, add: Add): void {
  const replicas = Number(info.get('connected_slaves') ?? 0);
  if (info.get('role') !== 'master') {
    add(
      'error',
      'role',
      'BLOOM_SERVER_IS_REPLICA: It is a replica, which lags and takes no writes: give the address of the primary, or "sentinels" and "name" in --redis-options.',
    );
  } else if (info.get('cluster_enabled') === '1' && !isInCluster) {
    add(
      'error',
      'role',
      'It is a node of a cluster, asked as if it were alone: name the nodes under "cluster" in --redis-options, and give a Cluster to BloomModule.',
    );
  } else add('ok', 'role', `master, ${plural(replicas, 'replica')}`);
}

function aboutMemory(info: Info, add: Add): void {
  const [limit, used] = [Number(info.get('maxmemory') ?? 0), usedBytes(info)];
  const policy = info.get('maxmemory_policy') ?? '?';
  if (limit === 0) {
    add('ok', 'memory', `${bytes(used)} used, no maxmemory`);
    return;
  }
  add('ok', 'memory', `${bytes(used)} used of maxmemory ${bytes(limit)}`);
  if (policy.startsWith('allkeys-')) {
    add(
      'warning',
      'eviction',
      `BLOOM_EVICTABLE: maxmemory-policy ${policy} may evict the filter: lookups go through until it is rebuilt. ${BETTER_POLICY}`,
    );
  } else if (policy === 'volatile-ttl' || policy === 'volatile-random') {
    add(
      'warning',
      'eviction',
      `BLOOM_EVICTABLE: maxmemory-policy ${policy} evicts the keys of a rebuild first, or like any other: rebuilds fail when memory is full. ${BETTER_POLICY}`,
    );
  } else add('ok', 'eviction', `maxmemory-policy ${policy}`);
}

const BETTER_POLICY =
  'Set noeviction, volatile-lru or volatile-lfu, or give the filters a Redis of their own.';

function aboutPersistence(info: Info, add: Add): void {
  if (info.get('aof_enabled') === '1') add('ok', 'persistence', 'append-only file');
  else {
    add(
      'note',
      'persistence',
      'BLOOM_NO_APPEND_ONLY_FILE: No append-only file: after a restart a filter with a source is suspect until it is rebuilt, and one without a source has lost ids. Set appendonly yes for those.',
    );
  }
}

/** The time of the server is compared with the middle of the question. */
async function aboutClock(client: Redis, add: Add): Promise<void> {
  try {
    const askedAt = Date.now();
    const [seconds, micros] = await client.time();
    const middle = (askedAt + Date.now()) / 2;
    const skewMs = Number(seconds) * 1000 + Number(micros) / 1000 - middle;
    const text = `The clock of the server is ${duration(Math.abs(skewMs))} ${skewMs < 0 ? 'behind' : 'ahead of'} the one here`;
    if (Math.abs(skewMs) > MOST_SKEW_MS) {
      add(
        'warning',
        'clock',
        `${text}: schedules by cron of several instances count on clocks within a minute. Let NTP set both.`,
      );
    } else add('ok', 'clock', `${text}.`);
  } catch {
    add(
      'note',
      'clock',
      'BLOOM_COMMAND_REFUSED: TIME is refused: nothing is noted of builds, and each instance goes by its own pauses.',
    );
  }
}

/** Whether a second generation of so many bytes has room now, as a rebuild asks. */
export async function roomFinding(
  client: Redis,
  name: string,
  filterBytes: number,
): Promise<Finding | undefined> {
  const info = parseInfo(await client.info('memory'));
  const limit = Number(info.get('maxmemory') ?? 0);
  if (limit === 0) return undefined;
  const about = `room for ${name}`;
  const policy = info.get('maxmemory_policy') ?? '';
  const needed = Math.ceil(filterBytes * ROOM_IN_BYTES);
  const free = policy === 'noeviction' ? limit - usedBytes(info) : limit;
  const text = `a rebuild needs ${bytes(needed)}, ${bytes(Math.max(0, free))} ${policy === 'noeviction' ? 'are free' : 'is all there is'}`;
  return needed <= free
    ? { severity: 'ok', about, text }
    : {
        severity: 'error',
        about,
        text: `BLOOM_MEMORY_TOO_SMALL: ${text}: it fails with no-memory. Raise maxmemory, or the error rate of the filter.`,
      };
}

/** Rounded up by the allocator, with a third to spare; see docs/operations.md. */
const ROOM_IN_BYTES = 1.25 * (4 / 3);

function usedBytes(info: Info): number {
  return Number(info.get('used_memory') ?? 0) - Number(info.get('mem_not_counted_for_evict') ?? 0);
}

function parseInfo(text: string): Info {
  const lines = text.split('\r\n').filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}
