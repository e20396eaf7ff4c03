import { type Import, importsOf } from './imports.js';

/** The floors of the house, the lowest first; those of one floor never import one another. */
const FLOORS = [
  ['common'],
  ['filter'],
  ['store'],
  ['rebuild', 'interop', 'scaling'],
  ['service'],
  ['guard'],
  ['sources'],
  ['module'],
  ['cli', 'testing', 'integrations'],
];
/** Rooms of their own: they import the contract as everybody does, and only these floors know of them. */
const STORES = ['store/memory', 'store/partitions', 'store/redis', 'store/replica'];
const MAY_NAME_A_STORE = ['module', 'cli', 'interop', 'scaling'];
const MAY_USE_NEST = ['service', 'guard', 'sources', 'module', 'cli', 'testing', 'integrations'];
const MAY_USE_IOREDIS = ['store/redis', 'module', 'cli'];
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
/** Packages that nobody but the command line loads. */
const OF_THE_COMMAND_LINE = ['commander'];
/** A folder whose rooms stand on floors of their own. */
interface Wing {
  /** The lowest first; those of one floor never import one another. */
  readonly floors: readonly (readonly string[])[];
  /** Files below all rooms, which every room may import. */
  readonly ground: readonly string[];
  /** Files above all rooms, which no room imports. */
  readonly door: readonly string[];
}
/** On the floor of the kinds of filters: no kind imports another. */
const WINGS: Readonly<Record<string, Wing>> = {
  'store/redis': {
    floors: [
      ['lua'],
      ['client'],
      ['board'],
      ['protocol'],
      ['blocked', 'bitmap', 'bf', 'cf', 'growing'],
      ['inspection'],
    ],
    ground: [],
    door: ['index.ts', 'redis-store.ts', 'redis.messages.ts'],
  },
  'filter/peers': {
    floors: [
      ['id', 'dump', 'options'],
      ['hash', 'java'],
      ['bitmap'],
      ['cuckoo', 'go-zero', 'guava', 'redisbloom', 'redisson'],
    ],
    ground: ['layout-numbers.ts', 'peers.messages.ts'],
    door: ['index.ts'],
  },
};
/** What the package exports. */
const ENTRIES = [
  'index.ts',
  'filter-entry.ts',
  'store-entry.ts',
  'sources-entry.ts',
  'integrations/index.ts',
  'interop/index.ts',
  'scaling/index.ts',
];
/**
 * What only applications with a layout of others, or with one that grows, load: rooms within other rooms, each entered through its own
 * index.ts by those who may, and by nobody else.
 */
const GUESTS: Readonly<Record<string, readonly string[]>> = {
  'filter/peers': [
    'interop',
    'cli',
    'store/redis/bitmap',
    'store/redis/bf',
    'store/redis/cf',
    'store/memory/cf',
    'store/redis/inspection',
  ],
  'filter/growing': ['scaling', 'store/redis/growing', 'store/memory/growing', 'store/redis/inspection'],
  'store/memory/cf': ['interop'],
  'store/memory/growing': ['scaling'],
  'store/redis/bitmap': ['interop'],
  'store/redis/bf': ['interop', 'store/redis/inspection'],
  'store/redis/cf': ['interop', 'store/redis/inspection'],
  'store/redis/growing': ['scaling', 'store/redis/inspection'],
  'store/redis/inspection': ['cli'],
};

/** Sources by their path within `src`, with `/`. */
export type Sources = ReadonlyMap<string, string>;

