// Draws docs/pictures/attack.svg: a recorded day of a shop with an attack mixed in, and when the rule reports
// it. Run with: npm run draw:attack
import { writeFileSync } from 'node:fs';
import { type AttackChange, AttackRule } from '../src/service/attack-rule.js';
import { DAYS, readings, type Traffic } from '../test/service/support/shop-days.js';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [860, 300, 60, 20, 46, 40];
/** Lookups a second, on a logarithmic axis. */
const [LOWEST, HIGHEST] = [1, 1_000];

const attack = { fromMs: 14 * HOUR_MS, forMs: 10 * MINUTE_MS, perSecond: 300 };
const traffic: Traffic = { days: DAYS, shops: 20, unknownShare: 0.03, floods: [attack], endMs: 24 * HOUR_MS };

const rule = new AttackRule();
const changes: (AttackChange & { at: number })[] = [];
const minutes: { absents: number; lookups: number }[] = [];
let [absents, lookups] = [0, 0];
for (const reading of readings(traffic)) {
  const change = rule.read(reading);
  if (change) changes.push({ ...change, at: reading.now });
  if (reading.now % MINUTE_MS > 0) continue;
  minutes.push({ absents: (reading.absents - absents) / 60, lookups: (reading.lookups - lookups) / 60 });
  [absents, lookups] = [reading.absents, reading.lookups];
}

const x = (ms: number) => LEFT + ((WIDTH - LEFT - RIGHT) * ms) / (24 * HOUR_MS);
const y = (rate: number) => {
  const share = Math.log(Math.max(LOWEST, rate) / LOWEST) / Math.log(HIGHEST / LOWEST);
  return TOP + (HEIGHT - TOP - BOTTOM) * (1 - Math.min(1, share));
};
const line = (rateOf: (minute: (typeof minutes)[number]) => number) =>
  minutes
    .map((minute, i) => `${i ? 'L' : 'M'}${x(i * MINUTE_MS).toFixed(1)} ${y(rateOf(minute)).toFixed(1)}`)
    .join('');
const [started, ended] = changes;
if (changes.length !== 2 || started!.type !== 'started' || ended!.type !== 'ended')
  throw new Error(`Expected one attack, got ${JSON.stringify(changes)}.`);
const afterMs = started!.at - attack.fromMs;

writeFileSync(
  'docs/pictures/attack.svg',
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-labelledby="title text" font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="12.5">
  <title id="title">A recorded day with an attack mixed in</title>
  <desc id="text">Lookups a second over a day, on a logarithmic axis. The ordinary lookups rise and fall with the hours of the shop, and three in a hundred of them are of absent ids. At 14:00 there are ${attack.perSecond} lookups of absent ids a second for ten minutes. The attack is reported after ${afterMs / 1000} seconds.</desc>
  <rect width="${WIDTH}" height="${HEIGHT}" rx="10" fill="#ffffff"/>
  <g stroke="#d8dee4" fill="#57606a">
${[1, 10, 100, 1_000].map((rate) => `    <path d="M${LEFT} ${y(rate)}H${WIDTH - RIGHT}"/><text x="${LEFT - 8}" y="${y(rate) + 4}" text-anchor="end" stroke="none">${rate.toLocaleString('en')}</text>`).join('\n')}
${[0, 4, 8, 12, 16, 20, 24].map((hour) => `    <text x="${x(hour * HOUR_MS)}" y="${HEIGHT - 16}" text-anchor="middle" stroke="none">${hour}:00</text>`).join('\n')}
  </g>
  <path d="M${x(attack.fromMs).toFixed(1)} ${TOP}V${HEIGHT - BOTTOM}" stroke="#b42318" stroke-dasharray="4 4"/>
  <text x="${(x(attack.fromMs) + 14).toFixed(1)}" y="${TOP + 14}" fill="#b42318">reported after ${afterMs / 1000} s</text>
  <path d="${line((minute) => minute.lookups - minute.absents)}" fill="none" stroke="#0969da"/>
  <path d="${line(({ absents: rate }) => rate)}" fill="none" stroke="#b42318"/>
  <text x="${LEFT}" y="24" fill="#1f2328">per second:</text>
  <text x="${LEFT + 76}" y="24" fill="#0969da">lookups of ids that exist</text>
  <text x="${LEFT + 240}" y="24" fill="#b42318">lookups of absent ids</text>
</svg>
`,
);
