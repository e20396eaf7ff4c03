import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const GRAFANA = fileURLToPath(new URL('../grafana', import.meta.url));

export interface Query {
  /** Where it stands, for messages. */
  readonly where: string;
  readonly expr: string;
  /** What shows its result names these labels. */
  readonly shown: readonly string[];
}

/** A name of series with what a query asks of their labels. */
export interface Selector {
  readonly name: string;
  readonly matchers: readonly { readonly label: string; readonly operator: string; readonly value: string }[];
}

interface Panel {
  readonly title: string;
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Dashboard {
  readonly panels: readonly Panel[];
  readonly annotations: { readonly list: readonly { name: string; expr?: string; textFormat?: string }[] };
  readonly templating: { readonly list: readonly { name: string; definition?: string }[] };
}

export function dashboard(): Dashboard {
  return JSON.parse(readFileSync(`${GRAFANA}/nestjs-bloom.json`, 'utf8')) as Dashboard;
}

/** The queries of all panels and annotations. */
export function dashboardQueries(): Query[] {
  const { panels, annotations } = dashboard();
  const ofPanels = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ where: title, expr, shown: labelsIn(legendFormat) })),
  );
  const ofAnnotations = annotations.list.flatMap(({ name, expr, textFormat = '' }) =>
    expr === undefined ? [] : [{ where: name, expr, shown: labelsIn(textFormat) }],
  );
  return [...ofPanels, ...ofAnnotations];
}

/** What the variables of the dashboard ask for: a selector and a label of it. */
export function variableQueries(): { readonly selector: string; readonly label: string }[] {
  return dashboard().templating.list.flatMap(({ definition }) => {
    const found = /^label_values\((.+), (\w+)\)$/.exec(definition ?? '');
    return found ? [{ selector: found[1]!, label: found[2]! }] : [];
  });
}

/** The queries of all alerts. */
export function alertQueries(): Query[] {
  const text = readFileSync(`${GRAFANA}/alerts.yml`, 'utf8');
  return text
    .split(/^ {6}- alert: /m)
    .slice(1)
    .map((rule) => ({
      where: /^\w+/.exec(rule)![0],
      expr: /^ {8}expr: (?:>-\n)?([^]*?)\n {8}\w+:/m.exec(rule)![1]!.replaceAll(/\s+/g, ' ').trim(),
      shown: [...rule.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label!),
    }));
}

export function selectorsOf(expr: string): Selector[] {
  return [...expr.matchAll(/\b(bloom_\w+)(?:\{([^}]*)\})?/g)].map(([, name, matchers = '']) => ({
    name: name!,
    matchers: [...matchers.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].map(([, label, operator, value]) => ({
      label: label!,
      operator: operator!,
      value: value!,
    })),
  }));
}

/** The labels that the result of a query has. */
export function groupedBy(expr: string): string[] {
  return [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, labels]) =>
    labels!.split(',').map((label) => label.trim()),
  );
}

function labelsIn(legend: string): string[] {
  return [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label!);
}
