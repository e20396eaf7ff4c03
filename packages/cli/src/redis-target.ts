import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { ClusterNode, ClusterOptions, RedisOptions } from 'ioredis';
import { type BloomRedis, checkRedisOption, describeError } from 'nestjs-bloom/internal';
import { usageError } from './cli-error.js';
import {
  NO_OBJECT,
  redisNotGiven,
  redisOptionsNotRead,
  urlBesideCluster,
  wrongNodes,
  wrongRedisOptions,
} from './cli.messages.js';

/** Where Redis is, as it was typed. */
export interface RedisWords {
  readonly redis?: string | undefined;
  readonly redisOptions?: string | undefined;
}

/** Where Redis is, as ioredis takes it: a URL, options, or both; or a cluster. */
export interface RedisTarget {
  readonly url: string | undefined;
  readonly options: RedisOptions;
  readonly cluster?: { readonly nodes: ClusterNode[]; readonly options: ClusterOptions };
  /** Where it was said, for people. */
  readonly saidBy: string;
}

/** @throws {CliError} */
export function redisTarget(
  { redis, redisOptions: file }: RedisWords,
  environment: NodeJS.ProcessEnv,
): RedisTarget {
  const { cluster: nodes, clusterOptions, ...options } = file === undefined ? {} : readOptions(file);
  const url = redis ?? (file === undefined ? environment['REDIS_URL'] || undefined : undefined);
  const saidBy = file ?? (redis === undefined ? 'REDIS_URL' : '--redis');
  if (url !== undefined) check(url, saidBy);
  else if (file === undefined) throw usageError(redisNotGiven());
  check(options, saidBy);
  if (nodes === undefined) return { url, options, saidBy };
  if (!Array.isArray(nodes)) throw usageError(wrongNodes(saidBy, typeof nodes));
  if (url !== undefined) throw usageError(urlBesideCluster(saidBy));
  const ofCluster = { ...(clusterOptions as ClusterOptions), redisOptions: options };
  return { url, options, cluster: { nodes: nodes as ClusterNode[], options: ofCluster }, saidBy };
}

function check(redis: BloomRedis, saidBy: string): void {
  try {
    checkRedisOption(redis, saidBy);
  } catch (error) {
    throw usageError(describeError(error));
  }
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