/** Everything that breaks the rules of the house, a sentence each. */
export function findViolations(sources: Sources): string[] {
  const imports = [...sources].flatMap(([file, text]) => importsOf(file, text));
  return [
    ...[...sources.keys()]
      .filter((file) => floorOf(file) === undefined)
      .map((file) => `${file} is on no floor`),
    ...[...sources.keys()]
      .filter((file) => wingOf(file) !== undefined && floorInWing(file) === undefined)
      .map((file) => `${file} is in no room`),
    ...emptyRooms(sources).map((room) => `${room} is guarded, and there is no such room`),
    ...missingFiles(sources).map((file) => `${file} is guarded, and there is no such file`),
    ...imports.flatMap((one) => complaint(one, sources) ?? []),
    ...findCircles(sources, imports),
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
  if (OF_THE_COMMAND_LINE.includes(name)) return room === 'cli' ? undefined : 'only cli loads it';
  if (!name.startsWith('node:') && !OF_THE_CORE.includes(name)) return 'the core needs no such package';
  return undefined;
}

function fileComplaint(from: string, to: string, sources: Sources): string | undefined {
  if (!sources.has(to)) return 'there is no such file';
  const room = roomOf(from);
  const target = roomOf(to);
  if (ENTRIES.includes(to)) return 'the entry of the package is for its users';
  const guest = guestOf(to);
  if (guest !== undefined && guest !== guestOf(from)) return guestComplaint(from, to, guest);
  if (target === 'cli' && room !== 'cli') return 'nobody imports the command line';
  if (room === target) {
    if (to === `${target}/index.ts`) return 'a room never imports its own index.ts';
    return wingComplaint(from, to);
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

function guestComplaint(from: string, to: string, guest: string): string | undefined {
  const host = GUESTS[guest]!.find((one) => from.startsWith(`${one}/`));
  if (host === undefined) return `only ${GUESTS[guest]!.join(', ')} know ${guest}`;
  // Within a wing its own rules hold beside this one.
  if (wingOf(to) !== undefined && wingOf(from) === wingOf(to)) return wingComplaint(from, to);
  return to === `${guest}/index.ts` ? undefined : `${guest} is entered through its index.ts`;
}

function wingComplaint(from: string, to: string): string | undefined {
  if (wingOf(from) === undefined || wingOf(from) !== wingOf(to)) return undefined;
  const [floor, targetFloor] = [floorInWing(from), floorInWing(to)];
  if (floor === undefined || targetFloor === undefined || targetFloor < floor) return undefined;
  if (targetFloor > floor) return 'imports go downwards only';
  return roomInWing(from) === roomInWing(to) ? undefined : 'neighbours on a floor never import one another';
}

function findCircles(sources: Sources, imports: readonly Import[]): string[] {
  const targets = new Map<string, string[]>();
  for (const { from, to, isPackage } of imports) {
    if (!isPackage && sources.has(to)) targets.set(from, [...(targets.get(from) ?? []), to]);
  }
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push(`circle: ${[...path.slice(path.indexOf(file)), file].join(' → ')}`);
    if (done.has(file)) return;
    done.add(file);
    for (const target of targets.get(file) ?? []) visit(target, [...path, file]);
  };
  for (const file of sources.keys()) visit(file, []);
  return circles;
}

function guestOf(file: string): string | undefined {
  return Object.keys(GUESTS).find((guest) => file.startsWith(`${guest}/`));
}

function roomOf(file: string): string {
  return STORES.find((room) => file.startsWith(`${room}/`)) ?? file.split('/')[0]!;
}

function floorOf(file: string): number | undefined {
  if (ENTRIES.includes(file)) return FLOORS.length;
  const floor = FLOORS.findIndex((rooms) => rooms.includes(file.split('/')[0]!));
  return floor === -1 ? undefined : floor;
}

function wingOf(file: string): string | undefined {
  return Object.keys(WINGS).find((wing) => file.startsWith(`${wing}/`));
}

/** The first folder within a wing; '' for what stands beside the rooms. */
function roomInWing(file: string): string {
  const wing = wingOf(file)!;
  const { ground, door } = WINGS[wing]!;
  const path = file.slice(wing.length + 1);
  return [...ground, ...door].includes(path) ? '' : path.split('/')[0]!;
}

function floorInWing(file: string): number | undefined {
  const wing = wingOf(file)!;
  const { floors, ground, door } = WINGS[wing]!;
  const path = file.slice(wing.length + 1);
  if (ground.includes(path)) return -1;
  if (door.includes(path)) return floors.length;
  const floor = floors.findIndex((rooms) => rooms.includes(roomInWing(file)));
  return floor === -1 ? undefined : floor;
}

/** Rooms that the rules name and the house does not have. */
function emptyRooms(sources: Sources): string[] {
  const rooms = [
    ...FLOORS.flat(),
    ...STORES,
    ...Object.keys(GUESTS),
    ...inWings(({ floors }) => floors.flat()),
  ];
  return rooms.filter((room) => ![...sources.keys()].some((file) => file.startsWith(`${room}/`)));
}

/** Files that the rules name and the house does not have. */
function missingFiles(sources: Sources): string[] {
  return [...ENTRIES, ...inWings(({ ground, door }) => [...ground, ...door])].filter(
    (file) => !sources.has(file),
  );
}

function inWings(named: (wing: Wing) => readonly string[]): string[] {
  return Object.entries(WINGS).flatMap(([wing, rules]) => named(rules).map((name) => `${wing}/${name}`));
}
