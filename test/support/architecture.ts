import { findCircles, type Import, importsOf, type Sources } from './imports.js';

/** The floors of the house, the lowest first; those of one floor never import one another. */
const FLOORS = [
  ['common'],
  ['filter'],
  ['store'],
  ['rebuild'],
  ['service'],
  ['guard'],
  ['sources'],
  ['module'],
  ['testing', 'integrations'],
];
/** Rooms of their own: they import the contract as everybody does, and only these floors know of them. */
const STORES = ['store/memory', 'store/partitions', 'store/redis', 'store/local-copy'];
const MAY_NAME_A_STORE = ['module', 'internal-entry.ts'];
const MAY_USE_NEST = ['service', 'guard', 'sources', 'module', 'testing', 'integrations'];
const MAY_USE_IOREDIS = ['store/redis', 'module'];
/** What the core loads. Any other library has a wing. */
const OF_THE_CORE = [
  '@nestjs/common',
  '@nestjs/core',
  '@nestjs/schedule',
  'cron',
  'ioredis',
  'reflect-metadata',
  'rxjs',
];
/** A folder whose rooms stand on floors of their own. */
const REDIS = {
  folder: 'store/redis',
  /** The lowest first. */
  floors: ['lua', 'client', 'board', 'swap', 'meta', 'staging', 'lock', 'filter', 'blocked'],
  /** Files above all rooms, which no room imports. */
  door: ['index.ts', 'redis-store.ts', 'redis.messages.ts'],
};
/** What the package exports. */
const ENTRIES = [
  'index.ts',
  'filter-entry.ts',
  'store-entry.ts',
  'sources-entry.ts',
  'internal-entry.ts',
  'integrations/index.ts',
];

/** Everything that breaks the rules of the house, a sentence each. */
export function findViolations(sources: Sources): string[] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text));
  return [
    ...[...sources.keys()]
      .filter((file) => floorOf(file) === undefined)
      .map((file) => `${file} is on no floor`),
    ...[...sources.keys()]
      .filter((file) => isInRedis(file) && floorInRedis(file) === undefined)
      .map((file) => `${file} is in no room`),
    ...emptyRooms(sources).map((room) => `${room} is guarded, and there is no such room`),
    ...missingFiles(sources).map((file) => `${file} is guarded, and there is no such file`),
    ...imports.flatMap((one) => complaint(one, sources) ?? []),
    ...findCircles(sources),
  ];
}

function complaint(one: Import, sources: Sources): string | undefined {
  const { from, to } = one;
  const reason = one.isPackage ? packageComplaint(roomOf(from), to) : fileComplaint(from, to, sources);
  return reason && `${from} imports ${to}: ${reason}`;
}

function packageComplaint(room: string, name: string): string | undefined {
  if (room === 'filter' && !name.startsWith('node:'))
    return 'filter is pure mathematics and needs no package';
  if (name.startsWith('@nestjs/') && !MAY_USE_NEST.includes(room))
    return `only ${MAY_USE_NEST.join(', ')} know Nest`;
  if (name === 'ioredis' && !MAY_USE_IOREDIS.includes(room))
    return `only ${MAY_USE_IOREDIS.join(', ')} know ioredis`;
  if (!name.startsWith('node:') && !OF_THE_CORE.includes(name)) return 'the core needs no such package';
  return undefined;
}

function fileComplaint(from: string, to: string, sources: Sources): string | undefined {
  if (!sources.has(to)) return 'there is no such file';
  const room = roomOf(from);
  const target = roomOf(to);
  if (ENTRIES.includes(to)) return 'the entry of the package is for its users';
  if (room === target) {
    if (to === `${target}/index.ts`) return 'a room never imports its own index.ts';
    return redisComplaint(from, to);
  }
  if (to !== `${target}/index.ts`) return `${target} is entered through its index.ts`;
  if (STORES.includes(target) && !MAY_NAME_A_STORE.includes(room))
    return `only ${MAY_NAME_A_STORE.join(', ')} name a store`;
  const isContract = STORES.includes(room) && target === 'store';
  if (ENTRIES.includes(from) || isContract) return undefined;
  const [floor, targetFloor] = [floorOf(from), floorOf(to)];
  if (floor === undefined || targetFloor === undefined || targetFloor < floor) return undefined;
  return targetFloor > floor ? 'imports go downwards only' : 'neighbours on a floor never import one another';
}

function redisComplaint(from: string, to: string): string | undefined {
  const [floor, targetFloor] = [floorInRedis(from), floorInRedis(to)];
  return floor !== undefined && targetFloor !== undefined && targetFloor > floor
    ? 'imports go downwards only'
    : undefined;
}

function roomOf(file: string): string {
  return STORES.find((room) => file.startsWith(`${room}/`)) ?? file.split('/')[0]!;
}

function floorOf(file: string): number | undefined {
  if (ENTRIES.includes(file)) return FLOORS.length;
  const floor = FLOORS.findIndex((rooms) => rooms.includes(file.split('/')[0]!));
  return floor === -1 ? undefined : floor;
}

function isInRedis(file: string): boolean {
  return file.startsWith(`${REDIS.folder}/`);
}

function floorInRedis(file: string): number | undefined {
  if (!isInRedis(file)) return undefined;
  const path = file.slice(REDIS.folder.length + 1);
  if (REDIS.door.includes(path)) return REDIS.floors.length;
  const floor = REDIS.floors.indexOf(path.split('/')[0]!);
  return floor === -1 ? undefined : floor;
}

/** Rooms that the rules name and the house does not have. */
function emptyRooms(sources: Sources): string[] {
  const rooms = [...FLOORS.flat(), ...STORES, ...REDIS.floors.map((room) => `${REDIS.folder}/${room}`)];
  return rooms.filter((room) => ![...sources.keys()].some((file) => file.startsWith(`${room}/`)));
}

/** Files that the rules name and the house does not have. */
function missingFiles(sources: Sources): string[] {
  return [...ENTRIES, ...REDIS.door.map((file) => `${REDIS.folder}/${file}`)].filter(
    (file) => !sources.has(file),
  );
}
