import { runProgram } from '../shared/command-line.js';
import { exploreModel } from './explore-model.js';
import { type ModelArguments, parseModelArguments, USAGE } from './model-arguments.js';
import type { Protocol } from './model.js';
import { PROTOCOLS } from './protocols.js';

interface SystemResult {
  readonly protocol: string;
  readonly system: string;
  readonly states: number;
  readonly holds: boolean;
  readonly seconds: number;
  /** The shortest way to a broken promise. */
  readonly steps: readonly string[];
}

interface SafetyResult {
  readonly protocol: string;
  readonly safety: string;
  readonly says: string;
  readonly states: number;
  /** Whether it only saves work. */
  readonly isSpare: boolean;
  /** The shortest way to a broken promise without the rule; empty where the promise holds all the same. */
  readonly steps: readonly string[];
}

/** Exit code 1: a promise is broken, or a rule is not missed. */
await runProgram({ usage: USAGE, parse: parseModelArguments, run: exploreAll });

function exploreAll(given: ModelArguments): number {
  const protocols = PROTOCOLS.filter(({ name }) => given.protocol === undefined || name === given.protocol);
  const systems = protocols.flatMap((protocol) => exploreSystems(protocol, given));
  const safeties = protocols.flatMap((protocol) => takeOutSafeties(protocol, given));
  if (given.json) process.stdout.write(`${JSON.stringify({ systems, safeties })}\n`);
  const isSound =
    systems.every(({ holds }) => holds) &&
    safeties.every(({ steps, isSpare }) => steps.length > 0 !== isSpare);
  return isSound ? 0 : 1;
}

function exploreSystems(
  { name: protocol, systems }: Protocol,
  { full, json }: ModelArguments,
): SystemResult[] {
  return systems
    .filter(({ isLarge }) => full || !isLarge)
    .map(({ name: system, build }) => {
      const startedAt = performance.now();
      const { states, violation, isCut } = exploreModel(build(undefined));
      const seconds = (performance.now() - startedAt) / 1000;
      const holds = !violation && !isCut;
      const result = { protocol, system, states, holds, seconds, steps: violation?.steps ?? [] };
      const verdict = violation
        ? `BROKEN: ${violation.what}`
        : isCut
          ? 'NOT PROVED: too many states'
          : 'holds';
      if (!json)
        print(
          `${protocol}, ${system}: ${verdict}, ${inEnglish(states)} states, ${seconds.toFixed(1)} s`,
          result.steps,
        );
      return result;
    });
}

function takeOutSafeties(protocol: Protocol, { json }: ModelArguments): SafetyResult[] {
  return protocol.systems.flatMap(({ shows, spares, build }) =>
    [...shows, ...spares].map((safety) => {
      const { states, violation } = exploreModel(build(safety));
      const says = protocol.safeties[safety]!;
      const isSpare = spares.includes(safety);
      const steps = violation?.steps ?? [];
      const verdict = violation?.what ?? `the promise holds${isSpare ? ', as expected' : ': NOT MISSED'}`;
      if (!json) print(`${protocol.name} without ${safety} (${says}): ${verdict}`, steps);
      return { protocol: protocol.name, safety, says, states, isSpare, steps };
    }),
  );
}

function print(line: string, steps: readonly string[]): void {
  process.stdout.write(`${line}\n${steps.map((step, i) => `  ${i + 1}. ${step}\n`).join('')}`);
}

function inEnglish(count: number): string {
  return count.toLocaleString('en');
}
