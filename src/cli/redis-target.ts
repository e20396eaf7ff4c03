import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis';
import { describeError } from '../common/index.js';
import { usageError } from './cli-error.js';
import {
  redisNotGiven,
  wrongNodes,
  redisOptionsNotRead,
  NO_OBJECT,
  wrongRedisOptions,
  wrongScheme,
  hasQuery,
  notADatabase,
  NO_MASTER_NAME,
  SEVERAL_HOSTS,
  noPort,
} from './cli.messages.js';

/** Where Redis is, as it was typed. */
export interface RedisWords {
  readonly redis?: string | undefined;
  readonly redisOptions?: string | undefined;
}

/** Where Redis is: a server, the master behind sentinels, or a cluster. */
export interface RedisTarget {
  readonly options: RedisOptions;
  readonly cluster?: { readonly nodes: readonly ClusterNode[]; readonly options: ClusterOptions };
  /** For people; without a password. */
  readonly shown: string;
  /** What must not be shown. */
  readonly secrets: readonly string[];
}

const SCHEMES =
  'redis://, rediss://, redis+sentinel://, rediss+sentinel://, redis+cluster://, rediss+cluster://';
const EXAMPLE =
  'Give --redis redis://localhost:6379 (also rediss:// for TLS, redis+sentinel://host:26379,host:26379/name, redis+cluster://host:6379,host:6379), ' +
  'or --redis-options file.json with options of ioredis, or set REDIS_URL.';

/** @throws {CliError} */
export function redisTarget(
  { redis, redisOptions }: RedisWords,
  environment: NodeJS.ProcessEnv,
): RedisTarget {
  const ofFile = redisOptions === undefined ? undefined : readOptions(redisOptions);
  const url = redis ?? (ofFile ? undefined : environment['REDIS_URL'] || undefined);
  if (url === undefined && !ofFile) throw usageError(redisNotGiven(EXAMPLE));
  const ofUrl: Omit<RedisTarget, 'secrets'> =
    url === undefined ? { options: {}, shown: `the server of ${redisOptions}` } : parseUrl(url);
  const { cluster: nodes, clusterOptions, ...others } = ofFile ?? {};
  const options = { ...ofUrl.options, ...others };
  const clusterNodes = (nodes as readonly ClusterNode[] | undefined) ?? ofUrl.cluster?.nodes;
  if (nodes !== undefined && !Array.isArray(nodes)) throw usageError(wrongNodes(redisOptions, typeof nodes));
  return {
    options,
    shown: ofUrl.shown,
    secrets: [options.password, options.sentinelPassword].filter(
      (one) => typeof one === 'string' && one !== '',
    ) as string[],
    ...(clusterNodes && {
      cluster: {
        nodes: clusterNodes,
        options: { ...(clusterOptions as ClusterOptions), redisOptions: options },
      },
    }),
  };
}

type FileOptions = RedisOptions & { cluster?: unknown; clusterOptions?: unknown };

function readOptions(file: string): FileOptions {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(redisOptionsNotRead(error));
  }
  try {
    const options: unknown = JSON.parse(text);
    if (typeof options !== 'object' || options === null || Array.isArray(options)) throw new Error(NO_OBJECT);
    return withFiles(options as FileOptions, dirname(resolve(file)));
  } catch (error) {
    // What the parser says may quote a password.
    const why = error instanceof SyntaxError ? 'it is no JSON' : describeError(error);
    throw usageError(wrongRedisOptions(file, why));
  }
}

/** Certificates and keys may stand in files of their own. */
function withFiles(options: FileOptions, directory: string): FileOptions {
  const { tls } = options;
  if (typeof tls !== 'object') return options;
  const read = Object.entries(tls).map(([name, value]) => {
    const isFile = typeof value === 'string' && value.startsWith('file:');
    return [name, isFile ? readFileSync(resolve(directory, value.slice('file:'.length)), 'utf8') : value];
  });
  return { ...options, tls: Object.fromEntries(read) as NonNullable<RedisOptions['tls']> };
}

function parseUrl(text: string): Omit<RedisTarget, 'secrets'> {
  const match = /^(rediss?)(\+sentinel|\+cluster)?:\/\/(?:([^?]*)@)?([^/?]+)?(?:\/([^?]*))?(?:\?(.*))?$/.exec(
    text,
  );
  if (!match) throw usageError(wrongScheme(SCHEMES, shownUrl(text), EXAMPLE));
  const [, scheme, kind, credentials, hosts = '', path = '', query] = match;
  if (query) throw usageError(hasQuery(shownUrl(text)));
  const [username, password] = splitCredentials(credentials);
  const nodes = (hosts || 'localhost')
    .split(',')
    .map((host) => hostAndPort(host, kind === '+sentinel' ? 26379 : 6379, text));
  const words = path.split('/').filter((word) => word !== '');
  const name = kind === '+sentinel' ? words.shift() : undefined;
  const [database = '0', ...rest] = words;
  if (rest.length > 0 || !/^\d{1,6}$/.test(database)) throw usageError(notADatabase(path));
  if (kind === '+sentinel' && name === undefined) throw usageError(NO_MASTER_NAME);
  if (kind === undefined && nodes.length > 1) throw usageError(SEVERAL_HOSTS);
  const shown = `${scheme}${kind ?? ''}://${nodes.map(({ host, port }) => `${host}:${port}`).join(',')}${name ? `/${name}` : ''}`;
  const common: RedisOptions = {
    ...(username && { username }),
    ...(password && { password }),
    ...(scheme === 'rediss' && { tls: {} }),
    ...(kind === '+cluster' ? {} : { db: Number(database) }),
  };
  if (kind === '+cluster') return { options: common, shown, cluster: { nodes, options: {} } };
  if (kind === '+sentinel') return { options: { ...common, sentinels: nodes, name: name! }, shown };
  return { options: { ...common, ...nodes[0] }, shown };
}

function splitCredentials(text: string | undefined): readonly [username: string, password: string] {
  if (text === undefined) return ['', ''];
  const at = text.indexOf(':');
  const [username, password] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
  return [decoded(username), decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function hostAndPort(text: string, usualPort: number, url: string): { host: string; port: number } {
  const [, bracketed, plain, port = String(usualPort)] =
    /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) throw usageError(noPort(shownUrl(url)));
  return { host, port: Number(port) };
}

/** The scheme of a URL that may be mistyped: nobody knows which part of the rest is a password. */
function shownUrl(url: string): string {
  return `'${/^\w[\w+.-]*:\/\//.exec(url)?.[0] ?? ''}…'`;
}
