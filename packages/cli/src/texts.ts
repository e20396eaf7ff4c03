import { count, plural } from 'nestjs-bloom/internal';

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];

/** 1.78 MiB */
export function bytes(value: number): string {
  const unit = value < 1024 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10));
  const scaled = value / 1024 ** unit;
  return `${unit === 0 ? scaled : scaled.toPrecision(Math.max(3, String(Math.floor(scaled)).length))} ${UNITS[unit]}`;
}

/** Filters up to this size have a local copy by default. */
const COPIED_BYTES = 64 << 20;

/** Where a filter of this size takes it. */
export function memoryPlace(size: number): string {
  return size <= COPIED_BYTES ? 'in Redis and in each process (local copy)' : 'in Redis';
}

/** 0.1 % */
export function share(value: number): string {
  const percent = value * 100;
  if (percent === 0) return '0 %';
  return `${percent >= 0.01 ? Number(percent.toPrecision(3)) : percent.toExponential(1)} %`;
}

const DURATIONS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1000, 'second'],
];

/** 3 minutes, rounded down to the largest unit. */
export function duration(ms: number): string {
  const [length, unit] = DURATIONS.find(([each]) => ms >= each) ?? [1, 'millisecond'];
  return plural(Math.floor(ms / length), unit);
}

/** 2026-03-01T04:00:00.000Z (3 minutes ago) */
export function moment(at: Date): string {
  const ms = Date.now() - at.getTime();
  return `${at.toISOString()} (${ms >= 0 ? `${duration(ms)} ago` : `in ${duration(-ms)}`})`;
}

/** 3 processes */
export function processes(number: number): string {
  return number === 1 ? '1 process' : `${count(number)} processes`;
}
