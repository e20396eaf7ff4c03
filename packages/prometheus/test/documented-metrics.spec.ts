import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EXPORTED_METRICS } from 'nestjs-bloom/integrations';
import { prometheusName } from '../src/registered-metric.js';

describe('The table of metrics in docs/prometheus.md', () => {
  it('is what is exported', () => {
    const page = readFileSync(new URL('../../../docs/prometheus.md', import.meta.url), 'utf8');
    const section = page.split(/^## /m).find((text) => text.startsWith('Metrics\n'))!;
    const rows = [...section.matchAll(/^\| `(\w+)` +\| (\w+) +\| (.*?) +\| (.*?) +\|$/gm)];
    const exported = EXPORTED_METRICS.map((metric) => [
      prometheusName(metric, 'bloom_'),
      metric.kind,
      metric.labels.map((label) => `\`${label}\``).join(', '),
      metric.help,
    ]);
    expect(rows.map(([, ...cells]) => cells)).toEqual(exported);
  });
});
