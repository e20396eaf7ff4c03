import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestingModule } from '@nestjs/testing';
import { BloomService } from 'nestjs-bloom';
import { Registry } from 'prom-client';
import { BloomPrometheusModule } from '../src/index.js';
import { startContext } from '../../../test/support/nest-app.js';
import { samplesOf } from './exposition.js';
import { describePromtool, promtool } from './promtool.js';
import {
  alertQueries,
  dashboard,
  dashboardQueries,
  GRAFANA,
  groupedBy,
  type Selector,
  selectorsOf,
  variableQueries,
} from './queries.js';
import { Products, products, shop } from '../../../test/support/observed-shop.js';

/** Prometheus adds them to every series that it scrapes. */
const OF_TARGETS = ['job', 'instance'];

const registry = new Registry();
let module: TestingModule;
let text = '';
/** The labels of each name of series. */
let exported: ReadonlyMap<string, readonly string[]>;

beforeAll(async () => {
  const divided = { ...products, name: 'divided', partitions: 4 };
  const { imports, providers } = shop({ filters: [products, divided] });
  module = await startContext({
    imports: [...imports, BloomPrometheusModule.forRoot({ registry })],
    providers,
  });
  await module.get(BloomService).filter('products').rebuild();
  await module.get(Products).find('missing');
  text = await registry.metrics();
  exported = new Map(registry.getMetricsAsArray().flatMap(seriesOf));
});

afterAll(() => module.close());

function seriesOf(metric: object): [name: string, labels: readonly string[]][] {
  const { name, type, labelNames } = metric as { name: string; type: string; labelNames: readonly string[] };
  if (type !== 'histogram') return [[name, labelNames]];
  return [
    [`${name}_bucket`, [...labelNames, 'le']],
    [`${name}_sum`, labelNames],
    [`${name}_count`, labelNames],
  ];
}

/** What a query asks for and nobody exports, a sentence each. */
function problemsOf(expr: string, shown: readonly string[]): string[] {
  const selectors = selectorsOf(expr);
  const known = selectors.flatMap(({ name }) => exported.get(name) ?? []);
  const grouped = groupedBy(expr);
  return [
    ...(selectors.length === 0 ? [`${expr} asks for nothing of this package`] : []),
    ...selectors.flatMap(problemsOfSelector),
    ...grouped
      .filter((label) => ![...known, ...OF_TARGETS].includes(label))
      .map((label) => `no label ${label}`),
    ...shown.filter((label) => !grouped.includes(label)).map((label) => `the result has no label ${label}`),
  ];
}

function problemsOfSelector({ name, matchers }: Selector): string[] {
  const labels = exported.get(name);
  if (!labels) return [`no metric ${name}`];
  return matchers.flatMap(({ label, operator, value }) => {
    if (OF_TARGETS.includes(label)) return [];
    if (!labels.includes(label)) return [`${name} has no label ${label}`];
    const values = samplesOf(text, name).map((sample) => sample.labels[label]);
    const isVariable = value.startsWith('$');
    if (isVariable || operator.includes('~') || values.includes(value)) return [];
    return [`${name} has no ${label} "${value}"`];
  });
}

describe('The dashboard for Grafana', () => {
  it('asks for metrics, labels and values that are exported', () => {
    const queries = dashboardQueries();
    expect(queries.length).toBeGreaterThan(30);
    const problems = queries.flatMap(({ where, expr, shown }) =>
      problemsOf(expr, shown).map((problem) => `${where}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it('shows every metric that is exported, but those that others contain', () => {
    const asked = new Set(
      dashboardQueries().flatMap(({ expr }) => selectorsOf(expr).map(({ name }) => name)),
    );
    const names = registry.getMetricsAsArray().map(({ name }) => name);
    const unasked = names.filter(
      (name) => ![name, `${name}_bucket`, `${name}_sum`].some((one) => asked.has(one)),
    );
    // `bloom_let_through_ratio` is what one process has seen; the dashboard computes it from the counts of
    // all.
    expect(unasked).toEqual(['bloom_let_through_ratio', 'bloom_info_read_timestamp_seconds']);
  });

  it('fills its variables with labels that are exported, and uses each', () => {
    const variables = variableQueries();
    expect(variables.length).toBe(2);
    for (const { selector, label } of variables) {
      expect(problemsOf(selector, [])).toEqual([]);
      expect([...OF_TARGETS, ...exported.get(selectorsOf(selector)[0]!.name)!]).toContain(label);
    }
    const asked = dashboardQueries()
      .map(({ expr }) => expr)
      .join(' ');
    for (const name of asked.matchAll(/\$(\w+)/g))
      expect(['job', 'filter', '__rate_interval']).toContain(name[1]);
  });

  it('has each panel once, and none on another', () => {
    const panels = dashboard().panels as unknown as {
      id: number;
      title: string;
      gridPos: { x: number; y: number; w: number; h: number };
    }[];
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ title, gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, i) => ({ title, at: `${x + (i % w)} ${y + Math.floor(i / w)}` })),
    );
    const taken = new Map<string, string>();
    for (const { title, at } of cells) {
      expect(`${at}: ${taken.get(at) ?? title}`).toBe(`${at}: ${title}`);
      taken.set(at, title);
    }
  });
});

describe('The alert rules', () => {
  it('ask for metrics, labels and values that are exported', () => {
    const queries = alertQueries();
    expect(queries.map(({ where }) => where)).toContain('BloomFilterNotReady');
    const problems = queries.flatMap(({ where, expr, shown }) =>
      problemsOf(expr, shown).map((problem) => `${where}: ${problem}`),
    );
    expect(problems).toEqual([]);
  });

  it.each([
    ['sum(rate(bloom_lookup_total[5m]))', 'no metric bloom_lookup_total'],
    ['bloom_state{status="ready"}', 'bloom_state has no label status'],
    ['bloom_state{state="redy"}', 'bloom_state has no state "redy"'],
    ['sum by (methd) (bloom_lookups_total)', 'no label methd'],
  ])('would be found to ask for what is not there: %s', (expr, problem) => {
    expect(problemsOf(expr, [])).toContain(problem);
  });
});

describePromtool('promtool', () => {
  it('finds nothing wrong with the exported metrics', () => {
    expect(promtool(['check', 'metrics'], { input: text })).toEqual({ status: 0, said: '' });
  });

  it('accepts the alert rules, and each fires when it should and not when it should not', () => {
    expect(promtool(['check', 'rules', 'alerts.yml'], { cwd: GRAFANA })).toMatchObject({ status: 0 });
    const { status, said } = promtool(['test', 'rules', 'alerts.test.yml'], { cwd: GRAFANA });
    expect({ status, said }).toEqual({ status: 0, said: expect.stringContaining('SUCCESS') });
  });

  it('can parse every query of the dashboard', () => {
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-bloom-queries-'));
    try {
      const rules = dashboardQueries().map(({ expr }, i) => ({
        record: `query:${i}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'),
      }));
      // JSON is YAML.
      writeFileSync(join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
      const { status, said } = promtool(['check', 'rules', 'rules.yml'], { cwd: folder });
      expect({ status, said }).toEqual({
        status: 0,
        said: expect.stringContaining(`${rules.length} rules found`),
      });
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
