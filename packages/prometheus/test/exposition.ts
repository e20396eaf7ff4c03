export interface ExposedSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** The samples of one name in a text for Prometheus. */
export function samplesOf(text: string, name: string): ExposedSample[] {
  return text.split('\n').flatMap((line) => {
    const found = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (found?.[1] !== name) return [];
    const pairs = [...(found[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return [
      { labels: Object.fromEntries(pairs.map(([, key, value]) => [key!, value!])), value: Number(found[3]) },
    ];
  });
}

/** The value of the one sample that has these labels; fails when there is none, or more than one. */
export function valueOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  const found = samplesOf(text, name).filter((sample) =>
    Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
  );
  if (found.length !== 1)
    throw new Error(`Expected one sample of ${name} with ${JSON.stringify(labels)}, found ${found.length}.`);
  return found[0]!.value;
}
